package java.lang;

import java.lang.ref.SoftReference;

/**
 * What the probes keep for one thread: the exceptions that have lately passed through it.
 *
 * <p>A thread gets its entry at its first exception. Entries live in a table indexed by the thread's
 * identity hash, with a check of the owner; that is cheaper than {@link ThreadLocal} and, unlike it,
 * touches nothing that the program can see.
 *
 * <p>What an exception has kept is let go by {@link #sweep} when nothing has moved for a while, and by
 * the garbage collector when memory is short: entries hold it softly.
 *
 * <p><b>Invariant:</b> frames belong to exactly one exception object on one way up. A new exception
 * starts empty; the same object thrown again (a shared constant, or HotSpot's pre-allocated ones)
 * starts empty too, once a handler has seen it caught: one of an instrumented method, or of those
 * classes of the JDK that catch everything (executors, futures), whose handlers tell it too.
 */
final class HindsightThread {
    static final int UNCAUGHT = 0;
    static final int ESCAPE = 1;
    static final int CAUGHT = 2;
    /** The program asks for a record of an exception. */
    static final int RECORD = 3;
    /** The program asks for a record of where it is; the exception is made for it. */
    static final int RECORD_STATE = 4;

    private static final int MAX_TABLE = 1 << 16;

    /** What an exception has kept alive is let go after one to two of these. */
    private static final int SWEEP_MILLIS = 20_000;

    /** Set by the agent once it can take reports, cleared when the JVM goes down. */
    static volatile boolean ready;

    /** Read without synchronisation: an old table only makes a thread register again. */
    private static HindsightThread[] table = new HindsightThread[256];

    /** Exceptions of one thread whose ways are kept: causes, and what a finally block runs into. */
    private static final int KEPT = 4;

    /** Causes of causes that are looked at. */
    private static final int MAX_CAUSES = 8;

    /**
     * For one exception at a time that passes where there is no memory left: the collector has
     * cleared the ways of all threads by then.
     */
    private static final Propagation RESERVE = new Propagation();

    /** The thread that has the reserve. */
    private static volatile Thread reserved;

    static {
        RESERVE.head.reserve();
    }

    private final Thread owner;

    /** Latest first; cleared by the collector rather than that the program runs out of memory. */
    private SoftReference<Propagation[]> kept = new SoftReference<>(new Propagation[KEPT]);

    /** Counts probes, so that the sweeper sees who has moved. Racy on purpose: it is only a hint. */
    private int moves;

    private int movesAtSweep = -1;

    private HindsightThread(Thread owner) {
        this.owner = owner;
    }

    /** One exception on its way up. */
    static final class Propagation {
        // The native side reads the fields from here to `exception`.
        /** The first frames, nearest to where it was thrown. */
        final HindsightProbe head = new HindsightProbe(this);

        /** The last frames, when there are more than one piece holds; null until then. */
        HindsightProbe tail;

        /** The piece before {@link #tail}. */
        HindsightProbe tailBefore;

        /** Frames that fell out between head and tails. */
        int dropped;

        /**
         * The way up that the same exception object had before a handler caught it, if the method of
         * that handler has since thrown it on; else null.
         */
        Propagation before;

        Throwable exception;

        /** Whether the same exception has another way, on which a handler has caught it. */
        boolean again;

        /** Whether an {@code escape:} rule has reported it: one report for each way is enough. */
        boolean reported;

        private int catcher = -1;

        HindsightProbe open(int method) {
            HindsightProbe piece = tail == null ? head : tail;
            if (piece.frames == HindsightProbe.FRAMES) {
                piece = turn();
            }
            return piece.open(method);
        }

        /** Takes a fresh piece; the two latest tails are kept, older frames fall out. */
        private HindsightProbe turn() {
            HindsightProbe fresh;
            if (tailBefore == null) {
                fresh = new HindsightProbe(this);
            } else {
                fresh = tailBefore;
                dropped += fresh.frames;
                fresh.clear();
            }
            tailBefore = tail;
            tail = fresh;
            return fresh;
        }

        void restart(Throwable next) {
            head.clear();
            tail = null;
            tailBefore = null;
            dropped = 0;
            before = null;
            reported = false;
            exception = next;
            catcher = -1;
        }
    }

