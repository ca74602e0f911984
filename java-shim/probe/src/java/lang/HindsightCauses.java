package java.lang;

import java.lang.HindsightThread.Latest;
import java.lang.HindsightThread.Propagation;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;

/** The ways that an exception and its causes took through other threads. */
final class HindsightCauses {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long CAUSE = U.objectFieldOffset(Throwable.class, "cause");
    private static final long TARGET = U.objectFieldOffset(InvocationTargetException.class, "target");

    /**
     * The most threads whose ways of one exception are examined; a shared exception may have been
     * thrown in thousands.
     */
    private static final int MAX_THREADS = 16;

    private HindsightCauses() {}

    /** Does nothing; the call initialises the class. */
    static void initialize() {}

    /**
     * Adds to a thread's ways those that the exception took through other threads, if it was thrown
     * there and rethrown here, perhaps by way of a third thread. Of each thread that is the first
     * way, because the exception's trace shows on which thread it began. The ways that other
     * threads have of its causes are added, too: an exception of a task comes wrapped to the thread
     * that asks for the task's result. As it examines all threads, the agent calls this only when
     * it records, and only for an exception whose trace does not begin with this thread's way.
     */
    static Propagation[] add(Propagation[] own, Throwable exception) {
        try {
            Propagation[] all = own;
            HindsightThread here = HindsightThread.known();
            int added = 0;
            for (Latest latest : HindsightThread.table) {
                if (latest != null && latest.thread != here && added < MAX_THREADS) {
                    Propagation way = oldest(latest.thread, exception);
                    all = with(all, way == null ? null : way.copy());
                    added += way == null ? 0 : 1;
                }
            }
            // The writes of another thread cannot be undone with this one's log.
            Throwable cause = HindsightLog.isUsed() ? null : cause(exception);
            for (int depth = 0; depth < HindsightThread.MAX_CAUSES && cause != null; depth++) {
                all = with(all, isKept(own, cause) ? null : elsewhere(cause));
                cause = cause(cause);
            }
            return all;
        } catch (OutOfMemoryError none) {
            return own;
        }
    }

    private static Propagation[] with(Propagation[] ways, Propagation way) {
        if (way == null) {
            return ways;
        }
        Propagation[] all = ways == null ? new Propagation[1] : Arrays.copyOf(ways, ways.length + 1);
        all[all.length - 1] = way;
        return all;
    }

    /**
     * The cause, read from its field: the program may override {@link Throwable#getCause}, which
     * takes a monitor.
     */
    static Throwable cause(Throwable exception) {
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
     * The first way that an exception took through another thread; null if there is none, or if
     * several threads have thrown it. That thread may continue meanwhile, so this is a copy.
     */
    private static Propagation elsewhere(Throwable exception) {
        Propagation found = null;
        for (Latest latest : HindsightThread.table) {
            Propagation way = latest == null ? null : oldest(latest.thread, exception);
            if (way != null && found != null) {
                return null;
            }
            found = way == null ? found : way;
        }
        return found == null ? null : found.copy();
    }

    /** The oldest way that a thread keeps of an exception, or null. */
    private static Propagation oldest(HindsightThread thread, Throwable exception) {
        Propagation[] all = thread.kept.get();
        Propagation found = null;
        for (int i = 0; all != null && i < all.length; i++) {
            Propagation way = all[i];
            if (way != null && way.exception == exception) {
                found = way;
            }
        }
        return found;
    }
}
