package dev.hindsight.worker;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Controls what the program does in other threads during a test, since how far they get is a matter
 * of chance. In one of the JVMs they are kept waiting, in the others they are waited for, so that a
 * test that depends on them gives another result there.
 */
final class Beside {
    /** The most nanoseconds for which a test keeps them waiting. */
    private static final long MOST = 20_000_000;
    /** The nanoseconds in which a thread that was woken begins. */
    private static final long BEGINNING = 200_000;
    /**
     * How often in all a test is kept waiting for them so long. It is not the time that counts: on
     * a machine in use they get to run less, and so does the thread that waits.
     */
    private static final int TIMES = 100;

    private final Leftovers leftovers;
    private final boolean isHolding;
    private CountDownLatch held = new CountDownLatch(0);
    private int left;
    /**
     * The number of such threads when the test began: those that others have left mostly do nothing
     * for this one.
     */
    private int before;

    Beside(Leftovers leftovers) {
        this.leftovers = leftovers;
        isHolding = Program.PLACE == 0;
    }

    /**
     * Called when a test begins: its tasks for the common pool must wait, if the program has ever
     * used that pool.
     */
    void begin() {
        left = TIMES;
        before = Leftovers.active();
        ForkJoinPool shared = ForkJoinPool.commonPool();
        if (!isHolding || shared.getPoolSize() == 0) {
            return;
        }
        CountDownLatch latch = new CountDownLatch(1);
        held = latch;
        try {
            for (int number = shared.getParallelism(); number > 0; number--) {
                shared.execute(() -> await(latch));
            }
        } catch (RejectedExecutionException e) {
            // The pool has no room, and its tasks are late anyway.
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(MOST, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // The program has interrupted this, and gets less of a delay.
        }
    }

    /**
     * Called when a call of the test has returned: waits until other threads have done their part,
     * if that is short.
     */
    void called() {
        if (isHolding || left <= 0) {
            return;
        }
        if (Leftovers.active() <= before && ForkJoinPool.commonPool().isQuiescent()) {
            return;
        }
        // A thread that is interrupted does not wait.
        boolean isInterrupted = Thread.interrupted();
        do {
            LockSupport.parkNanos(BEGINNING);
            left--;
        } while (leftovers.areAnyBusy() && left > 0);
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The test has ended. */
    void end() {
        held.countDown();
    }
}
