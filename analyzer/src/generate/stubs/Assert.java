package org.junit;

import org.junit.function.ThrowingRunnable;

/** Stands in for JUnit's while tests are tried out. */
public final class Assert {
    private Assert() {}

    private static void check(boolean equal, Object expected, Object actual) {
        if (!equal) {
            throw new AssertionError("expected:<" + expected + "> but was:<" + actual + ">");
        }
    }

    public static void assertEquals(long expected, long actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(float expected, float actual, float delta) {
        check(Float.compare(expected, actual) == 0, expected, actual);
    }

    public static void assertEquals(double expected, double actual, double delta) {
        check(Double.compare(expected, actual) == 0, expected, actual);
    }

    public static void assertEquals(Object expected, Object actual) {
        check(expected == null ? actual == null : expected.equals(actual), expected, actual);
    }

    public static void assertTrue(boolean actual) {
        check(actual, true, false);
    }

    public static void assertFalse(boolean actual) {
        check(!actual, false, true);
    }

    public static void assertNull(Object actual) {
        check(actual == null, null, actual);
    }

    public static void assertNotNull(Object actual) {
        if (actual == null) {
            throw new AssertionError("expected not null");
        }
    }

    public static void assertSame(Object expected, Object actual) {
        check(expected == actual, expected, actual);
    }

    public static <T extends Throwable> T assertThrows(Class<T> type, ThrowingRunnable code) {
        try {
            code.run();
        } catch (Throwable e) {
            if (type.isInstance(e)) {
                return type.cast(e);
            }
            throw new AssertionError("expected:<" + type.getName() + "> but was:<" + e + ">", e);
        }
        throw new AssertionError("expected:<" + type.getName() + "> but nothing was thrown");
    }

    public static void assertArrayEquals(float[] expected, float[] actual, float delta) {
        check(java.util.Arrays.equals(expected, actual), java.util.Arrays.toString(expected),
                java.util.Arrays.toString(actual));
    }

    public static void assertArrayEquals(double[] expected, double[] actual, double delta) {
        check(java.util.Arrays.equals(expected, actual), java.util.Arrays.toString(expected),
                java.util.Arrays.toString(actual));
    }

@ARRAYS@
}
