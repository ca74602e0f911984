package org.junit.jupiter.api;

import org.junit.jupiter.api.function.Executable;

/** Stands in for JUnit's while tests are tried out. */
public final class Assertions {
    private Assertions() {}

    private static void check(boolean equal, Object expected, Object actual) {
        if (!equal) {
            throw new AssertionError("expected: <" + expected + "> but was: <" + actual + ">");
        }
    }

    public static void assertEquals(byte expected, byte actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(short expected, short actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(char expected, char actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(int expected, int actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(long expected, long actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(float expected, float actual) {
        check(Float.floatToIntBits(expected) == Float.floatToIntBits(actual), expected, actual);
    }

    public static void assertEquals(double expected, double actual) {
        check(Double.doubleToLongBits(expected) == Double.doubleToLongBits(actual), expected, actual);
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
            throw new AssertionError("expected: not <null>");
        }
    }

    public static void assertSame(Object expected, Object actual) {
        check(expected == actual, expected, actual);
    }

    public static <T extends Throwable> T assertThrows(Class<T> type, Executable code) {
        try {
            code.execute();
        } catch (Throwable e) {
            if (type.isInstance(e)) {
                return type.cast(e);
            }
            throw new AssertionError("expected: <" + type.getName() + "> but was: <" + e + ">", e);
        }
        throw new AssertionError("expected: <" + type.getName() + "> but nothing was thrown");
    }

@ARRAYS@
}
