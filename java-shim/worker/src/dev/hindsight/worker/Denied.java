package dev.hindsight.worker;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Tells exceptions that say the kernel has refused something. That is how the program gets to know what it must not
 * do where no guard stands; and what it may do for one user alone is no test anyway.
 */
final class Denied {
    /** Exceptions that are looked at behind one. */
    private static final int MAX_BEHIND = 100;
    /** How the system calls it; the JVM is told not to have that in the user's language. */
    private static final String[] REFUSALS = {
        "Permission denied", "Operation not permitted", "Invalid cross-device link",
    };
    /** How the JVM begins to say why a class could not be initialised before, when nothing else is left of it. */
    private static final String INITIALISER = "Exception java.";

    private Denied() {}

    /** Whether an exception, or any that has led to it, says so. What they say may be code of the program's. */
    static boolean isIn(Throwable thrown) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> left = new ArrayDeque<>();
        left.add(thrown);
        while (!left.isEmpty() && seen.size() < MAX_BEHIND) {
            Throwable next = left.remove();
            if (!seen.add(next)) {
                continue;
            }
            if (says(next)) {
                return true;
            }
            if (next.getCause() != null) {
                left.add(next.getCause());
            }
            left.addAll(Arrays.asList(next.getSuppressed()));
        }
        return false;
    }

    private static boolean says(Throwable thrown) {
        if (thrown instanceof ExceptionInInitializerError) {
            String message = thrown.getMessage();
            return message != null
                    && message.startsWith(INITIALISER)
                    && (message.contains(AccessDeniedException.class.getName()) || isRefusal(message));
        }
        return thrown instanceof IOException
                && isOfJdk(thrown)
                && (thrown instanceof AccessDeniedException || isRefusal(thrown.getMessage()));
    }

    /** Whether a text says so. */
    static boolean isRefusal(String message) {
        for (String refusal : REFUSALS) {
            if (message != null && message.contains(refusal)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the JDK has made it: the program may have reasons of its own to say the same. */
    private static boolean isOfJdk(Throwable thrown) {
        StackTraceElement[] stack = thrown.getStackTrace();
        return thrown.getClass().getModule().isNamed()
                && (stack.length == 0 || stack[0].getModuleName() != null);
    }
}
