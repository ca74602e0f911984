package dev.hindsight.replay;

import java.io.PrintWriter;
import java.io.Writer;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The methods with which reports of an exception are made, in case its class overrides them and
 * they fail.
 *
 * <p>Test runners call these methods when a test has failed. If one of them throws then, some
 * runners count the test as failed, but others as one that never ran, and the build is green.
 */
final class Reporting {
    private static final int MAX_CHAIN = 64;

    private static final MethodHandle OWN_TRACE = ownTrace();

    /** A call that a report makes. */
    private interface Asked {
        Object call() throws Throwable;
    }

    private Reporting() {}

    /**
     * The methods of an exception, and of its causes, by which a report of it fails.
     *
     * @return as {@code Class.method}; empty if all of the exceptions are the JDK's
     */
    static Set<String> failing(Throwable thrown) {
        Set<String> failing = new LinkedHashSet<>();
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean own = false;
        Throwable next = thrown;
        while (next != null && seen.size() < MAX_CHAIN && seen.add(next)) {
            Throwable asked = next;
            next = null;
            if (!Classes.ofJdk(asked.getClass())) {
                own = true;
                ask(failing, asked, "getMessage", asked::getMessage);
                ask(failing, asked, "getLocalizedMessage", asked::getLocalizedMessage);
                ask(failing, asked, "toString", asked::toString);
                ask(failing, asked, "hashCode", asked::hashCode);
                ask(failing, asked, "equals", () -> asked.equals(asked));
                if (ask(failing, asked, "getStackTrace", asked::getStackTrace) == null) {
                    failing.add(asked.getClass().getName() + ".getStackTrace");
                }
            }
            next = (Throwable) ask(failing, asked, "getCause", asked::getCause);
        }
        if (own) {
            ask(failing, thrown, "printStackTrace", () -> {
                thrown.printStackTrace(new PrintWriter(Writer.nullWriter()));
                return null;
            });
        }
        return failing;
    }

    private static Object ask(Set<String> failing, Throwable of, String method, Asked asked) {
        try {
            return asked.call();
        } catch (Throwable e) {
            failing.add(of.getClass().getName() + "." + method);
            return null;
        }
    }

    /** The stack trace as in recordings: that of {@link Throwable}, whatever the class returns. */
    static StackTraceElement[] trace(Throwable thrown) {
        try {
            StackTraceElement[] trace = (StackTraceElement[]) OWN_TRACE.invokeExact(thrown);
            return trace == null ? new StackTraceElement[0] : trace;
        } catch (Throwable e) {
            // There may be no memory for it.
            return new StackTraceElement[0];
        }
    }

    private static MethodHandle ownTrace() {
        try {
            return Trusted.LOOKUP.findSpecial(Throwable.class, "getStackTrace",
                    MethodType.methodType(StackTraceElement[].class), Throwable.class);
        } catch (ReflectiveOperationException e) {
            throw new ReplayException("this JVM's exceptions have no stack trace", e);
        }
    }
}
