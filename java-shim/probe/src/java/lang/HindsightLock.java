package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * A lock to spin on, for a few instructions; probes take no monitors. Since JDK 24 a virtual thread that waits for
 * one leaves its carrier. It may go on with another, in the middle of an event of a trace; and where its stack is
 * about to end, HotSpot dies of putting it back.
 */
class HindsightLock {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long HELD = U.objectFieldOffset(HindsightLock.class, "held");

    /**
     * Not 0 while it is held. To set it to 0 lets it go; there is no method for that, for where the stack ends
     * there may be no room for a call.
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

    /** Lets other threads of the process run; a virtual one stays on its carrier. Called by the agent, too. */
    static native void pause();
}
