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
    /** The most nanoseconds for which a test keeps them waiting, or is kept waiting for them. */
    private static final long MOST = 20_000_000;
    /** The nanoseconds in which a thread that was woken begins. */
    private static final long BEGINNING = 200_000;

    private final Leftovers leftovers;
    private final boolean isHolding;
    private CountDownLatch held = new CountDownLatch(0);
    private long left;
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
        left = MOST;
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
        long now = System.nanoTime();
        long until = now + left;
        do {
            LockSupport.parkNanos(BEGINNING);
            long before = now;
            now = System.nanoTime();
            left -= now - before;
        } while (leftovers.areAnyBusy() && now < until);
    }

    /** The test has ended. */
    void end() {
        held.countDown();
    }
}
