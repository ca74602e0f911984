package java.lang;

import java.lang.HindsightThread.Latest;
import java.lang.HindsightThread.Propagation;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;

/** The ways that an exception and its causes had in other threads. */
final class HindsightCauses {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long CAUSE = U.objectFieldOffset(Throwable.class, "cause");
    private static final long TARGET = U.objectFieldOffset(InvocationTargetException.class, "target");

    /** Threads whose ways of one exception are looked at; a shared one may have been thrown in thousands. */
    private static final int MAX_THREADS = 16;

    private HindsightCauses() {}

    /** Does nothing, but that the class is there afterwards. */
    static void initialize() {}

    /**
     * Adds to a thread's ways those that the exception had on other threads, if it was thrown there and is
     * thrown on here, by way of a third one perhaps: the first on each, for its trace tells on which it began; and
     * those that others have of its causes: what a task throws comes wrapped to whoever asks for its result. The
     * agent calls this when it records, and of an exception whose trace begins with another way than this thread's,
     * not before: it looks at all threads.
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

    /** Read from its field: the program may override {@link Throwable#getCause}, which takes a monitor. */
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
     * The first way that an exception had in some thread; null if there is none, or more than one thread has
     * thrown it. That thread may go on meanwhile, so it is a copy.
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

    /** The first of the ways that a thread keeps of an exception; null for none. */
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
