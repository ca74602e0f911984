package java.lang;

/**
 * What the probes keep for one thread: the exception that is passing through it, and the one before.
 *
 * <p>A thread gets its entry at its first exception. Entries live in a table indexed by the thread's
 * identity hash, with a check of the owner; that is cheaper than {@link ThreadLocal} and, unlike it,
 * touches nothing that the program can see. {@link #sweep} drops what has not moved for a while, so
 * that an exception long caught keeps neither itself nor its arguments alive.
 *
 * <p><b>Invariant:</b> frames belong to exactly one exception object on one way up. A new exception
 * starts empty; the same object thrown again (a shared constant, or HotSpot's pre-allocated ones)
 * starts empty too, as far as a handler of an instrumented method has seen it caught.
 */
final class HindsightThread {
    static final int UNCAUGHT = 0;
    static final int ESCAPE = 1;
    static final int CAUGHT = 2;

    private static final int MAX_TABLE = 1 << 16;

    /** What an exception has kept alive is let go after one to two of these. */
    private static final int SWEEP_MILLIS = 20_000;

    /** Set by the agent once it can take reports, cleared when the JVM goes down. */
    static volatile boolean ready;

    private static volatile HindsightThread[] table = new HindsightThread[256];

    private final Thread owner;
    private Propagation latest;
    private Propagation previous;

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

    private static HindsightThread register(Thread thread) {
        HindsightThread fresh = new HindsightThread(thread);
        int hash = System.identityHashCode(thread);
        HindsightThread[] entries = table;
        HindsightThread there = entries[hash & (entries.length - 1)];
        if (there != null && there.latest != null && entries.length < MAX_TABLE) {
            entries = grow(entries.length);
        }
        // Where two living threads still share a place, the later one wins; the
        // other loses frames if an exception is passing through it just now.
        entries[hash & (entries.length - 1)] = fresh;
        return fresh;
    }

    private static synchronized HindsightThread[] grow(int from) {
        HindsightThread[] old = table;
        if (old.length > from) {
            return old;
        }
        HindsightThread[] larger = new HindsightThread[2 * from];
        for (HindsightThread entry : old) {
            if (entry != null && entry.latest != null) {
                larger[System.identityHashCode(entry.owner) & (larger.length - 1)] = entry;
            }
        }
        table = larger;
        return larger;
    }

    /** The propagation that the next frame belongs to. */
    Propagation propagation(Throwable exception, int method) {
        moves++;
        Propagation now = latest;
        if (now != null && now.exception == exception) {
            if (now.catcher < 0) {
                Propagation caughtBefore = previous;
                if (caughtBefore != null
                        && caughtBefore.catcher == method
                        && caughtBefore.exception == exception) {
                    now.before = caughtBefore;
                }
                return now;
            }
            if (now.catcher == method) {
                // Caught and thrown on by the same method: still on its way.
                now.catcher = -1;
                return now;
            }
            // Caught, and now thrown from elsewhere: either by a helper that the
            // handler has called, or anew. Which of them shows when (and if) the
            // method of the handler is left.
        }
        Propagation fresh = previous;
        if (fresh == null) {
            fresh = new Propagation();
        }
        if (now != null) {
            // Its own predecessor is being recycled.
            now.before = null;
        }
        previous = now;
        latest = fresh;
        fresh.restart(exception);
        return fresh;
    }

    void caught(Throwable exception, int method) {
        moves++;
        Propagation now = latest;
        if (now != null && now.exception == exception) {
            now.catcher = method;
        }
    }

    /** What is known of this exception's way, or null. */
    Propagation find(Throwable exception) {
        Propagation now = latest;
        return now != null && now.exception == exception ? now : null;
    }

    /** The way of the exception before this one, which may be its cause; or null. */
    Propagation findBefore(Throwable exception) {
        Propagation then = previous;
        return then != null && then.exception != exception ? then : null;
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
        }
    }

    /**
     * Lets go of what has not moved since the last sweep. A thread that is just then in a long {@code finally} loses the frames below it.
     */
    static void sweep() {
        HindsightThread[] entries = table;
        for (int i = 0; i < entries.length; i++) {
            HindsightThread entry = entries[i];
            if (entry == null) {
                continue;
            }
            if (!entry.owner.isAlive()) {
                entries[i] = null;
            } else if (entry.moves == entry.movesAtSweep) {
                entry.latest = null;
                entry.previous = null;
            } else {
                entry.movesAtSweep = entry.moves;
            }
        }
    }

    /**
     * Hands a failure to the agent, which decides by its rules what to do with it.
     *
     * @param rule {@link #UNCAUGHT}, {@link #ESCAPE} or {@link #CAUGHT}
     * @param method the method that the rule is about, or -1
     * @param way the frames known of it, or null
     * @param wayBefore the frames of the exception before it, or null
     */
    static native void report(
            int rule, int method, Throwable exception, Propagation way, Propagation wayBefore);

    /** Reports on the current thread. Nothing comes of it before the agent is ready. */
    static void report(int rule, int method, Throwable exception) {
        if (ready) {
            HindsightThread known = known();
            if (known == null) {
                report(rule, method, exception, null, null);
            } else {
                report(rule, method, exception, known.find(exception), known.findBefore(exception));
            }
        }
    }
}
