package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The tracers of all threads, and whether anything is recorded.
 *
 * <p>A table that a platform thread finds its tracer in by its number, at one of a few places. It is read without
 * a lock: an old table only makes a thread look again, and where nothing is recorded threads look into one that
 * has nobody.
 *
 * <p><b>Invariant:</b> that of {@link HindsightTracer}.
 */
final class HindsightTracers {
    private static final Unsafe U = HindsightTracer.U;

    /** Entries of the table that a thread may be found at. */
    private static final int WINDOW = 8;

    private static final int LEAST = 1024;
    private static final int MOST = 1 << 20;

    private static final int SWEEP_MILLIS = 10_000;

    /** For who changes the table, or whether it is seen. */
    private static final HindsightLock LOCK = new HindsightLock();

    /** For who lets the recording go on, which the agent is told of: others need not wait for that. */
    private static final HindsightLock GOING_ON = new HindsightLock();

    private static HindsightTracer[] table = new HindsightTracer[LEAST];

    /** Stands for the table while nothing is recorded. */
    private static final HindsightTracer[] NOBODY = new HindsightTracer[1];

    /** The table that probes look into first: that one, or {@link #NOBODY}. */
    private static HindsightTracer[] visible = table;

    /** Threads in which calls are going on with whose end the recording stops, as far as they are recorded. */
    private static int ending;

    /** The numbers of platform threads that have ended lately, each at its place. */
    private static final long[] ENDED = new long[1024];

    private HindsightTracers() {}

    /** What is at the first place where a thread's tracer may be, if anything is recorded. */
    @ForceInline
    static HindsightTracer first(Thread thread) {
        return first(visible, thread);
    }

    @ForceInline
    private static HindsightTracer first(HindsightTracer[] all, Thread thread) {
        return all[(int) U.getLong(thread, HindsightTracer.TID) & all.length - 1];
    }

    /** The tracer of a platform thread; null if it has none. */
    static HindsightTracer of(Thread owner) {
        HindsightTracer[] all = table;
        int first = (int) U.getLong(owner, HindsightTracer.TID);
        for (int i = 0; i < WINDOW; i++) {
            HindsightTracer there = all[first + i & all.length - 1];
            if (there != null && there.owner == owner) {
                return there;
            }
        }
        return null;
    }

    /** The same where that is worth to look once more: {@link #empty} may just have moved it. */
    static HindsightTracer certainlyOf(Thread owner) {
        HindsightTracer there = of(owner);
        if (there != null) {
            return there;
        }
        LOCK.acquire();
        try {
            return of(owner);
        } finally {
            LOCK.held = 0;
        }
    }

    /** The thread that runs is about to end, and tells nothing more: the JDK's own code for that may have probes. */
    static void end(Thread owner) {
        long tid = U.getLong(owner, HindsightTracer.TID);
        ENDED[(int) tid & ENDED.length - 1] = tid;
    }

    /** Whether this thread, which runs, is on its way out. */
    static boolean isEnding(Thread owner) {
        long tid = U.getLong(owner, HindsightTracer.TID);
        return ENDED[(int) tid & ENDED.length - 1] == tid;
    }

    /** Makes the tracer of a platform thread that has none. */
    static HindsightTracer add(Thread owner) {
        HindsightTracer fresh = new HindsightTracer(owner);
        LOCK.acquire();
        try {
            HindsightTracer there = of(owner);
            if (there != null) {
                return there;
            }
            while (!put(table, fresh)) {
                grow();
            }
            return fresh;
        } finally {
            LOCK.held = 0;
        }
    }

    private static boolean put(HindsightTracer[] all, HindsightTracer fresh) {
        int first = (int) U.getLong(fresh.owner, HindsightTracer.TID);
        for (int i = 0; i < WINDOW; i++) {
            int at = first + i & all.length - 1;
            HindsightTracer there = all[at];
            if (there == null) {
                U.storeFence();
                all[at] = fresh;
                return true;
            }
        }
        return false;
    }

    /** Takes a larger table. */
    private static void grow() {
        HindsightTracer[] old = table;
        int length = old.length;
        do {
            if (length >= MOST) {
                throw new OutOfMemoryError();
            }
            length *= 2;
        } while (!move(old, length));
    }

