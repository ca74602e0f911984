package dev.hindsight.worker;

import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** Work that tests leave behind: in hooks, in the common pool, and in timers. */
final class Later {
    /** The nanoseconds for which it is waited for when all tests have ended. */
    private static final long MOST = 2_000_000_000L;
    private static final long EACH = 10_000_000;
    /**
     * How often in a row nothing must be found where threads have come to be, which may not have
     * got to it yet.
     */
    private static final int CALM = 6;

    private final int before = threads().size();

    /**
     * Lets it be done, as far as that does not take too long. To be called when the JVM is about to
     * end.
     */
    void await() {
        long end = System.nanoTime() + MOST;
        for (Thread hook : Hooks.ofInitialisers()) {
            try {
                hook.start();
            } catch (IllegalThreadStateException e) {
                continue; // The JVM does not mind either.
            }
            while (hook.isAlive() && System.nanoTime() < end) {
                sleep();
            }
        }
        int calm = threads().size() > before ? CALM : 1;
        for (int left = calm; left > 0 && System.nanoTime() < end;) {
            left = isAny() ? calm : left - 1;
            if (left > 0) {
                sleep();
            }
        }
    }

    private static void sleep() {
        try {
            TimeUnit.NANOSECONDS.sleep(EACH);
        } catch (InterruptedException e) {
            // This thread was interrupted by the work for which it waits.
        }
    }

    private static Map<Thread, StackTraceElement[]> threads() {
        return Thread.getAllStackTraces();
    }

    private static boolean isAny() {
        ForkJoinPool shared = ForkJoinPool.commonPool();
        if (shared.hasQueuedSubmissions() || !shared.isQuiescent()) {
            return true;
        }
        for (Map.Entry<Thread, StackTraceElement[]> one : threads().entrySet()) {
            Thread thread = one.getKey();
            boolean isOurs = thread.getName().startsWith("hindsight-");
            if (!isOurs && thread.getState() == Thread.State.TIMED_WAITING && isToGoOn(one.getValue())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a thread in a timed wait has something to do afterwards: it sleeps, or belongs to a
     * timer. Threads of pools wait in this way to end.
     */
    private static boolean isToGoOn(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            switch (frame.getClassName()) {
                case "java.util.TimerThread":
                case "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue":
                case "java.util.concurrent.DelayQueue":
                case "java.util.concurrent.DelayScheduler":
                    return true;
                case "java.lang.Thread":
                    if (frame.getMethodName().startsWith("sleep")) {
                        return true;
                    }
                    break;
                default:
                    break;
            }
        }
        return false;
    }
}
