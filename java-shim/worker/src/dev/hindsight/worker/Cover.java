package dev.hindsight.worker;

import java.util.Arrays;

/**
 * Which basic blocks of the program have run in this JVM: its rewritten classes tell.
 *
 * <p>That is also where a thread can be stopped that has no end: as long as it is to stop, all blocks are
 * taken for new ones, and one that is begins with an exception. What runs costs nothing more for it.
 */
public final class Cover {
    private static final int[] NONE = {};
    private static final boolean[] NOTHING = {};

    /** By the number of the block. Racy on purpose: a block may be told twice. */
    private static boolean[] ran = new boolean[1 << 12];
    /** Those that ran for the first time since they were last asked for. */
    private static int[] fresh = new int[64];
    private static int count;
    /** The thread that is to stop, and what has run before. */
    private static Thread stopping;
    private static boolean[] before;
    /** Whether it was stopped in an initializer of a class, which that JVM does not run again. */
    private static boolean isBroken;

    private Cover() {}

    /** What a thread is stopped by. */
    private static final class Stopped extends ThreadDeath {
        private static final long serialVersionUID = 1;
    }

    /** From now on, a thread runs no basic block of the program any more. */
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

    /** Whether the thread that was stopped has come out of it such that others can go on. */
    static synchronized boolean goOn() {
        stopping = null;
        ran = before;
        before = null;
        return !isBroken;
    }

    /** A block begins. */
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

    /** The blocks that ran for the first time since this was last called, or what they ran in was left. */
    static synchronized int[] take() {
        int[] taken = count == 0 ? NONE : Arrays.copyOf(fresh, count);
        count = 0;
        return taken;
    }

    /** Leaves what ran them out: no test comes of it, and the next that runs them is the first. */
    static synchronized void leave() {
        for (int i = 0; i < count; i++) {
            ran[fresh[i]] = false;
        }
        count = 0;
    }
}
