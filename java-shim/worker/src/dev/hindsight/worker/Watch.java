package dev.hindsight.worker;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Detects that work on one thread takes too long.
 *
 * <p>It counts the processor time of the thread, because on a busy machine wall time says nothing;
 * and the time for which the thread waits without a break, in which it uses no processor.
 */
final class Watch {
    /** The factor for waiting, which counts half. */
    private static final int WAITING = 2;
    /**
     * The factor for the time of all threads together, which includes the collector's when memory
     * is short.
     */
    private static final int TOGETHER = 2;
    /**
     * The factor for a thread in native code that neither computes nor waits, as far as the JVM
     * knows.
     */
    private static final int STUCK = 15;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean system =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final Thread thread;
    private volatile long limit;
    private volatile long startedWall;
    private volatile long startedCpu;
    private volatile long startedTogether;
    private volatile long ranLast;

    Watch(Thread thread, long milliseconds) {
        this.thread = thread;
        limit(milliseconds);
    }

    /** Sets the limit for what begins next, in milliseconds. */
    void limit(long milliseconds) {
        limit = milliseconds * 1_000_000;
    }

    /** Begins anew; to be called on the thread itself. */
    void start() {
        startedWall = System.nanoTime();
        ranLast = startedWall;
        startedTogether = system.getProcessCpuTime();
        startedCpu = threads.getCurrentThreadCpuTime();
    }

    /** The processor time so far, in milliseconds; to be called on the thread itself. */
    int used() {
        return (int) Math.min(Integer.MAX_VALUE, (threads.getCurrentThreadCpuTime() - startedCpu) / 1_000_000);
    }

    /** The milliseconds so far, including those spent waiting. */
    int lasted() {
        return (int) Math.min(Integer.MAX_VALUE, (System.nanoTime() - startedWall) / 1_000_000);
    }

    /** Whether the limit is exceeded; to be called often. */
    boolean isLate() {
        long now = System.nanoTime();
        if (thread.getState() == Thread.State.RUNNABLE) {
            ranLast = now;
        }
        return threads.getThreadCpuTime(thread.getId()) - startedCpu >= limit
                || system.getProcessCpuTime() - startedTogether >= TOGETHER * limit
                || now - ranLast >= WAITING * limit
                || now - startedWall >= STUCK * limit;
    }
}
