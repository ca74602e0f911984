package dev.hindsight.worker;

import java.util.Arrays;

/** Which basic blocks of the program have run in this JVM: its rewritten classes tell. */
public final class Cover {
    private static final int[] NONE = {};

    /** By the number of the block. Racy on purpose: a block may be told twice. */
    private static boolean[] ran = new boolean[1 << 12];
    /** Those that ran for the first time since they were last asked for. */
    private static int[] fresh = new int[64];
    private static int count;

    private Cover() {}

    /** A block begins. */
    public static void cover(int block) {
        boolean[] all = ran;
        if (block >= all.length || !all[block]) {
            first(block);
        }
    }

    private static synchronized void first(int block) {
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
