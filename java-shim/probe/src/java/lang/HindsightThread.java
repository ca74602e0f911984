package java.lang;

import java.lang.ref.SoftReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What the probes keep for one thread: the exceptions that have lately passed through it.
 *
 * <p>A thread gets its entry at its first exception. Entries live in a table indexed by the thread's
 * number, with a check of the owner; that is cheaper than {@link ThreadLocal} and, unlike it,
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
    /** Some library has caught it, and calls the handler of uncaught exceptions by itself. */
    static final int HANDED_OVER = 5;
    /** An escape that there was no room to report has come to a handler. */
    static final int OVERDUE = 6;

    /** The agent's answers: whether it is a failure, or to be asked about again by a method farther out. */
    static final int FAILURE = 1;
    static final int LATER = 2;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");
    private static final long PARENT = U.objectFieldOffset(ThreadGroup.class, "parent");

    private static final int MAX_TABLE = 1 << 16;

    /** For who changes the table, or takes the reserve. */
    private static final HindsightLock LOCK = new HindsightLock();

    /** What an exception has kept alive is let go after one to two of these. */
    private static final int SWEEP_MILLIS = 20_000;

    /** How often was swept. */
    static int sweeps;

    /** Set by the agent once it can take reports, cleared when the JVM goes down. */
    static volatile boolean ready;

    /** Read without synchronisation: an old table only makes a thread register again. */
    static Latest[] table = new Latest[256];

    /**
     * The one of the table's that has the most to do, as far as the last sweep saw; null for none. It
     * is found without the table. Only its own thread and the sweeper write here, so that the others
     * keep the line in their caches.
     */
    private static Latest busiest;

    /** Causes of causes that are looked at. */
    static final int MAX_CAUSES = 8;

    /**
     * For one exception at a time that passes where there is no memory left: the collector has
     * cleared the ways of all threads by then.
     */
    private static final Propagation RESERVE = new Propagation();

    /** The thread that has the reserve. */
    private static volatile Thread reserved;

    /** The number of the sweep before it was asked for last. */
    private static int reservedAt;

    static {
        RESERVE.reserve();
        // Where memory is short, a class cannot be initialised.
        HindsightCauses.initialize();
        HindsightWays.initialize();
        HindsightMemory.begin();
    }

    private final Thread owner;

    /** Latest first; cleared by the collector rather than that the program runs out of memory. */
    SoftReference<Propagation[]> kept = new SoftReference<>(new Propagation[HindsightWays.KEPT]);

    /** In the table while the thread has no way. */
    private final Latest none;

    private HindsightThread(Thread owner) {
        this.owner = owner;
        this.none = new Latest(this, null);
    }

    /**
     * One exception on its way up: its first frames, nearest to where it was thrown, and what is
     * known of the others.
     */
    static final class Propagation extends HindsightProbe {
        /** For the table; null for none, cleared now and then. */
        private Latest latest;

        // The native side reads the fields from here to `exception`.
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

        /** Whether there was a way before, of which nothing is known any more. */
        boolean lost;

        Throwable exception;

        /**
         * Which methods may have caught the same exception on other ways of it: a set with a bit for
         * all methods whose numbers have the same lower six bits.
         */
        long catchers;

        /** Whether it has left a method that an {@code escape:} rule names: that is asked once on each way. */
        boolean escaped;

        /** The method that an {@code escape:} rule names where there was no room yet to report it; else -1. */
        int overdue = -1;

        /** Whether it was reported, by whatever rule: one failure counts once. */
        boolean reported;

        int catcher = -1;

        /** Whether the same exception has a later way that comes {@link #before from} this one. */
        boolean leads;

        /** The number of the sweep before it was put aside. */
        int aside;

        Propagation() {
            super(null);
        }

        /** A piece with room for one more frame with so many values, where this has none. */
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

        /** Takes a fresh piece; the two latest tails are kept, older frames fall out. */
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
            // Whoever copies it meanwhile sees that it is another one's, or nobody's.
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
         * Where it began and where it has ended so far: the first method that it has left, and the one that has caught
         * it, or else the last one that it has left.
         */
        long ends() {
            HindsightProbe last = tail == null ? this : tail;
            int end = catcher >= 0 ? catcher : last.frames == 0 ? -1 : ~last.starts[3 * last.frames - 3];
            return (long) starts[0] << 32 | end & 0xffff_ffffL;
        }

        /** Whether the exception had another way before it came to this one, as far as it is known. */
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

        /** Whether what a rule says now was said of the same failure before. */
        boolean isReported(int rule) {
            boolean known = reported;
            Propagation earlier = before;
            for (int i = 1; i < HindsightWays.KEPT && earlier != null; i++) {
                known |= earlier.reported;
                earlier = earlier.before;
            }
            // Where it was caught already, it was thrown anew since, unless this is about what was caught.
            return known && (catcher < 0 || rule == RECORD || rule == HANDED_OVER);
        }

        /** What another thread knows of an exception; null if it has turned to the next one meanwhile. */
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
     * What the table has for a thread: its latest way, so that the next frame of it is reached by few
     * loads. After each frame the processor starts anew with an empty pipeline, so that their number is
     * what a frame costs.
     */
    static final class Latest extends SoftReference<Propagation> {
        final Thread owner;
        final HindsightThread thread;

        /** Counts probes, so that the sweeper sees who has moved. Racy on purpose: it is only a hint. */
        int moves;

        int movesAtSweep = -1;

        Latest(HindsightThread thread, Propagation way) {
            super(way);
            this.owner = thread.owner;
            this.thread = thread;
        }
    }

    /** Where a thread is in the table: they are numbered in a row, so that neighbours do not collide. */
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

    /** Called by {@link #register}, under its lock. */
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

    /** What is kept of this thread's exceptions, latest first. */
    private Propagation[] kept() {
        Propagation[] all = kept.get();
        if (all == null) {
            all = new Propagation[HindsightWays.KEPT];
            kept = new SoftReference<>(all);
        }
        return all;
    }

    /** The current thread's propagation that the next frame belongs to. */
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
     * Gives the reserve back, if it is this thread's and its exception is over: it is caught, or one that the JDK has
     * made for it.
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

    /** Gives the reserve back: nothing more will be asked of this thread. */
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

    /** Puts the thread's latest way, or none, in its place. */
    private void show(Latest latest) {
        Latest[] all = table;
        int place = place(owner, all);
        // Once each: the sweeper takes them away meanwhile.
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
            // Caught in another method without having left one in between, it was thrown anew. In the
            // same one, it may come from an inner handler.
            now.reported &= now.catcher < 0 || now.catcher == method || isReported;
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

    /** The exception that the JDK has made this one for; null if it is none of these. */
    private static Throwable within(Throwable exception) {
        return exception.getClass().getClassLoader0() == null ? HindsightCauses.cause(exception) : null;
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
     * What the agent's own thread does, again and again.
     *
     * <p>It sleeps in Java, not in native code: a JVM that goes down waits 300 ms for threads that
     * are in native code.
     */
    static void sweepLater() {
        try {
            Thread.sleep(SWEEP_MILLIS);
        } catch (InterruptedException e) {
            // Somebody interrupts every thread there is; we are not meant.
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
     * Lets go of what has not moved since the last sweep. A thread that is just then in a long {@code
     * finally} loses the frames below it.
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
     * @param method the method that the rule is about, or -1
     * @param way the frames known of it, or null
     * @param kept all ways kept of this thread, or null
     * @return {@link #FAILURE}, {@link #LATER}, or 0 if it is none
     */
    static native int report(
            int rule, int method, Throwable exception, Propagation way, Propagation[] kept);

    /**
     * Reports on the current thread. Nothing comes of it before the agent is ready.
     *
     * @return whether to ask again, from a method farther out
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

    /** Reports an escape for which there was no room, if there is by now: whoever catches it may throw it on. */
    private static void settle(Propagation way) {
        int method = way.overdue;
        if (method >= 0 && !report(OVERDUE, method, way.exception)) {
            way.escaped = true;
            way.overdue = -1;
        }
    }

    /** The same of an exception that nobody catches. */
    static void settle(Throwable exception) {
        HindsightThread known = known();
        Propagation way = known == null ? null : known.find(exception);
        if (way != null) {
            settle(way);
        }
    }

    /** Whether a group has none above it. Its {@code getParent} asks a security manager, which may be the program's. */
    static boolean isRoot(ThreadGroup group) {
        return U.getReference(group, PARENT) == null;
    }

    /** Keeps in mind what was reported before it has left any method: its handler may throw it on. */
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
