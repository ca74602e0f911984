package dev.hindsight.worker;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Tells when something that runs on one thread takes too long.
 *
 * <p>What counts is the processor time of the thread, for on a busy machine wall time says nothing; and
 * the time for which it waits without a break, for then it uses no processor.
 */
final class Watch {
    /** Waiting counts half. */
    private static final int WAITING = 2;
    /** So does what all threads together use: the collector's, where memory is short. */
    private static final int TOGETHER = 2;
    /** Of one that is in native code and neither computes nor waits, as far as the JVM knows. */
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

    /** Sets how long what begins next may take. */
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

    /** Milliseconds of processor time until now; to be asked on the thread itself. */
    int used() {
        return (int) Math.min(Integer.MAX_VALUE, (threads.getCurrentThreadCpuTime() - startedCpu) / 1_000_000);
    }

    /** Milliseconds until now, with those that it has waited. */
    int lasted() {
        return (int) Math.min(Integer.MAX_VALUE, (System.nanoTime() - startedWall) / 1_000_000);
    }

    /** Whether it is too late; to be asked often. */
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
