package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * A lock to spin on, for a few instructions. A virtual thread that waited for a monitor could go on with
 * another carrier, in the middle of an event.
 */
class HindsightLock {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long HELD = U.objectFieldOffset(HindsightLock.class, "held");

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

    final void release() {
        held = 0;
    }
}