    private static boolean move(HindsightTracer[] old, int length) {
        HindsightTracer[] larger = new HindsightTracer[length];
        for (HindsightTracer tracer : old) {
            if (tracer != null && !put(larger, tracer)) {
                return false;
            }
        }
        U.storeFence();
        table = larger;
        if (visible != NOBODY) {
            visible = larger;
        }
        return true;
    }

    static void remove(HindsightTracer tracer) {
        LOCK.acquire();
        try {
            HindsightTracer[] all = table;
            int first = (int) U.getLong(tracer.owner, HindsightTracer.TID);
            for (int i = 0; i < WINDOW; i++) {
                int at = first + i & all.length - 1;
                if (all[at] == tracer) {
                    empty(all, at);
                    break;
                }
            }
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * Empties a place, and moves up who stands behind it for want of it: there is nobody behind an empty place who
     * could be before it. A thread that does not find its tracer on the way looks for it again under the lock.
     */
    private static void empty(HindsightTracer[] all, int place) {
        int free = place;
        for (int i = 1; i < WINDOW; i++) {
            int at = free + i & all.length - 1;
            HindsightTracer there = all[at];
            if (there == null) {
                break;
            }
            int behind = at - (int) U.getLong(there.owner, HindsightTracer.TID) & all.length - 1;
            if (behind >= i) {
                all[free] = there;
                U.storeFence();
                free = at;
                i = 0;
            }
        }
        all[free] = null;
    }

    /** Whether nothing is recorded now. */
    static boolean haveStopped() {
        return visible == NOBODY;
    }

    /** Whether this is a platform thread that has nothing to say while nothing is recorded; most are. */
    static boolean hasNone(Thread thread) {
        HindsightTracer first = first(table, thread);
        // Where the first place is empty, so are the others: `put` and `empty` see to that.
        return HindsightCarrier.get() == thread
                && (first == null || first.owner == thread && first.current == null);
    }

    /** Records from here on. */
    static void goOn() {
        if (visible != NOBODY || !HindsightTracer.ready) {
            return;
        }
        GOING_ON.acquire();
        try {
            if (visible == NOBODY) {
                HindsightTracer.beginWindow();
                show();
            }
        } finally {
            GOING_ON.held = 0;
        }
    }

    private static void show() {
        LOCK.acquire();
        try {
            // Nothing is recorded any more once the agent has said so, which stops it then.
            if (HindsightTracer.ready) {
                ending = 0;
                visible = table;
            }
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * A thread begins a call with whose end the recording stops: from here on it does not stop with that of another
     * thread. False if it has stopped.
     */
    static boolean join(HindsightCalls calls) {
        LOCK.acquire();
        try {
            if (visible == NOBODY) {
                return false;
            }
            // Where the stack ends, there may be such a call of which nothing more was told.
            if (!calls.wereCounted(HindsightTracer.pauses)) {
                ending++;
            }
            calls.count(HindsightTracer.pauses);
            return true;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * The last such call of a thread has ended, be its begin recorded or not: nothing is recorded from here on, unless
     * one is going on in another thread. Whether it has stopped.
     */
    static boolean stop(HindsightCalls calls) {
        LOCK.acquire();
        try {
            if (calls.wereCounted(HindsightTracer.pauses)) {
                ending--;
            }
            if (ending <= 0) {
                visible = NOBODY;
            }
            return visible == NOBODY;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * Called by the agent when the recording has ended. It waits for nobody, for a thread that a debugger holds, or
     * that was stopped, may never let go of the lock; who shows the table once more at this moment costs time alone,
     * since nothing is recorded any more.
     */
    static void end() {
        visible = NOBODY;
    }

    /** Records nothing from here on. */
    static void stop() {
        LOCK.acquire();
        try {
            visible = NOBODY;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * The body of the agent's own thread: lets go of threads that have ended unnoticed. It sleeps in Java, for a
     * JVM that goes down waits for threads in native code.
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

    private static void sweep() {
        for (HindsightTracer tracer : table) {
            if (tracer != null && !tracer.owner.isAlive()) {
                tracer.stop();
                tracer.leave();
            }
        }
    }
}
