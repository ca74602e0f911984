package java.lang;

/** Prints what it is handed. Stands in for the real class in tests. */
public final class HindsightProbe {
    private static final HindsightProbe ONLY = new HindsightProbe();

    public static HindsightProbe frame(Throwable exception, int method) {
        System.out.print("\n  frame #" + method + "# " + name(exception) + ":");
        misbehave(exception);
        return ONLY;
    }

    public HindsightProbe a(Object value) {
        System.out.print(" " + show(value));
        return this;
    }

    public HindsightProbe i(int value) {
        System.out.print(" " + value);
        return this;
    }

    public HindsightProbe j(long value) {
        System.out.print(" " + value + "L");
        return this;
    }

    public HindsightProbe f(float value) {
        System.out.print(" " + value + "f");
        return this;
    }

    public HindsightProbe d(double value) {
        System.out.print(" " + value + "d");
        return this;
    }

    public void escape() {
        System.out.print(" ESCAPES");
    }

    public static void caught(Throwable exception, int method) {
        System.out.print("\n  caught #" + method + "# " + name(exception));
        misbehave(exception);
    }

    public static void caughtReport(Throwable exception, int method) {
        System.out.print("\n  caught and reported #" + method + "# " + name(exception));
        misbehave(exception);
    }

    public static void uncaught(Thread thread, Throwable exception) {
        System.out.print("\n  uncaught in " + thread.getName() + " " + name(exception));
    }

    /** Runs out of stack, as a probe does when the program just did. */
    private static void misbehave(Throwable exception) {
        if ("overflow".equals(exception.getMessage())) {
            overflow();
        }
    }

    private static int overflow() {
        return overflow() + 1;
    }

    private static String name(Throwable exception) {
        return exception.getClass().getSimpleName();
    }

    private static String show(Object value) {
        if (value instanceof String) {
            return "\"" + value + "\"";
        }
        if (value instanceof Object[]) {
            return value.getClass().getComponentType().getSimpleName() + "[" + ((Object[]) value).length + "]";
        }
        if (value == null || value instanceof Integer) {
            return String.valueOf(value);
        }
        String name = value.getClass().getName();
        // The names that the JVM makes for lambdas are not always the same.
        return name.contains("$$Lambda") ? "(lambda)" : name;
    }
}
