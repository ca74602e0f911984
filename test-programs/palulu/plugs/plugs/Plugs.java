package plugs;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import plugs.base.Base;

/** Calls what only it may call, by reflection, and goes on where it may not. */
public class Plugs {
    static class Plug {
        Plug() {}

        private Plug(String kind) {
            throw new IllegalStateException(kind);
        }

        private int pins() {
            return 3;
        }
    }

    private final String kind;

    public Plugs(int number) {
        String found;
        try {
            Class<?> plug = Class.forName("plugs.Plugs$Plug");
            found = "of package " + plug.getDeclaredMethod("pins").invoke(made(plug));
        } catch (ReflectiveOperationException e) {
            found = "none";
        }
        kind = found + ", " + number;
    }

    private static Object made(Class<?> plug) throws ReflectiveOperationException {
        return plug.getDeclaredConstructor().newInstance();
    }

    public String kind() {
        return kind;
    }

    public static int secret() throws ReflectiveOperationException {
        Method hidden = Plugs.class.getDeclaredMethod("hidden");
        return (Integer) hidden.invoke(null) + (hidden.isAccessible() ? 100 : 0);
    }

    private static int hidden() {
        return 7;
    }

    public static String cause() throws ReflectiveOperationException {
        Constructor<Plug> broken = Plug.class.getDeclaredConstructor(String.class);
        try {
            return broken.newInstance("burnt").toString();
        } catch (InvocationTargetException e) {
            return e.getCause().getMessage();
        }
    }

    static class Heir extends Base {
        static Object taken() throws ReflectiveOperationException {
            return Base.class.getDeclaredMethod("own").invoke(new Heir());
        }
    }

    public static Object inherited() throws ReflectiveOperationException {
        return Heir.taken();
    }

    public static String stolen() throws ReflectiveOperationException {
        try {
            return Base.class.getDeclaredMethod("own").invoke(new Heir()).toString();
        } catch (IllegalAccessException e) {
            return e.getMessage();
        }
    }

    public static String strange() throws ReflectiveOperationException {
        try {
            return Strange.class.getDeclaredConstructor().newInstance().toString();
        } catch (IllegalAccessException e) {
            return e.getMessage();
        }
    }
}

class Strange {
    private Strange() {}
}
