/**
 * One public method for each hazard, in a language that Java 5 class files can hold: this program
 * also runs with old versions and without stack maps.
 */
class Hazards {
    int count = 1;
    String label = "initial";
    long total = 5L;
    Hazards next;
    final int fixed = 9;
    static int calls;

    static void fail(String message) {
        throw new IllegalStateException(message);
    }

    // Parameters that the body overwrites.

    static void overwritten(int a, String b, long c, double d, float e, Object f) {
        a = 100;
        b = "other";
        c++;
        d = 0;
        e = e + 1;
        f = null;
        fail(b + a + c + d + e + f);
    }

    public static Object overwrittenParameters() {
        overwritten(1, "b", 3L, 4.5, 5.5f, "f");
        return null;
    }

    static void incremented(int a, boolean z, byte b, char c, short s) {
        a += 1000;
        fail("" + a);
    }

    public static Object incrementedParameter() {
        incremented(7, true, (byte) -1, 'A', (short) -2);
        return null;
    }

    static long inPlace(long a, double b, int[] c, String[] d) {
        return a + (long) b + c[5] + d.length;
    }

    public static Object wideParametersInPlace() {
        return inPlace(1L, 2.5, new int[1], new String[2]);
    }

    static int neighbour(int a, long b, int c) {
        b = a;
        if (b > 0) {
            fail("neighbour");
        }
        return c;
    }

    public static Object longStoredBetweenInts() {
        return neighbour(1, 2L, 3);
    }

    // Fields.

    void changeFields(Hazards other) {
        count = 50;
        total = 60L;
        label = "changed";
        other.count = 70;
        other.label = null;
        fail("fields" + fixed);
    }

    public static Object fieldsOfThisAndParameter() {
        Hazards other = new Hazards();
        other.count = 2;
        new Hazards().changeFields(other);
        return null;
    }

    public static Object fieldsOfNullParameter() {
        new Hazards().changeFields(null);
        return null;
    }

    static int chain(Hazards at, int depth) {
        while (at.next != null) {
            at = at.next;
            depth++;
        }
        return at.next.count + depth;
    }

    public static Object fieldOfOverwrittenParameter() {
        Hazards first = new Hazards();
        first.next = new Hazards();
        return chain(first, 0);
    }

    static int foreign(Other other, int x) {
        other.value = x;
        other.wide = x;
        return x / (x - x);
    }

    public static Object fieldsOfAnotherClass() {
        return foreign(new Other(), 4);
    }

    // Constructors.

    static class Base {
        final int kept;

        Base(int kept) {
            if (kept < 0) {
                fail("base");
            }
            this.kept = kept;
        }
    }

    static class Derived extends Base {
        String name;

        Derived(String name, int number) {
            super(check(number));
            this.name = name;
            number = 77;
            if (name == null) {
                fail("after super");
            }
        }

        Derived(boolean ok, Derived other) {
            this(ok ? "given" : other.name, ok ? 1 : other.kept);
            fail("after this");
        }

        static int check(int number) {
            if (number == 13) {
                fail("before super");
            }
            return number;
        }
    }

    public static Object constructorThrowsBeforeSuper() {
        return new Derived("x", 13);
    }

    public static Object constructorThrowsInSuper() {
        return new Derived("x", -1);
    }

    public static Object constructorThrowsAfterSuper() {
        return new Derived(null, 3);
    }

    public static Object constructorCallsThis() {
        return new Derived(true, null);
    }

    public static Object constructorThrowsBeforeThis() {
        return new Derived(false, null);
    }

    static class Nested extends Base {
        Nested(String a, Object b) {
            super(new Base(new StringBuilder(a == null ? "null" : a).length()).kept + b.hashCode());
        }
    }

    public static Object newObjectsInConstructorArguments() {
        return new Nested(null, null);
    }

    static class Trying extends Base {
        Trying(int number) {
            super(number);
            try {
                fail("in try");
            } catch (IllegalStateException e) {
                number = -number;
            } finally {
                calls++;
            }
            fail("end " + number);
        }
    }

    public static Object tryInConstructor() {
        return new Trying(5);
    }

    // Initializers, monitors.

    static class Initialized {
        static int value = Integer.parseInt("not a number");
    }

    public static Object staticInitializer() {
        return Initialized.value;
    }

    static synchronized void locked(Object lock, int depth) {
        synchronized (lock) {
            if (depth == 0) {
                fail("locked");
            }
            locked(lock, depth - 1);
        }
    }

    public static Object synchronizedMethodAndBlock() {
        try {
            locked(new Object(), 1);
        } finally {
            if (Thread.holdsLock(Hazards.class)) {
                return "still locked";
            }
        }
        return null;
    }

    // Handlers.

