package java.lang;

import java.lang.HindsightThread.Latest;
import java.lang.HindsightThread.Propagation;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;

/** The ways that causes of an exception had in other threads. */
final class HindsightCauses {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long CAUSE = U.objectFieldOffset(Throwable.class, "cause");
    private static final long TARGET = U.objectFieldOffset(InvocationTargetException.class, "target");

    private HindsightCauses() {}

    /** Does nothing, but that the class is there afterwards. */
    static void initialize() {}

    /**
     * Adds to a thread's ways those that others have of the exception's causes: what a task throws
     * comes wrapped to whoever asks for its result. The agent calls this when it records, not before:
     * it looks at all threads.
     */
    static Propagation[] add(Propagation[] own, Throwable exception) {
        // The writes of another thread cannot be undone with this one's log.
        if (HindsightLog.isUsed()) {
            return own;
        }
        try {
            Propagation[] all = own;
            Throwable cause = cause(exception);
            for (int depth = 0; depth < HindsightThread.MAX_CAUSES && cause != null; depth++) {
                Propagation way = isKept(own, cause) ? null : elsewhere(cause);
                if (way != null) {
                    all = all == null ? new Propagation[1] : Arrays.copyOf(all, all.length + 1);
                    all[all.length - 1] = way;
                }
                cause = cause(cause);
            }
            return all;
        } catch (OutOfMemoryError none) {
            return own;
        }
    }

    /** Read from its field, for the program may override {@link Throwable#getCause}. */
    private static Throwable cause(Throwable exception) {
        Throwable cause = (Throwable) U.getReference(exception, CAUSE);
        if (cause == null && exception instanceof InvocationTargetException) {
            return (Throwable) U.getReference(exception, TARGET);
        }
        return cause == exception ? null : cause;
    }

    private static boolean isKept(Propagation[] ways, Throwable exception) {
        for (int i = 0; ways != null && i < ways.length; i++) {
            if (ways[i] != null && ways[i].exception == exception) {
                return true;
            }
        }
        return false;
    }

    /**
     * The way that an exception had in another thread, on which it began; null if there is none, or
     * more than one thread has thrown it. That thread may go on meanwhile, so it is a copy.
     */
    private static Propagation elsewhere(Throwable exception) {
        Propagation found = null;
        HindsightThread owner = null;
        for (Latest latest : HindsightThread.table) {
            Propagation[] all = latest == null ? null : latest.thread.kept.get();
            for (int i = 0; all != null && i < all.length; i++) {
                Propagation way = all[i];
                if (way != null && way.exception == exception) {
                    if (owner != null && owner != latest.thread) {
                        return null;
                    }
                    owner = latest.thread;
                    found = way;
                }
            }
        }
        return found == null ? null : found.copy();
    }
}
