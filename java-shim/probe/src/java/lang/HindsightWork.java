package java.lang;

import java.util.concurrent.locks.LockSupport;

/**
 * The agent's own thread for what must not keep the program waiting.
 *
 * <p>It waits in Java, not in native code: a JVM that goes down waits 300 ms for threads that are in
 * native code.
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
            // Somebody interrupts every thread there is; we are not meant.
            Thread.interrupted();
        }
    }

    /** Says that there is work; on any thread. */
    static void wake() {
        LockSupport.unpark(worker);
    }

    /** Does what there is to do; how long to wait before the next time, or -1 until somebody wakes it. */
    private static native long work();
}
