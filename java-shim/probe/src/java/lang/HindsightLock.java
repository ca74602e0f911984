package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * A lock to spin on, for a few instructions. A virtual thread that waited for a monitor could go on with
 * another carrier, in the middle of an event.
 */
class HindsightLock {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long HELD = U.objectFieldOffset(HindsightLock.class, "held");

    /** Tries that take a second at least. */
    private static final int PATIENCE = 1 << 26;

    private volatile int held;

    final void acquire() {
        int tries = 0;
        while (!U.compareAndSetInt(this, HELD, 0, 1)) {
            if (++tries % 256 == 0) {
                HindsightTracer.pause();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Acquires it; after a second or so, from a thread that will not give it back: one whose stack has
     * ended in between. Where two hold it then, no more may depend on it than what is written down.
     */
    final void acquireOrTakeOver() {
        for (int tries = 0; !U.compareAndSetInt(this, HELD, 0, 1); tries++) {
            if (tries % 256 != 255) {
                Thread.onSpinWait();
            } else if (tries < PATIENCE) {
                HindsightTracer.pause();
            } else {
                return;
            }
        }
    }

    final boolean isHeld() {
        return held != 0;
    }

    final void release() {
        held = 0;
    }
}
