package java.lang;

/** Prints what it is handed. Stands in for the real class in tests. */
public final class HindsightProbe {
    private static final HindsightProbe ONLY = new HindsightProbe();

    public static HindsightProbe frame(Throwable exception, int method) {
        System.out.print("\n  frame #" + method + "# " + name(exception) + ":");
        misbehave(exception);
        return ONLY;
    }

    public static HindsightProbe frame(Throwable exception, int method, long x) {
        return frame(exception, method).j(x);
    }

    public static HindsightProbe frame(Throwable exception, int method, long x, long y) {
        return frame(exception, method).j(x).j(y);
    }

    public static HindsightProbe frame(Throwable exception, int method, long x, long y, long z) {
        return frame(exception, method).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a) {
        return frame(exception, method).a(a);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, long x) {
        return frame(exception, method).a(a).j(x);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, long x, long y) {
        return frame(exception, method).a(a).j(x).j(y);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, long x, long y, long z) {
        return frame(exception, method).a(a).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b) {
        return frame(exception, method).a(a).a(b);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b, long x) {
        return frame(exception, method).a(a).a(b).j(x);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b, long x, long y) {
        return frame(exception, method).a(a).a(b).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b, Object c) {
        return frame(exception, method).a(a).a(b).a(c);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, long x) {
        return frame(exception, method).a(a).a(b).a(c).j(x);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, long x, long y) {
        return frame(exception, method).a(a).a(b).a(c).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).a(c).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d) {
        return frame(exception, method).a(a).a(b).a(c).a(d);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, long x) {
        return frame(exception, method).a(a).a(b).a(c).a(d).j(x);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, long x, long y) {
        return frame(exception, method).a(a).a(b).a(c).a(d).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).a(c).a(d).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, long x) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).j(x);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, long x, long y) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, long x) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).j(x);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, long x, long y) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, long x) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).j(x);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, long x, long y) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).j(x).j(y).j(z);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).a(h);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, long x) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).a(h).j(x);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, long x, long y) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).a(h).j(x).j(y);
    }

    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, long x, long y, long z) {
        return frame(exception, method).a(a).a(b).a(c).a(d).a(e).a(f).a(g).a(h).j(x).j(y).j(z);
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
