package dev.hindsight.worker;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What the program does in other threads while a test goes on: how far they have come is chance. In one place they are
 * kept waiting, in the others they are waited for, so that a test that can tell is another one there.
 */
final class Beside {
    /** Nanoseconds for which a test keeps them waiting, or is kept waiting for them, at most. */
    private static final long MOST = 20_000_000;
    /** Nanoseconds in which a thread that was woken begins. */
    private static final long BEGINNING = 200_000;

    private final Leftovers leftovers;
    private final boolean isHolding;
    private CountDownLatch held = new CountDownLatch(0);
    private long left;
    /** How many there were when the test began: what others have left mostly has nothing to do for this one. */
    private int before;

    Beside(Leftovers leftovers) {
        this.leftovers = leftovers;
        isHolding = Program.PLACE == 0;
    }

    /** A test begins: what it leaves to the pool that all share waits, if the program has ever used that. */
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
            // The pool has no room, and what it has is late anyway.
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(MOST, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // By the program, which gets less of a delay.
        }
    }

    /** A call of the test has returned: what other threads do for it is done, if that does not take long. */
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
