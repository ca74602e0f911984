package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The tracers of all threads, and whether anything is recorded.
 *
 * <p>A platform thread finds its tracer in a table by its number, at one of a few places. The table
 * is read without a lock: an old table only makes a thread look again. While nothing is recorded,
 * threads look into a table without tracers.
 *
 * <p><b>Invariant:</b> as of {@link HindsightTracer}.
 */
final class HindsightTracers {
    private static final Unsafe U = HindsightTracer.U;

    /** The number of places of the table at which a thread may be found. */
    private static final int WINDOW = 8;

    private static final int LEAST = 1024;
    private static final int MOST = 1 << 20;

    private static final int SWEEP_MILLIS = 10_000;

    /** Held to change the table, or whether it is visible. */
    private static final HindsightLock LOCK = new HindsightLock();

    /**
     * Held while the recording resumes and the agent is notified, for which other threads need not
     * wait.
     */
    private static final HindsightLock GOING_ON = new HindsightLock();

    private static HindsightTracer[] table = new HindsightTracer[LEAST];

    /** Stands for the table while nothing is recorded. */
    private static final HindsightTracer[] NOBODY = new HindsightTracer[1];

    /** The table in which probes look first: {@link #table} or {@link #NOBODY}. */
    private static HindsightTracer[] visible = table;

    /** The number of threads with recorded calls in progress with whose end the recording stops. */
    private static int ending;

    /** The numbers of platform threads that have ended lately, each at its own place. */
    private static final long[] ENDED = new long[1024];

    private HindsightTracers() {}

    /** The entry at the first place of a thread's tracer, if anything is recorded. */
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

    /** As {@link #of}, but looks twice, since {@link #empty} may just have moved the tracer. */
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

    /**
     * Notes that the running thread is about to end and records nothing more: the JDK's code for
     * its end may have probes.
     */
    static void end(Thread owner) {
        long tid = U.getLong(owner, HindsightTracer.TID);
        ENDED[(int) tid & ENDED.length - 1] = tid;
    }

    /** Whether this thread, which runs, is about to end. */
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
     * Empties a place, and moves up the tracers behind it that belong further forward: behind an
     * empty place there is none that could be before it. A thread that misses its tracer meanwhile
     * looks again under the lock.
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

    /**
     * Whether this is a platform thread that has nothing to do while nothing is recorded, as most
     * are.
     */
    static boolean hasNone(Thread thread) {
        HindsightTracer first = first(table, thread);
        // If the first place is empty, so are the others, which `put` and `empty` ensure.
        return HindsightCarrier.get() == thread
                && (first == null || first.owner == thread && first.current == null);
    }

    /** Resumes the recording. */
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
            // Once the agent has ended the recording, nothing more is recorded; it also hides the
            // table then.
            if (HindsightTracer.ready) {
                ending = 0;
                visible = table;
            }
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * Notes that a thread begins a call with whose end the recording stops: until then it does not
     * stop with such a call of another thread. Returns false if it has stopped already.
     */
    static boolean join(HindsightCalls calls) {
        LOCK.acquire();
        try {
            if (visible == NOBODY) {
                return false;
            }
            // After a stack overflow there may be such a call whose end was not recorded.
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
     * Called when a thread's last such call has ended, whether its begin was recorded or not.
     * Nothing is recorded from here on, unless another thread has such a call in progress. Returns
     * whether the recording has stopped.
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
     * Called by the agent when the recording has ended. It takes no lock, because a thread that a
     * debugger suspends, or that was stopped, may never release it. A thread that makes the table
     * visible at this moment costs only time, as nothing is recorded any more.
     */
    static void end() {
        visible = NOBODY;
    }

    /** Stops the recording for now. */
    static void stop() {
        LOCK.acquire();
        try {
            visible = NOBODY;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * The body of the agent's own thread, which removes the tracers of threads that have ended
     * unnoticed. It sleeps in Java, because a JVM that shuts down waits for threads in native code.
     */
    static void sweepForever() {
        while (true) {
            try {
                Thread.sleep(SWEEP_MILLIS);
            } catch (InterruptedException e) {
                // Some programs interrupt every thread; that is not meant for us.
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
