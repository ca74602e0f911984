package dev.hindsight.worker;

/** Threads that the program has started and that have not ended: with many, a JVM is of no use. */
final class Leftovers {
    /** Threads that may be left, if they wait. */
    private static final int MAX = 4;
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
        isMore = left > last;
        last = left;
        if (left <= 0) {
            busy = 0;
            return false;
        }
        busy = isAnyBusy() ? busy + 1 : 0;
        return left > MAX || busy >= MAX_BUSY;
    }

    private static boolean isAnyBusy() {
        Thread[] threads = new Thread[2 * Thread.activeCount() + 8];
        int count = Thread.enumerate(threads);
        for (int i = 0; i < count; i++) {
            Thread thread = threads[i];
            boolean isOurs = thread == Thread.currentThread() || thread.getName().startsWith("hindsight-");
            if (!isOurs && thread.getState() == Thread.State.RUNNABLE) {
                return true;
            }
        }
        return false;
    }
}
