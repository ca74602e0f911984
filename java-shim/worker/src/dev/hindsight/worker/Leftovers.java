package dev.hindsight.worker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;

/** Threads that the program has started and that have not ended: with many, a JVM is of no use. */
final class Leftovers {
    /** Threads that may be left, if they wait: each keeps some memory, and what it has is kept, too. */
    private static final int MAX = 200;
    /**
     * Nanoseconds that one of them may be found busy each time: any is so when it begins or ends, and waits for a
     * processor to do so.
     */
    private static final long MAX_BUSY = 50_000_000;

    private final int before = active();
    /** Since when those that were busy the last time have always been, by their numbers. */
    private Map<Long, Long> busy = Map.of();
    private int last;
    private boolean isMore;

    /** How many threads there are, those of the pool that all share included. */
    static int active() {
        return Thread.activeCount() + VirtualThreads.all().size();
    }

    /** Whether there were more of them the last time than the time before. */
    boolean areMore() {
        return isMore;
    }

    /** Whether another JVM should go on; to be asked when nothing of the program should run any more. */
    boolean areTooMany() {
        int left = active() - before;
        if (left > 0 && (left > last || !busy().isEmpty())) {
            // They may be about to end. Those that have waited since another sequence are not.
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                // By one of them.
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

    /** Whether any of them, or of the pool that all share, runs now. */
    boolean areAnyBusy() {
        return ForkJoinPool.commonPool().hasQueuedSubmissions() || !busy(true).isEmpty();
    }

    /** Without those of the pool that all share. */
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

    /** Those that are busy now, and since when. */
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