    /** The entry of the current thread, made if need be. */
    static HindsightThread current() {
        HindsightThread known = known();
        return known != null ? known : register(Thread.currentThread());
    }

    /** The entry of the current thread, or null. */
    static HindsightThread known() {
        Thread thread = Thread.currentThread();
        HindsightThread[] entries = table;
        HindsightThread entry = entries[System.identityHashCode(thread) & (entries.length - 1)];
        return entry != null && entry.owner == thread ? entry : null;
    }

    private static synchronized HindsightThread register(Thread thread) {
        HindsightThread fresh = new HindsightThread(thread);
        int hash = System.identityHashCode(thread);
        HindsightThread[] entries = table;
        HindsightThread there = entries[hash & (entries.length - 1)];
        if (there != null && there.owner.isAlive() && entries.length < MAX_TABLE) {
            entries = grow();
        }
        // Where two living threads still share a place, the later one wins; the
        // other loses frames if an exception is passing through it just now.
        entries[hash & (entries.length - 1)] = fresh;
        return fresh;
    }

    /** Called by {@link #register}, under its lock. */
    private static HindsightThread[] grow() {
        HindsightThread[] old = table;
        HindsightThread[] larger = new HindsightThread[2 * old.length];
        for (HindsightThread entry : old) {
            if (entry != null && entry.owner.isAlive()) {
                larger[System.identityHashCode(entry.owner) & (larger.length - 1)] = entry;
            }
        }
        table = larger;
        return larger;
    }

    /** What is kept of this thread's exceptions, latest first. */
    private Propagation[] kept() {
        Propagation[] all = kept.get();
        if (all == null) {
            all = new Propagation[KEPT];
            kept = new SoftReference<>(all);
        }
        return all;
    }

    /** The current thread's propagation that the next frame belongs to. */
    static Propagation way(Throwable exception, int method) {
        try {
            return current().propagation(exception, method);
        } catch (OutOfMemoryError none) {
            return reserve(exception, none);
        }
    }

    private static synchronized Propagation reserve(Throwable exception, OutOfMemoryError none) {
        Thread thread = Thread.currentThread();
        Thread holder = reserved;
        if (holder != thread || RESERVE.exception != exception) {
            if (holder != null && holder != thread && holder.isAlive()) {
                throw none;
            }
            reserved = thread;
            RESERVE.restart(exception);
        }
        return RESERVE;
    }

    /** Gives the reserve back, if it is this thread's and its exception is over. */
    static void free(Throwable exception) {
        if (reserved != null) {
            letGo(exception);
        }
    }

    private static synchronized void letGo(Throwable exception) {
        if (reserved == Thread.currentThread() && RESERVE.exception == exception) {
            reserved = null;
            RESERVE.restart(null);
        }
    }

    /** The propagation that the next frame belongs to. */
    Propagation propagation(Throwable exception, int method) {
        moves++;
        // The method may be about to leave a monitor.
        HindsightLog.release();
        Propagation[] all = kept();
        Propagation now = all[0];
        if (now != null && now.exception == exception && now.catcher < 0) {
            if (now.again) {
                join(all, now, method);
            }
            return now;
        }
        return turnTo(all, exception, method);
    }

    /** Caught in this method, thrown by a helper of the handler, and now leaving it? */
    private static void join(Propagation[] all, Propagation now, int method) {
        for (int i = 1; i < KEPT && all[i] != null; i++) {
            if (all[i].exception == now.exception && all[i].catcher == method) {
                now.before = all[i];
            }
        }
    }

    /** Finds the way of an exception that is not the latest, or begins one. */
    private static Propagation turnTo(Propagation[] all, Throwable exception, int method) {
        int at = 0;
        boolean again = false;
        while (at < KEPT && all[at] != null) {
            Propagation known = all[at];
            again |= known.exception == exception;
            // Still on its way: others were thrown and caught in between, or this
            // method has caught it and throws it on. Where another method has
            // caught it, it is thrown by a helper of that handler, or anew; which
            // of them shows when (and if) the method of the handler is left.
            if (known.exception == exception && (known.catcher < 0 || known.catcher == method)) {
                known.catcher = -1;
                toFront(all, at, known);
                return known;
            }
            at++;
        }
        if (at == KEPT) {
            at--;
        }
        Propagation fresh = all[at];
        if (fresh == null) {
            fresh = new Propagation();
        }
        for (Propagation other : all) {
            if (other != null && other.before == fresh) {
                other.before = null;
            }
        }
        fresh.restart(exception);
        fresh.again = again;
        toFront(all, at, fresh);
        return fresh;
    }

