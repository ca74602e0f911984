import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/** Hazards of what came after Java 5: lambda bodies, methods of interfaces, records, patterns. */
class Modern {
    interface Greeter {
        String name();

        default String greet(String greeting) {
            greeting = greeting.trim();
            return join(greeting, name().length());
        }

        private String join(String greeting, int length) {
            return greeting.substring(length);
        }

        static Greeter of(String name) {
            String checked = name.concat("");
            return () -> checked.isEmpty() ? null : checked;
        }
    }

    public static Object interfaceDefaultAndPrivateMethods() {
        return Greeter.of("somebody").greet(" hi ");
    }

    public static Object lambdaInInterface() {
        return Greeter.of("").greet("x");
    }

    public static Object interfaceStaticMethod() {
        return Greeter.of(null);
    }

    public static Object lambdaBody() {
        int captured = 3;
        IntUnaryOperator divide = x -> {
            x = x - captured;
            return 10 / x;
        };
        return divide.applyAsInt(3);
    }

    static class Lazy {
        final String text;

        Lazy(Supplier<String> supplier) {
            text = supplier.get();
        }

        Lazy(String a, int kind) {
            this(() -> switch (kind) {
                case 1 -> a.toString();
                case 2 -> throw new IllegalStateException(a);
                default -> "none";
            });
        }

        Lazy(int kind) {
            this(switch (kind) {
                case 1 -> "one";
                case 2 -> throw new IllegalStateException("two");
                default -> new String(new char[kind]);
            }, kind);
        }
    }

    public static Object throwInConstructorArguments() {
        return new Lazy(2);
    }

    public static Object newInConstructorArguments() {
        return new Lazy(-1);
    }

    public static Object lambdaInConstructorArguments() {
        return new Lazy("text", 2);
    }

    record Range(int low, int high) {
        Range {
            if (low > high) {
                low = high;
                throw new IllegalArgumentException("range");
            }
        }
    }

    public static Object recordConstructor() {
        return new Range(5, 3);
    }

    abstract static class Bridged<T> {
        abstract T make(T value);
    }

    static class Text extends Bridged<String> {
        @Override
        String make(String value) {
            return value.substring(3);
        }
    }

    static Object viaBridge(Bridged<String> bridged) {
        return bridged.make("x");
    }

    public static Object bridge() {
        return viaBridge(new Text());
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    public static Object bridgeThatCasts() {
        return ((Bridged) new Text()).make(1);
    }

    static int resources(String text) throws Exception {
        try (AutoCloseable first = () -> { throw new IllegalStateException("close"); };
                AutoCloseable second = () -> {}) {
            return text.length();
        }
    }

    public static Object tryWithResources() throws Exception {
        return resources(null);
    }

    static String typed(Object value) {
        if (value instanceof String text && !text.isEmpty()) {
            return text.repeat(-1);
        }
        return null;
    }

    public static Object patterns() {
        return typed("x");
    }
}
