package java.lang;

/**
 * The calls that are going on in a thread, below the outermost one that may be recorded or not.
 *
 * <p>A platform thread's is in its tracer. Virtual threads move from one to another, so theirs are in a
 * table, from their first event to their end.
 */
final class HindsightCalls {
    /** Deeper calls are not told apart, nor are those for which there is no memory. */
    private static final int MOST = 1 << 20;

    private static final HindsightLock LOCK = new HindsightLock();
    private static final HindsightCalls[] VIRTUAL = new HindsightCalls[1 << 14];

    /** Whether the outermost call is one that is not recorded. */
    boolean skips = true;

    /** Calls that are going on of methods with whose end the recording stops. */
    int ending;

    private int[] methods = new int[16];
    private int depth;

    /** Whether there may be calls that are deeper than those that are told apart. */
    private boolean deeper;

    /** The pauses that there had been when the thread was last seen. */
    private int pauses;

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

    boolean isEmpty() {
        return depth == 0;
    }

    void push(int method) {
        if (depth < methods.length || grow()) {
            methods[depth++] = method;
        } else {
            deeper = true;
        }
    }

    /** Makes room for more calls; where there is none, they are deeper than those that are told apart. */
    private boolean grow() {
        if (depth == MOST || HindsightMemory.isShort()) {
            return false;
        }
        long began = 0;
        try {
            began = HindsightMemory.begin();
            int[] more = new int[2 * depth];
            for (int i = 0; i < depth; i++) {
                more[i] = methods[i];
            }
            methods = more;
            return true;
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            return false;
        }
    }

    /**
     * Ends the innermost call of a method and what is deeper; with {@code caught} only what is deeper. A
     * method that is not here began before all that are, so that they have ended; or it is one of those that
     * are too deep, and nothing has.
     */
    void popTo(int method, boolean caught) {
        int at = depth;
        while (at > 0 && methods[at - 1] != method) {
            at--;
        }
        if (at == 0 && deeper) {
            return;
        }
        depth = caught || at == 0 ? at : at - 1;
        deeper &= depth > 0;
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
        depth = 0;
        deeper = false;
        ending = 0;
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

    /** A virtual thread has ended. */
    static void remove(long thread) {
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
                    return;
                }
                before = calls;
            }
        } finally {
            LOCK.held = 0;
        }
    }
}
