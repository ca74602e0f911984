import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationTargetException;

/** What Java 17 has and programs rarely use. */
class Rare {
    // Sealed classes and nest mates: private members are used without accessors.

    sealed interface Shape permits Square, Circle {}

    record Square(int side) implements Shape {
        Square {
            side = 12 / side;
        }
    }

    record Circle(int radius) implements Shape {
        private int divided(int by) {
            by = by - 1;
            return radius / by;
        }
    }

    private int secret = 3;

    class Inner {
        private int read(Rare other) {
            other.secret = 7;
            return other.secret / (secret - 3);
        }
    }

    public static Object sealedRecord() {
        return new Square(0);
    }

    public static Object privateMethodOfNestMate() {
        return new Circle(4).divided(1);
    }

    public static Object privateFieldOfNestMate() {
        return new Rare().new Inner().read(new Rare());
    }

    // Initializers of interfaces.

    interface Constants {
        int ONE = Integer.parseInt("1");
        int BAD = Integer.parseInt("bad");

        default int one() {
            return ONE;
        }
    }

    public static Object interfaceInitializer() {
        return new Constants() {}.one();
    }

    // A hidden class, made from the bytes of an instrumented one.

    static class Template {
        int value = 5;

        static int run(int a) {
            a--;
            return new Template().divide(a);
        }

        private int divide(int by) {
            value++;
            return value / by;
        }
    }

    public static Object hidden() throws Throwable {
        byte[] bytes;
        try (InputStream in = Rare.class.getResourceAsStream("Rare$Template.class")) {
            bytes = in.readAllBytes();
        }
        Class<?> hidden = MethodHandles.lookup()
            .defineHiddenClass(bytes, true, MethodHandles.Lookup.ClassOption.NESTMATE)
            .lookupClass();
        var run = hidden.getDeclaredMethod("run", int.class);
        run.setAccessible(true);
        System.out.print("\n  " + run.invoke(null, 2));
        try {
            return run.invoke(null, 1);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    // A class that may be missing: only the branch that is not taken would load it.

    static class Optionally {
        static int use(Missing missing, int a) {
            if (a == 0) {
                return 1 / a;
            }
            missing.value = a;
            return missing.other.value;
        }
    }

    public static Object optionalDependency() {
        return Optionally.use(null, 0);
    }
}

/** Deleted before the program runs. */
class Missing {
    int value;
    Missing other;
}