    static int nested(int a) {
        try {
            try {
                fail("inner");
            } finally {
                a++;
            }
        } catch (IllegalStateException e) {
            try {
                throw new RuntimeException("from catch", e);
            } catch (IllegalArgumentException wrong) {
                a = -1;
            } finally {
                a += 10;
            }
        }
        return a;
    }

    public static Object nestedHandlersAndFinally() {
        return nested(1);
    }

    static int rethrown(int a) {
        try {
            fail("rethrown");
        } catch (IllegalStateException e) {
            throw e;
        }
        return a;
    }

    public static Object caughtAndRethrown() {
        return rethrown(2);
    }

    static String twoKinds(String text) {
        try {
            return text.substring(Integer.parseInt(text));
        } catch (NumberFormatException e) {
            return "no number";
        } catch (IndexOutOfBoundsException e) {
            return "out of bounds";
        }
    }

    public static Object severalHandlers() {
        return twoKinds("x") + ", " + twoKinds("10") + ", " + twoKinds("1");
    }

    static String mixed(Object value) {
        String s;
        try {
            s = (String) value;
            value = null;
        } catch (ClassCastException | IllegalStateException e) {
            s = e.getClass().getName();
        }
        return s;
    }

    public static Object multiCatch() {
        return mixed("fine") + mixed(1);
    }

    static void isCaught(int a) {
        try {
            fail("reported");
        } catch (IllegalStateException e) {
            calls++;
        }
    }

    static void reportCaught(int a) {
        try {
            fail("reported");
        } catch (IllegalStateException e) {
            calls++;
        }
    }

    public static Object handlerThatReports() {
        reportCaught(1);
        return null;
    }

    static void tooMuchEscape(String a) {
        fail(a);
    }

    public static Object escapeRule() {
        tooMuchEscape("text");
        return null;
    }

    // Probes that run out of stack.

    static void overflowing(int a) {
        fail("overflow");
    }

    public static Object stackOverflowInHandlerKeepsTheException() {
        overflowing(1);
        return null;
    }

    static int overflowCaught(int a) {
        try {
            fail("overflow");
        } catch (IllegalStateException e) {
            return a;
        }
        return -1;
    }

    public static Object stackOverflowInProbeOfTypedHandler() {
        return overflowCaught(42);
    }

    static int depth;

    static void deep() {
        depth++;
        deep();
    }

    /** Quietly: there are thousands of frames. */
    static boolean reallyDeep() {
        java.io.PrintStream out = System.out;
        System.setOut(new java.io.PrintStream(new java.io.ByteArrayOutputStream()));
        try {
            deep();
            return false;
        } catch (StackOverflowError e) {
            return depth > 100;
        } finally {
            System.setOut(out);
        }
    }

    public static Object realStackOverflow() {
        return reallyDeep();
    }

    // Shapes of code.

    static int loopFirst(int a, int[] b) {
        while (true) {
            a = b[a];
        }
    }

    public static Object loopAtOffsetZero() {
        return loopFirst(0, new int[] {1, 2, 9});
    }

    static int loopFirstInPlace(int[] a, int[] b) {
        do {
            b[0] = a[b[0]];
        } while (b[0] >= 0);
        return b[0];
    }

    public static Object loopAtOffsetZeroWithoutEntry() {
        return loopFirstInPlace(new int[] {1, 2, 9}, new int[1]);
    }

    static String switches(int a, String b) {
        int x = 0;
        switch (a) {
            case 1: x = 10; break;
            case 2: x = 20;
            case 3: x += 1; break;
            case 1000: x = 3; break;
            default: a = 5;
        }
        switch (a) {
            case -100000: return "far";
            case 5: fail("switch" + x);
            case 100000: return "other";
        }
        try {
            x = b.length();
        } catch (NullPointerException e) {
            switch (a) {
                case 1: return "one " + x;
                case 2: return "two " + x;
                case 3: return "three " + x;
            }
        }
        return "length " + x;
    }

    public static Object switchesAreMoved() {
        String all = switches(1, null) + switches(2, null) + switches(3, null) + switches(1, "abc");
        System.out.print("\n  " + all);
        return switches(0, null);
    }

    static int locals(int a, String b) {
        {
            int x = a;
            long y = x + 1L;
            a = (int) (x * y);
        }
        for (int i = 0; i < 3; i++) {
            String s = b + i;
            if (s.length() > 5) {
                continue;
            }
            double d = i;
            a += d > 1 ? s.length() : 1;
        }
        return a / (a - a);
    }

    public static Object localsComeAndGo() {
        return locals(2, "b");
    }

    static int cannotThrow(int a) {
        return a > 0 ? a : -a;
    }

    public static Object whatCannotThrow() {
        return cannotThrow(-3);
    }
}

class Other {
    int value = 1;
    long wide = 2L;
}
