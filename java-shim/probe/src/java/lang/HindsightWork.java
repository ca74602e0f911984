package java.lang;

import java.util.concurrent.locks.LockSupport;

/**
 * The agent's own thread for work for which the program must not wait.
 *
 * <p>It waits in Java, not in native code: a JVM that shuts down waits 300 ms for threads that are
 * in native code.
 */
final class HindsightWork {
    private static volatile Thread worker;

    private HindsightWork() {}

    /** The body of that thread; does not return. */
    static void workForever() {
        worker = Thread.currentThread();
        while (true) {
            long millis = work();
            if (millis < 0) {
                LockSupport.park();
            } else if (millis > 0) {
                LockSupport.parkNanos(millis * 1_000_000);
            }
            // Some programs interrupt every thread; that is not meant for us.
            Thread.interrupted();
        }
    }

    /** Signals that there is work; any thread may call it. */
    static void wake() {
        LockSupport.unpark(worker);
    }

    /**
     * Does the pending work. Returns how long to wait before the next time, or -1 to wait for
     * {@link #wake}.
     */
    private static native long work();
}
