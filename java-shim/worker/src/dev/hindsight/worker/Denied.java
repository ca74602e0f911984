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
 * Recognises exceptions by which the kernel has refused something. By these the program notices
 * what it must not do where no guard stands; and what only some users may do is no subject for a
 * test anyway.
 */
final class Denied {
    /** The most exceptions that are examined behind one. */
    private static final int MAX_BEHIND = 100;
    /** The system's messages; the JVM is told not to translate them. */
    private static final String[] REFUSALS = {
        "Permission denied", "Operation not permitted", "Invalid cross-device link",
    };
    /**
     * The beginning of the JVM's message for a class that could not be initialised before, if only
     * that is left.
     */
    private static final String INITIALISER = "Exception java.";

    private Denied() {}

    /**
     * Whether an exception, or any that has led to it, is such a refusal. Their messages may come
     * from the program's code.
     */
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

    /** Whether a text is the message of a refusal. */
    static boolean isRefusal(String message) {
        for (String refusal : REFUSALS) {
            if (message != null && message.contains(refusal)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the JDK has made the exception, since the program may have other reasons for the same
     * message.
     */
    private static boolean isOfJdk(Throwable thrown) {
        StackTraceElement[] stack = thrown.getStackTrace();
        return thrown.getClass().getModule().isNamed()
                && (stack.length == 0 || stack[0].getModuleName() != null);
    }
}
