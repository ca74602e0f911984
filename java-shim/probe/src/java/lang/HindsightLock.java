package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * A spin lock, held for a few instructions. Probes take no monitors: since JDK 24 a virtual thread
 * that waits for a monitor leaves its carrier. It might continue on another one in the middle of an
 * event of a trace, and if its stack is about to overflow, HotSpot crashes when it puts the stack
 * back.
 */
class HindsightLock {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long HELD = U.objectFieldOffset(HindsightLock.class, "held");

    /**
     * Not 0 while the lock is held. Storing 0 releases it. There is no method for that, because at
     * the end of the stack there may be no room for a call.
     */
    volatile int held;

    final void acquire() {
        int tries = 0;
        while (!U.compareAndSetInt(this, HELD, 0, 1)) {
            if (++tries % 256 == 0) {
                pause();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Lets other threads of the process run; a virtual thread stays on its carrier. The agent calls
     * it, too.
     */
    static native void pause();
}
