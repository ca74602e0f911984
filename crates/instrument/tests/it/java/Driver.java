import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;

/** Calls the public static methods without parameters of classes, in the order of their names. */
class Driver {
    public static void main(String[] args) throws Exception {
        for (String name : args) {
            call(Class.forName(name));
        }
    }

    private static void call(Class<?> type) throws Exception {
        Method[] methods = type.getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (Method method : methods) {
            int wanted = Modifier.PUBLIC | Modifier.STATIC;
            if ((method.getModifiers() & wanted) != wanted || method.getParameterCount() != 0) {
                continue;
            }
            System.out.print("== " + method.getName());
            try {
                System.out.println("\n  returned " + method.invoke(null));
            } catch (InvocationTargetException e) {
                Throwable thrown = e.getCause();
                // The JDK's own messages change from release to release.
                boolean ours = thrown instanceof IllegalStateException;
                System.out.println("\n  threw " + thrown.getClass().getSimpleName()
                    + (ours ? " " + thrown.getMessage() : ""));
            }
        }
    }
}
