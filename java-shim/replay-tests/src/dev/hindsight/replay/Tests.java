package dev.hindsight.replay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;

/**
 * Runs all tests: every static method without parameters of the classes listed here. Prints a line
 * for each failure and a summary, and exits with 1 if there is one.
 */
final class Tests {
    private Tests() {}

    /** Code that may throw. */
    interface Code {
        Object run() throws Throwable;
    }

    public static void main(String[] arguments) throws Exception {
        Class<?>[] suites = {
            FormatTests.class, GraphTests.class, StateTests.class, TableTests.class, VersionTests.class,
            JdkTests.class, LambdaTests.class, CallTests.class, RunnerTests.class, SameTests.class,
            NumberedTests.class, OrderTests.class,
        };
        int passed = 0;
        int failed = 0;
        for (Class<?> suite : suites) {
            for (Method test : suite.getDeclaredMethods()) {
                if (test.getParameterCount() > 0 || test.isSynthetic()
                        || test.getReturnType() != void.class
                        || arguments.length > 0 && !test.getName().matches(arguments[0])) {
                    continue;
                }
                test.setAccessible(true);
                try {
                    test.invoke(null);
                    passed++;
                } catch (InvocationTargetException e) {
                    failed++;
                    System.out.println("FAILED " + suite.getSimpleName() + "." + test.getName());
                    e.getCause().printStackTrace(System.out);
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    static void same(Object actual, Object expected) {
        if (actual != expected) {
            throw new AssertionError("not the same: " + actual + " and " + expected);
        }
    }

    static void equal(Object actual, Object expected) {
        if (!Objects.deepEquals(actual, expected)) {
            throw new AssertionError("expected " + expected + ", got " + actual);
        }
    }

    static void check(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** Runs code that must throw, and whose message must contain some texts. */
    static Throwable fails(Class<? extends Throwable> type, Code code, String... texts) {
        try {
            code.run();
        } catch (Throwable e) {
            if (!type.isInstance(e)) {
                throw new AssertionError("another exception", e);
            }
            for (String text : texts) {
                check(String.valueOf(e.getMessage()).contains(text), "message: " + e.getMessage());
            }
            return e;
        }
        throw new AssertionError("nothing was thrown");
    }
}
