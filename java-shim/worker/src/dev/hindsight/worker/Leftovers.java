package dev.hindsight.worker;

/** Threads that the program has started and that have not ended: with many, a JVM is of no use. */
final class Leftovers {
    /** Threads that may be left, if they wait: each keeps some memory, and what it has is kept, too. */
    private static final int MAX = 200;
    /** Times in a row that some of them may be found busy. */
    private static final int MAX_BUSY = 3;

    private final int before = Thread.activeCount();
    private int busy;
    private int last;
    private boolean isMore;

    /** Whether there were more of them the last time than the time before. */
    boolean areMore() {
        return isMore;
    }

    /** Whether another JVM should go on; to be asked when nothing of the program should run any more. */
    boolean areTooMany() {
        int left = Thread.activeCount() - before;
        if (left > 0 && (left > last || isAnyBusy())) {
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
        if (left <= 0) {
            busy = 0;
            return false;
        }
        busy = isAnyBusy() ? busy + 1 : 0;
        return left > MAX || busy >= MAX_BUSY;
    }

    /** Without those of the pool that all share. */
    private static int count() {
        Thread[] threads = new Thread[2 * Thread.activeCount() + 8];
        int all = Thread.enumerate(threads);
        int count = 0;
        for (int i = 0; i < all; i++) {
            count += isShared(threads[i].getName()) ? 0 : 1;
        }
        return count;
    }

    private static boolean isShared(String name) {
        return name.startsWith("ForkJoinPool.commonPool-");
    }

    private static boolean isAnyBusy() {
        Thread[] threads = new Thread[2 * Thread.activeCount() + 8];
        int count = Thread.enumerate(threads);
        for (int i = 0; i < count; i++) {
            Thread thread = threads[i];
            String name = thread.getName();
            boolean isOurs = thread == Thread.currentThread()
                    || name.startsWith("hindsight-")
                    || isShared(name);
            if (!isOurs && thread.getState() == Thread.State.RUNNABLE) {
                return true;
            }
        }
        return false;
    }
}
