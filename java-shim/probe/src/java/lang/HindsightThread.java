package java.lang;

import java.lang.ref.SoftReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The state that the probes keep for one thread: the exceptions that have lately passed through it.
 *
 * <p>A thread gets its entry at its first exception. Entries are in a table indexed by the thread's
 * number, with a check of the owner. That is cheaper than {@link ThreadLocal} and, unlike it,
 * touches nothing that the program can see.
 *
 * <p>The values that an exception keeps alive are dropped by {@link #sweep} when the thread has
 * been idle for a while, and by the garbage collector when memory is short, because entries hold
 * them softly.
 *
 * <p><b>Invariant:</b> frames belong to exactly one exception object on one way up. A new exception
 * starts empty. So does the same object if it is thrown again (a shared constant, or one that
 * HotSpot allocates in advance), once a probe has seen it caught: by a handler of an instrumented
 * method, or of those classes of the JDK that catch everything (executors, futures).
 */
final class HindsightThread {
    static final int UNCAUGHT = 0;
    static final int ESCAPE = 1;
    static final int CAUGHT = 2;
    /** The program asks for a record of an exception. */
    static final int RECORD = 3;
    /** The program asks for a record of its present state, for which the exception is made. */
    static final int RECORD_STATE = 4;
    /** A library has caught the exception and itself calls the handler of uncaught exceptions. */
    static final int HANDED_OVER = 5;
    /** An escape has come to a handler after there was no room to report it. */
    static final int OVERDUE = 6;

    /**
     * The agent's answers: whether the exception is a failure, or is to be reported again by a
     * method further out.
     */
    static final int FAILURE = 1;
    static final int LATER = 2;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");
    private static final long PARENT = U.objectFieldOffset(ThreadGroup.class, "parent");

    private static final int MAX_TABLE = 1 << 16;

    /** Held to change the table or to take the reserve. */
    private static final HindsightLock LOCK = new HindsightLock();

    /**
     * The interval of sweeps in milliseconds; idle exceptions are dropped after one to two of them.
     */
    private static final int SWEEP_MILLIS = 20_000;

    /** The number of sweeps so far. */
    static int sweeps;

    /** Set by the agent once it accepts reports, and cleared when the JVM shuts down. */
    static volatile boolean ready;

    /** Read without synchronisation: an old table only makes a thread register again. */
    static Latest[] table = new Latest[256];

    /**
     * The table's busiest entry, as of the last sweep; null if there is none. It is found without
     * the table. Only its own thread and the sweeper write here, so that other threads keep the
     * line in their caches.
     */
    private static Latest busiest;

    /** The longest chain of causes that is followed. */
    static final int MAX_CAUSES = 8;

    /**
     * A way for one exception at a time that passes when there is no memory left: the collector has
     * cleared the ways of all threads by then.
     */
    private static final Propagation RESERVE = new Propagation();

    /** The thread that has the reserve. */
    private static volatile Thread reserved;

    /** The number of the sweep before the reserve was last asked for. */
    private static int reservedAt;

    static {
        RESERVE.reserve();
        // When memory is short, a class cannot be initialised.
        HindsightCauses.initialize();
        HindsightWays.initialize();
        HindsightMemory.begin();
    }

    private final Thread owner;

    /** The ways, latest first; the collector clears them before the program runs out of memory. */
    SoftReference<Propagation[]> kept = new SoftReference<>(new Propagation[HindsightWays.KEPT]);

    /** The table's entry while the thread has no way. */
    private final Latest none;

    private HindsightThread(Thread owner) {
        this.owner = owner;
        this.none = new Latest(this, null);
    }

    /**
     * One exception on its way up: its first frames, nearest to the throw, and the state of the
     * others.
     */
    static final class Propagation extends HindsightProbe {
        /** The table's entry for this way; null if there is none. It is cleared now and then. */
        private Latest latest;

        // The native side reads the fields from here to `exception`.
        /** The last frames, when there are more than one piece holds; null until then. */
        HindsightProbe tail;

        /** The piece before {@link #tail}. */
        HindsightProbe tailBefore;

        /** The number of frames that were dropped between head and tails. */
        int dropped;

        /**
         * The way up that the same exception object took before a handler caught it, if the method
         * of that handler has rethrown it since; else null.
         */
        Propagation before;

        /** Whether there was an earlier way of which nothing is known any more. */
        boolean lost;

        Throwable exception;

        /**
         * The methods that may have caught the same exception on its other ways: a set with one bit
         * for all methods whose numbers agree in the lower six bits.
         */
        long catchers;

        /**
         * Whether the exception has left a method that an {@code escape:} rule names, which is
         * asked once on each way.
         */
        boolean escaped;

        /**
         * A method that an {@code escape:} rule names, if there was no room yet to report its
         * exception; else -1.
         */
        int overdue = -1;

        /** Whether the exception was reported by any rule: one failure counts once. */
        boolean reported;

        int catcher = -1;

        /** Whether a later way of the same exception {@link #before continues} this one. */
        boolean leads;

        /** The number of the sweep before this way was put aside. */
        int aside;

        Propagation() {
            super(null);
        }

        /** A piece with room for one more frame with this many values, if this one has none. */
        HindsightProbe room(int references, int words) {
            HindsightProbe piece = tail == null ? this : tail;
            if (piece.frames == FRAMES) {
                piece = turn();
            }
            if (!piece.fits(references, words)) {
                piece.grow(references, words);
            }
            return piece;
        }

        /** Takes a fresh piece. The two latest tails are kept; older frames are dropped. */
        private HindsightProbe turn() {
            HindsightProbe fresh;
            if (tailBefore == null) {
                fresh = more();
            } else {
                fresh = tailBefore;
                dropped += fresh.frames;
                fresh.clear();
            }
            tailBefore = tail;
            tail = fresh;
            return fresh;
        }

        private HindsightProbe more() {
            long began = HindsightMemory.begin();
            try {
                return new HindsightProbe(this);
            } catch (OutOfMemoryError none) {
                HindsightMemory.ranOut(none, began);
                throw none;
            }
        }

        void restart(Throwable next) {
            // A thread that copies it meanwhile sees that it belongs to another exception, or to
            // none.
            exception = null;
            U.storeFence();
            clear();
            tail = null;
            tailBefore = null;
            dropped = 0;
            before = null;
            leads = false;
            lost = false;
            escaped = false;
            overdue = -1;
            reported = false;
            catcher = -1;
            U.storeFence();
            exception = next;
        }

        /**
         * The ends of the way so far: the first method that the exception left, and the one that
         * caught it or else the last one that it left.
         */
        long ends() {
            HindsightProbe last = tail == null ? this : tail;
            int end = catcher >= 0 ? catcher : last.frames == 0 ? -1 : ~last.starts[3 * last.frames - 3];
            return (long) starts[0] << 32 | end & 0xffff_ffffL;
        }

        /** Whether the exception is known to have taken the other way before this one. */
        boolean comesFrom(Propagation way) {
            Propagation earlier = before;
            for (int i = 1; i < HindsightWays.KEPT && earlier != null; i++) {
                if (earlier == way) {
                    return true;
                }
                earlier = earlier.before;
            }
            return false;
        }

        /** Whether a rule reports what was reported before of the same failure. */
        boolean isReported(int rule) {
            boolean known = reported;
            Propagation earlier = before;
            for (int i = 1; i < HindsightWays.KEPT && earlier != null; i++) {
                known |= earlier.reported;
                earlier = earlier.before;
            }
            // If it was caught already, it has been rethrown since, unless the rule is about a
            // caught exception.
            return known && (catcher < 0 || rule == RECORD || rule == HANDED_OVER);
        }

        /** A copy of this way; null if the thread has turned to another exception meanwhile. */
        Propagation copy() {
            Propagation copy = new Propagation();
            copy.exception = exception;
            U.loadFence();
            copy.dropped = dropped;
            copy.reported = reported;
            copy.copyOf(this);
            HindsightProbe last = tail;
            HindsightProbe beforeLast = tailBefore;
            if (last != null) {
                copy.tail = new HindsightProbe(copy);
                copy.tail.copyOf(last);
            }
            if (beforeLast != null) {
                copy.tailBefore = new HindsightProbe(copy);
                copy.tailBefore.copyOf(beforeLast);
            }
            U.loadFence();
            boolean same = frames == copy.frames && tail == last && tailBefore == beforeLast;
            return same && exception == copy.exception ? copy : null;
        }
    }

    /**
     * The table's entry of a thread: its latest way, so that the exception's next frame is reached
     * by few loads. After each frame the processor starts with an empty pipeline, so the number of
     * loads decides what a frame costs.
     */
    static final class Latest extends SoftReference<Propagation> {
        final Thread owner;
        final HindsightThread thread;

        /**
         * Counts probes, by which the sweeper sees which threads are active. It is racy on purpose,
         * since it is only a hint.
         */
        int moves;

        int movesAtSweep = -1;

        Latest(HindsightThread thread, Propagation way) {
            super(way);
            this.owner = thread.owner;
            this.thread = thread;
        }
    }

    /**
     * A thread's place in the table. Threads are numbered consecutively, so neighbours do not
     * collide.
     */
    @ForceInline
    private static int place(Thread thread, Latest[] all) {
        return (int) U.getLong(thread, THREAD_ID) & (all.length - 1);
    }

    /** The entry of the current thread, or null. */
    static HindsightThread known() {
        Thread thread = Thread.currentThread();
        Latest[] all = table;
        Latest latest = all[place(thread, all)];
        return latest != null && latest.owner == thread ? latest.thread : null;
    }

    private static HindsightThread register(Thread thread) {
        HindsightThread fresh = new HindsightThread(thread);
        LOCK.acquire();
        try {
            Latest[] all = table;
            Latest there = all[place(thread, all)];
            if (there != null && there.owner.isAlive() && all.length < MAX_TABLE) {
                all = grow();
            }
            // Where two living threads still share a place, the later one wins; the
            // other loses frames if an exception is passing through it just now.
            all[place(thread, all)] = fresh.none;
            if (busiest == null) {
                busiest = fresh.none;
            }
            return fresh;
        } finally {
            LOCK.held = 0;
        }
    }

    /** Enlarges the table. Called by {@link #register}, under its lock. */
    private static Latest[] grow() {
        Latest[] old = table;
        Latest[] larger = new Latest[2 * old.length];
        for (Latest latest : old) {
            if (latest != null && latest.owner.isAlive()) {
                larger[place(latest.owner, larger)] = latest;
            }
        }
        table = larger;
        return larger;
    }

    /** The ways of this thread's exceptions, latest first. */
    private Propagation[] kept() {
        Propagation[] all = kept.get();
        if (all == null) {
            all = new Propagation[HindsightWays.KEPT];
            kept = new SoftReference<>(all);
        }
        return all;
    }

    /** The propagation of the current thread to which the next frame belongs. */
    @ForceInline
    static Propagation way(Throwable exception, int method) {
        // The method may be about to leave a monitor.
        HindsightLog.release();
        HindsightLog.left();
        Thread thread = Thread.currentThread();
        Latest latest = busiest;
        if (latest == null || latest.owner != thread) {
            Latest[] all = table;
            latest = all[place(thread, all)];
            if (latest == null || latest.owner != thread) {
                return another(exception, method);
            }
        }
        latest.moves++;
        Propagation now = latest.get();
        if (now != null && now.exception == exception && now.catcher < 0 && (now.catchers & 1L << method) == 0) {
            return now;
        }
        return another(exception, method);
    }

    private static Propagation another(Throwable exception, int method) {
        if (HindsightMemory.isShort()) {
            return reserve(exception, HindsightMemory.NONE);
        }
        long began = 0;
        try {
            began = HindsightMemory.begin();
            HindsightThread known = known();
            HindsightThread thread = known != null ? known : register(Thread.currentThread());
            return thread.propagation(exception, method);
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            return reserve(exception, none);
        }
    }

    private static Propagation reserve(Throwable exception, OutOfMemoryError none) {
        Thread thread = Thread.currentThread();
        LOCK.acquire();
        try {
            Thread holder = reserved;
            if (holder != thread || RESERVE.exception != exception) {
                if (holder != null && holder != thread && holder.isAlive()) {
                    throw none;
                }
                reserved = thread;
                RESERVE.restart(exception);
            }
            reservedAt = sweeps;
            return RESERVE;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * Releases the reserve if it is this thread's and its exception is over: caught, or wrapped by
     * the JDK in the one that was caught.
     */
    static void free(Throwable exception) {
        if (reserved != Thread.currentThread()) {
            return;
        }
        letGo(exception);
        Throwable within = within(exception);
        for (int depth = 0; depth < MAX_CAUSES && within != null; depth++) {
            letGo(within);
            within = within(within);
        }
    }

    /** Releases the reserve: nothing more will be asked of this thread. */
    static void end() {
        if (reserved == Thread.currentThread()) {
            letGo(RESERVE.exception);
        }
    }

    private static void letGo(Throwable exception) {
        LOCK.acquire();
        try {
            if (reserved == Thread.currentThread() && RESERVE.exception == exception) {
                reserved = null;
                RESERVE.restart(null);
            }
        } finally {
            LOCK.held = 0;
        }
    }

    /** The propagation that the next frame belongs to. */
    private Propagation propagation(Throwable exception, int method) {
        Propagation[] all = kept();
        Propagation now = all[0];
        if (now != null && now.exception == exception && now.catcher < 0) {
            HindsightWays.join(all, now, method);
        } else {
            now = HindsightWays.turnTo(all, exception, method);
        }
        Latest latest = now.latest;
        if (latest == null || latest.get() == null) {
            latest = new Latest(this, now);
            now.latest = latest;
        }
        latest.moves++;
        show(latest);
        return now;
    }

    /** Puts the thread's latest way, or the empty entry, in its place in the table. */
    private void show(Latest latest) {
        Latest[] all = table;
        int place = place(owner, all);
        // Each is read once, because the sweeper removes them meanwhile.
        Latest there = all[place];
        if (there != null && there.thread == this) {
            all[place] = latest;
        }
        Latest first = busiest;
        if (first != null && first.thread == this) {
            busiest = latest;
        }
    }

    void caught(Throwable exception, int method, boolean isReported) {
        free(exception);
        Propagation[] all = kept.get();
        if (all == null) {
            show(none);
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
            settle(now);
            // Caught in another method without having left one in between, it was thrown anew.
            // Caught in the same one, it may come from an inner handler.
            now.reported &= now.catcher < 0 || now.catcher == method || isReported;
            now.catcher = method;
        }
        if (othersOnTheirWay) {
            caughtWithin(all, exception, method);
        }
    }

    /**
     * Notes an exception as caught when the one is caught in which the JDK has wrapped it, as
     * reflection and futures do.
     */
    private static void caughtWithin(Propagation[] all, Throwable exception, int method) {
        Throwable within = within(exception);
        for (int depth = 0; depth < MAX_CAUSES && within != null; depth++) {
            for (Propagation known : all) {
                if (known != null && known.exception == within) {
                    settle(known);
                    if (known.catcher < 0) {
                        known.catcher = method;
                    }
                    break;
                }
            }
            within = within(within);
        }
    }

    /** The exception that the JDK has wrapped in this one; null if there is none. */
    private static Throwable within(Throwable exception) {
        return exception.getClass().getClassLoader0() == null ? HindsightCauses.cause(exception) : null;
    }

    /** The way of this exception, or null. */
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
     * The body of the agent's own thread; it repeats for ever.
     *
     * <p>It sleeps in Java, not in native code: a JVM that shuts down waits 300 ms for threads that
     * are in native code.
     */
    static void sweepLater() {
        try {
            Thread.sleep(SWEEP_MILLIS);
        } catch (InterruptedException e) {
            // Some programs interrupt every thread; that is not meant for us.
        }
        LOCK.acquire();
        try {
            sweep();
        } finally {
            LOCK.held = 0;
        }
        HindsightLog.sweep();
    }

    /**
     * Drops what has not moved since the last sweep. A thread that is in a long {@code finally}
     * block at that time loses the frames below it.
     */
    private static void sweep() {
        sweeps++;
        Latest[] all = table;
        Latest first = null;
        int most = 0;
        for (int i = 0; i < all.length; i++) {
            Latest latest = all[i];
            if (latest == null) {
                continue;
            }
            int moves = latest.moves - latest.movesAtSweep;
            if (!latest.owner.isAlive()) {
                all[i] = null;
            } else if (moves == 0) {
                all[i] = latest.thread.none;
                latest.thread.kept.clear();
            } else {
                latest.movesAtSweep = latest.moves;
                if (moves > most) {
                    most = moves;
                    first = latest;
                }
            }
        }
        busiest = first;
        Thread holder = reserved;
        if (holder != null && (!holder.isAlive() || sweeps - reservedAt > 1)) {
            reserved = null;
            RESERVE.restart(null);
        }
    }

    /**
     * Hands a failure to the agent, which decides by its rules what to do with it.
     *
     * @param rule {@link #UNCAUGHT} or one of the others
     * @param method the method that the rule concerns, or -1
     * @param way the frames known of it, or null
     * @param kept all ways of this thread that are kept, or null
     * @return {@link #FAILURE}, {@link #LATER}, or 0 if it is no failure
     */
    static native int report(
            int rule, int method, Throwable exception, Propagation way, Propagation[] kept);

    /**
     * Reports on the current thread. It does nothing before the agent is ready.
     *
     * @return whether to report again, from a method further out
     */
    static boolean report(int rule, int method, Throwable exception) {
        if (!ready) {
            return false;
        }
        HindsightThread known = known();
        if (known == null) {
            boolean reserve = reserved == Thread.currentThread() && RESERVE.exception == exception;
            int answer = report(rule, method, exception, reserve ? RESERVE : null, null);
            if (answer == FAILURE && rule == CAUGHT && !reserve) {
                remember(method, exception);
            }
            return answer == LATER;
        }
        Propagation way = known.find(exception);
        if (way != null && way.isReported(rule)) {
            return false;
        }
        int answer = report(rule, method, exception, way, known.kept.get());
        if (way != null) {
            way.reported |= answer == FAILURE;
        } else if (answer == FAILURE && rule == CAUGHT) {
            remember(method, exception);
        }
        return answer == LATER;
    }

    /**
     * Reports an escape for which there was no room, if there is by now; the method that catches it
     * may rethrow it.
     */
    private static void settle(Propagation way) {
        int method = way.overdue;
        if (method >= 0 && !report(OVERDUE, method, way.exception)) {
            way.escaped = true;
            way.overdue = -1;
        }
    }

    /** As above, for an exception that nobody catches. */
    static void settle(Throwable exception) {
        HindsightThread known = known();
        Propagation way = known == null ? null : known.find(exception);
        if (way != null) {
            settle(way);
        }
    }

    /**
     * Whether a group has no parent. Its {@code getParent} asks a security manager, which may be
     * the program's.
     */
    static boolean isRoot(ThreadGroup group) {
        return U.getReference(group, PARENT) == null;
    }

    /**
     * Remembers an exception that was reported before it has left any method, because its handler
     * may rethrow it.
     */
    private static void remember(int method, Throwable exception) {
        long began = 0;
        try {
            began = HindsightMemory.begin();
            HindsightThread known = known();
            HindsightThread thread = known != null ? known : register(Thread.currentThread());
            thread.propagation(exception, method).reported = true;
        } catch (OutOfMemoryError none) {
            // Then it may be reported again.
            HindsightMemory.ranOut(none, began);
        }
    }
}
