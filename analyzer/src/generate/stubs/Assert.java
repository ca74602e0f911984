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

    private static boolean isAlike(float expected, float actual, float delta) {
        return Float.compare(expected, actual) == 0 || Math.abs(expected - actual) <= delta;
    }

    private static boolean isAlike(double expected, double actual, double delta) {
        return Double.compare(expected, actual) == 0 || Math.abs(expected - actual) <= delta;
    }

    public static void assertEquals(long expected, long actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(float expected, float actual, float delta) {
        check(isAlike(expected, actual, delta), expected, actual);
    }

    public static void assertEquals(double expected, double actual, double delta) {
        check(isAlike(expected, actual, delta), expected, actual);
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
        boolean equal = expected.length == actual.length;
        for (int i = 0; equal && i < expected.length; i++) {
            equal = isAlike(expected[i], actual[i], delta);
        }
        check(equal, java.util.Arrays.toString(expected), java.util.Arrays.toString(actual));
    }

    public static void assertArrayEquals(double[] expected, double[] actual, double delta) {
        boolean equal = expected.length == actual.length;
        for (int i = 0; equal && i < expected.length; i++) {
            equal = isAlike(expected[i], actual[i], delta);
        }
        check(equal, java.util.Arrays.toString(expected), java.util.Arrays.toString(actual));
    }

@ARRAYS@
}
