package dev.hindsight.worker;

import java.util.Arrays;

/**
 * The basic blocks of the program that have run in this JVM, as its rewritten classes report them.
 *
 * <p>Here an endless thread can be stopped as well: while it is to stop, all blocks count as new,
 * and the next one throws an exception. A running program pays nothing more for it.
 */
public final class Cover {
    private static final int[] NONE = {};
    private static final boolean[] NOTHING = {};

    /**
     * Whether each block has run, by its number. It is racy on purpose: a block may be reported
     * twice.
     */
    private static boolean[] ran = new boolean[1 << 12];
    /** The blocks that have run for the first time since they were last taken. */
    private static int[] fresh = new int[64];
    private static int count;
    /** The thread that is to stop, and the blocks that had run before. */
    private static Thread stopping;
    private static boolean[] before;
    /**
     * Whether a thread was stopped in an initializer of a class, which this JVM does not run again.
     */
    private static boolean isBroken;

    private Cover() {}

    /** Stops a thread. */
    private static final class Stopped extends ThreadDeath {
        private static final long serialVersionUID = 1;
    }

    /** From now on, this thread runs no basic block of the program any more. */
    static synchronized void stop(Thread thread) {
        if (stopping == null) {
            stopping = thread;
            before = ran;
            ran = NOTHING;
        }
    }

    static synchronized boolean isStopping() {
        return stopping != null;
    }

    /** Whether the stopped thread has left the JVM in a state with which others can go on. */
    static synchronized boolean goOn() {
        stopping = null;
        ran = before;
        before = null;
        return !isBroken;
    }

    /** Called when a block begins. */
    public static void cover(int block) {
        boolean[] all = ran;
        if (block >= all.length || !all[block]) {
            first(block);
        }
    }

    private static synchronized void first(int block) {
        if (stopping != null) {
            if (Thread.currentThread() != stopping) {
                return;
            }
            Stopped stopped = new Stopped();
            for (StackTraceElement frame : stopped.getStackTrace()) {
                isBroken |= frame.getMethodName().equals("<clinit>");
            }
            throw stopped;
        }
        if (block >= ran.length) {
            ran = Arrays.copyOf(ran, Math.max(block + 1, 2 * ran.length));
        }
        if (count == fresh.length) {
            fresh = Arrays.copyOf(fresh, 2 * count);
        }
        fresh[count++] = block;
        ran[block] = true;
    }

    /**
     * Takes the blocks that ran for the first time since the last call, or since what ran them was
     * left out.
     */
    static synchronized int[] take() {
        int[] taken = count == 0 ? NONE : Arrays.copyOf(fresh, count);
        count = 0;
        return taken;
    }

    /**
     * Leaves out what ran these blocks: no test is made of it, and the next to run them counts as
     * the first.
     */
    static synchronized void leave() {
        for (int i = 0; i < count; i++) {
            ran[fresh[i]] = false;
        }
        count = 0;
    }
}
