package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The calls that are going on in a thread, as far as they bound what is recorded.
 *
 * <p>A platform thread's is in its tracer. Virtual threads move from one to another, so theirs are in a
 * table, from their first event to their end.
 */
final class HindsightCalls {
    private static final HindsightLock LOCK = new HindsightLock();
    private static final HindsightCalls[] VIRTUAL = new HindsightCalls[1 << 14];

    /** Events for which a stack that is too deep to be looked at is not looked at again. */
    private static final int PATIENCE = 64;

    /** After so many looks in vain in a row the next ones are so many events apart, for each takes microseconds. */
    private static final int MOST_VAIN = 64;

    private static final int APART = 1024;

    /** Whether the outermost call is one that is not recorded. */
    boolean skips = true;

    /** The calls from the outermost one on that may be recorded or not. */
    final HindsightNest all = new HindsightNest();

    /** Those of methods with whose end the recording stops, if it is the last one of all threads. */
    final HindsightNest ending = new HindsightNest();

    /** The pauses that there had been when the thread was last seen. */
    private int pauses;

    /** What {@link HindsightTrace#overflows} was when these were right. */
    private int overflows = HindsightTrace.overflows;

    /** The pauses that there had been when {@link #ending} was counted with those of other threads, or -1. */
    private int counted = -1;

    /** Events until the next look where a stack has ended. */
    private int patience;

    /** The same where constructors may be over. */
    private int apart;

    /** Such looks in a row after which nothing was over. */
    private int vain;

    private final long thread;
    private HindsightCalls next;

    private HindsightCalls(long thread, int pauses) {
        this.thread = thread;
        this.pauses = pauses;
    }

    /** Those of a thread that has told nothing yet, and has none before so many pauses. */
    static HindsightCalls begin(long thread, int pauses) {
        long began = HindsightMemory.begin();
        try {
            return new HindsightCalls(thread, pauses);
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            throw HindsightMemory.NONE;
        }
    }

    /**
     * Whether it is time to look at the stack, for there may be calls here that are over: where that ended, probes at
     * the ends of methods have told nothing; nor is any told of a constructor that an exception leaves out of its
     * call of another one, where no caller tells of that exception either.
     */
    @ForceInline
    boolean areDoubtful() {
        return overflows != HindsightTrace.overflows ? --patience < 0 : all.areUnbound() && --apart < 0;
    }

    /**
     * Drops calls that are not on the stack of the current thread.
     *
     * @param entering whether a method is about to begin, which is on the stack already
     * @return whether the last of those went with which the recording stops
     */
    @DontInline
    boolean areOver(boolean entering) {
        int now = HindsightTrace.overflows;
        boolean overflowed = now != overflows;
        boolean ends = !ending.isEmpty();
        int before = all.depth();
        if (!all.drop(entering) || !ending.drop(entering)) {
            patience = PATIENCE;
            apart = PATIENCE;
            return false;
        }
        if (!overflowed) {
            vain = all.depth() < before ? 0 : vain + 1;
            apart = vain < MOST_VAIN ? 0 : APART;
        }
        patience = 0;
        overflows = now;
        skips |= all.isEmpty();
        return ends && ending.isEmpty();
    }

    /**
     * The thread goes on, after so many pauses of the recording: whether there was one since it was last
     * seen. Then nothing is known of its calls any more.
     */
    boolean goOn(int pauses) {
        if (this.pauses == pauses) {
            return false;
        }
        this.pauses = pauses;
        all.clear();
        ending.clear();
        overflows = HindsightTrace.overflows;
        skips = true;
        return true;
    }

    /** Those of the virtual thread that runs, from its table; as {@link #begin} if it has told nothing yet. */
    static HindsightCalls of(long thread, int pauses) {
        int at = (int) thread & VIRTUAL.length - 1;
        LOCK.acquire();
        try {
            for (HindsightCalls calls = VIRTUAL[at]; calls != null; calls = calls.next) {
                if (calls.thread == thread) {
                    return calls;
                }
            }
        } finally {
            LOCK.held = 0;
        }
        // Nobody else adds those of this thread meanwhile.
        HindsightCalls fresh = begin(thread, pauses);
        LOCK.acquire();
        try {
            fresh.next = VIRTUAL[at];
            return VIRTUAL[at] = fresh;
        } finally {
            LOCK.held = 0;
        }
    }

    /** They are counted from here on, after so many pauses; there was none since they were last seen. */
    void count(int pauses) {
        this.pauses = pauses;
        counted = pauses;
    }

    /** Whether they had been counted since the last one of so many pauses; they are no more. */
    boolean wereCounted(int pauses) {
        boolean were = counted == pauses;
        counted = -1;
        return were;
    }

    /** The thread has ended: whether the recording was to stop with a call of which no end was told. */
    boolean wereEnding(int pauses) {
        return counted == pauses;
    }

    /** A virtual thread has ended; its calls, or null. */
    static HindsightCalls remove(long thread) {
        int at = (int) thread & VIRTUAL.length - 1;
        LOCK.acquire();
        try {
            HindsightCalls before = null;
            for (HindsightCalls calls = VIRTUAL[at]; calls != null; calls = calls.next) {
                if (calls.thread == thread) {
                    if (before == null) {
                        VIRTUAL[at] = calls.next;
                    } else {
                        before.next = calls.next;
                    }
                    return calls;
                }
                before = calls;
            }
            return null;
        } finally {
            LOCK.held = 0;
        }
    }
}