    private static void toFront(Propagation[] all, int at, Propagation first) {
        for (int i = at; i > 0; i--) {
            all[i] = all[i - 1];
        }
        all[0] = first;
    }

    void caught(Throwable exception, int method) {
        moves++;
        free(exception);
        Propagation[] all = kept.get();
        if (all == null) {
            return;
        }
        Propagation now = null;
        boolean othersOnTheirWay = false;
        for (Propagation known : all) {
            if (known == null) {
                break;
            }
            if (known.exception == exception) {
                if (now == null) {
                    now = known;
                }
            } else {
                othersOnTheirWay |= known.catcher < 0;
            }
        }
        if (now != null) {
            now.catcher = method;
        }
        if (othersOnTheirWay) {
            caughtWithin(all, exception, method);
        }
    }

    /**
     * Who catches an exception that the JDK has made for another, as reflection and futures do, has
     * caught that one too.
     */
    private static void caughtWithin(Propagation[] all, Throwable exception, int method) {
        for (int depth = 0; depth < MAX_CAUSES && exception.getClass().getClassLoader0() == null; depth++) {
            // A method of the JDK, since the class is: no code of the program runs.
            exception = exception.getCause();
            if (exception == null) {
                return;
            }
            for (Propagation known : all) {
                if (known != null && known.exception == exception) {
                    if (known.catcher < 0) {
                        known.catcher = method;
                    }
                    break;
                }
            }
        }
    }

    /** What is known of this exception's way, or null. */
    Propagation find(Throwable exception) {
        Propagation[] all = kept.get();
        if (all != null) {
            for (Propagation known : all) {
                if (known != null && known.exception == exception) {
                    return known;
                }
            }
        }
        return reserved == owner && RESERVE.exception == exception ? RESERVE : null;
    }

    /**
     * The body of the agent's own thread.
     *
     * <p>It sleeps in Java, not in native code: a JVM that goes down waits 300 ms for threads that
     * are in native code.
     */
    static void sweepForever() {
        while (true) {
            try {
                Thread.sleep(SWEEP_MILLIS);
            } catch (InterruptedException e) {
                // Somebody interrupts every thread there is; we are not meant.
            }
            sweep();
            HindsightLog.sweep();
        }
    }

    /**
     * Lets go of what has not moved since the last sweep. A thread that is just then in a long {@code
     * finally} loses the frames below it.
     */
    static synchronized void sweep() {
        HindsightThread[] entries = table;
        for (int i = 0; i < entries.length; i++) {
            HindsightThread entry = entries[i];
            if (entry == null) {
                continue;
            }
            if (!entry.owner.isAlive()) {
                entries[i] = null;
            } else if (entry.moves == entry.movesAtSweep) {
                entry.kept.clear();
            } else {
                entry.movesAtSweep = entry.moves;
            }
        }
        Thread holder = reserved;
        if (holder != null && !holder.isAlive()) {
            reserved = null;
            RESERVE.restart(null);
        }
    }

    /**
     * Hands a failure to the agent, which decides by its rules what to do with it.
     *
     * @param rule {@link #UNCAUGHT} or one of the others
     * @param method the method that the rule is about, or -1
     * @param way the frames known of it, or null
     * @param kept all ways kept of this thread, for the exception's causes; or null
     */
    static native void report(
            int rule, int method, Throwable exception, Propagation way, Propagation[] kept);

    /** Reports on the current thread. Nothing comes of it before the agent is ready. */
    static void report(int rule, int method, Throwable exception) {
        if (ready) {
            HindsightThread known = known();
            if (known == null) {
                boolean reserve = reserved == Thread.currentThread() && RESERVE.exception == exception;
                report(rule, method, exception, reserve ? RESERVE : null, null);
            } else {
                report(rule, method, exception, known.find(exception), known.kept.get());
            }
        }
    }
}
