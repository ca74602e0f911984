package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The calls in progress in a thread, as far as they decide what is recorded.
 *
 * <p>A platform thread's calls are in its tracer. Virtual threads move between carriers, so their
 * calls are in a table, from their first event to their end.
 */
final class HindsightCalls {
    private static final HindsightLock LOCK = new HindsightLock();
    private static final HindsightCalls[] VIRTUAL = new HindsightCalls[1 << 14];

    /**
     * The number of events for which a stack that is too deep to be examined is not examined again.
     */
    private static final int PATIENCE = 64;

    /**
     * The number of fruitless looks at the stack in a row after which looks are {@link #APART}
     * events apart, because each takes microseconds.
     */
    private static final int MOST_VAIN = 64;

    private static final int APART = 1024;

    /** Whether the outermost call is not recorded. */
    boolean skips = true;

    /** The calls in progress, from the outermost one that decides whether it is recorded. */
    final HindsightNest all = new HindsightNest();

    /** The calls with whose end the recording stops, if no other thread has such a call. */
    final HindsightNest ending = new HindsightNest();

    /** The number of pauses of the recording when the thread was last seen. */
    private int pauses;

    /**
     * The value of {@link HindsightTrace#overflows} when these calls were last known to be right.
     */
    private int overflows = HindsightTrace.overflows;

    /**
     * The number of pauses when {@link #ending} was last counted among those of all threads, or -1.
     */
    private int counted = -1;

    /** Events until the next look at the stack after it has overflowed. */
    private int patience;

    /** Events until the next look at the stack because constructors may be over. */
    private int apart;

    /** The number of such looks in a row that found no call to be over. */
    private int vain;

    private final long thread;
    private HindsightCalls next;

    private HindsightCalls(long thread, int pauses) {
        this.thread = thread;
        this.pauses = pauses;
    }

    /** The calls of a thread that has recorded nothing before this number of pauses. */
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
     * Whether it is time to look at the stack, because calls listed here may be over without an
     * event: when the stack overflowed, the probes at the ends of methods stored none; and no probe
     * sees an exception that leaves a constructor from its call of another constructor, if no
     * caller sees that exception either.
     */
    @ForceInline
    boolean areDoubtful() {
        if (overflows != HindsightTrace.overflows) {
            return --patience < 0;
        }
        return (all.areUnbound() || ending.areUnbound()) && --apart < 0;
    }

    /** Notes that this constructor's call of another constructor has returned. */
    void bound(int method) {
        all.bound(method);
        ending.bound(method);
    }

    /**
     * Drops calls that are not on the stack of the current thread.
     *
     * @param entering whether a method is about to begin, which is on the stack already
     * @return whether the last call was dropped with whose end the recording stops
     */
    @DontInline
    boolean areOver(boolean entering) {
        int now = HindsightTrace.overflows;
        boolean overflowed = now != overflows;
        boolean ends = !ending.isEmpty();
        int before = all.depth() + ending.depth();
        if (!all.drop(entering) || !ending.drop(entering)) {
            patience = PATIENCE;
            apart = PATIENCE;
            return false;
        }
        if (!overflowed) {
            vain = all.depth() + ending.depth() < before ? 0 : vain + 1;
            apart = vain < MOST_VAIN ? 0 : APART;
        }
        patience = 0;
        overflows = now;
        skips |= all.isEmpty();
        return ends && ending.isEmpty();
    }

    /**
     * Notes that the thread goes on after this number of pauses of the recording. Returns whether
     * there was a pause since it was last seen; then nothing is known of its calls any more.
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

    /**
     * The calls of the running virtual thread, from the table; as {@link #begin} if it has recorded
     * nothing yet.
     */
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
        // No other thread adds this thread's calls meanwhile.
        HindsightCalls fresh = begin(thread, pauses);
        LOCK.acquire();
        try {
            fresh.next = VIRTUAL[at];
            return VIRTUAL[at] = fresh;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * Counts these calls from here on, after this number of pauses, none of which came since they
     * were last seen.
     */
    void count(int pauses) {
        this.pauses = pauses;
        counted = pauses;
    }

    /**
     * Whether they have been counted since the last of this number of pauses. They are not counted
     * any more.
     */
    boolean wereCounted(int pauses) {
        boolean were = counted == pauses;
        counted = -1;
        return were;
    }

    /**
     * Called when the thread has ended. Returns whether the recording was to stop with a call whose
     * end was not recorded.
     */
    boolean wereEnding(int pauses) {
        return counted == pauses;
    }

    /** Removes the calls of a virtual thread that has ended and returns them, or null. */
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
