package dev.hindsight.worker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;

/**
 * Threads that the program has started and that have not ended. With many of them, a JVM is of no
 * use.
 */
final class Leftovers {
    /**
     * The most waiting threads that may be left: each takes some memory, and keeps alive what it
     * holds.
     */
    private static final int MAX = 200;
    /**
     * The most nanoseconds for which one of them may be found busy each time: any thread is busy
     * when it begins or ends, and waits for a processor to do so.
     */
    private static final long MAX_BUSY = 50_000_000;

    private final int before = active();
    /**
     * By thread number, the time since when those that were busy at the last look have been busy at
     * every look.
     */
    private Map<Long, Long> busy = Map.of();
    private int last;
    private boolean isMore;

    /** The number of threads, including those of the common pool. */
    static int active() {
        return Thread.activeCount() + VirtualThreads.all().size();
    }

    /** Whether there were more of them at the last look than at the one before. */
    boolean areMore() {
        return isMore;
    }

    /**
     * Whether another JVM should go on. To be asked when nothing of the program should run any
     * more.
     */
    boolean areTooMany() {
        int left = active() - before;
        if (left > 0 && (left > last || !busy().isEmpty())) {
            // They may be about to end. Those that have waited since another sequence are not.
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                // One of them has interrupted this thread.
            }
        }
        left = left > 0 ? count() - before : left;
        isMore = left > last;
        last = left;
        busy = left > 0 ? busy() : Map.of();
        long now = System.nanoTime();
        for (long since : busy.values()) {
            if (now - since > MAX_BUSY) {
                return true;
            }
        }
        return left > MAX;
    }

    /** Whether any of them, or of the common pool, runs now. */
    boolean areAnyBusy() {
        return ForkJoinPool.commonPool().hasQueuedSubmissions() || !busy(true).isEmpty();
    }

    /** The number of threads, without those of the common pool. */
    private static int count() {
        int count = 0;
        for (Thread thread : all()) {
            count += isShared(thread.getName()) ? 0 : 1;
        }
        return count;
    }

    private static List<Thread> all() {
        Thread[] threads = new Thread[2 * Thread.activeCount() + 8];
        int count = Thread.enumerate(threads);
        List<Thread> all = new ArrayList<>(Arrays.asList(threads).subList(0, count));
        all.addAll(VirtualThreads.all());
        return all;
    }

    private static boolean isShared(String name) {
        return name.startsWith("ForkJoinPool.commonPool-");
    }

    private Map<Long, Long> busy() {
        return busy(false);
    }

    /** The threads that are busy now, each with the time since when. */
    private Map<Long, Long> busy(boolean withShared) {
        long now = System.nanoTime();
        Map<Long, Long> found = Map.of();
        for (Thread thread : all()) {
            String name = thread.getName();
            boolean isOurs = thread == Thread.currentThread()
                    || name.startsWith("hindsight-")
                    || !withShared && isShared(name);
            if (!isOurs && thread.getState() == Thread.State.RUNNABLE) {
                found = found.isEmpty() ? new HashMap<>() : found;
                found.put(thread.getId(), busy.getOrDefault(thread.getId(), now));
            }
        }
        return found;
    }
}
