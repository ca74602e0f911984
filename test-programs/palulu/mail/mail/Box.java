package mail;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Letters, for which one can wait in many ways: alone, and for ever. */
public class Box {
    private final Deque<String> letters = new ArrayDeque<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();

    public void put(String letter) {
        letters.add(letter);
    }

    public int count() {
        return letters.size();
    }

    public String first() {
        return letters.peekFirst();
    }

    public synchronized String byMonitor() throws InterruptedException {
        while (letters.size() < 1000) {
            wait();
        }
        return letters.poll();
    }

    public String bySleep() throws InterruptedException {
        while (letters.size() < 1000) {
            Thread.sleep(Long.MAX_VALUE);
        }
        return letters.poll();
    }

    public String byPark() {
        while (letters.size() < 1000) {
            LockSupport.park(this);
        }
        return letters.poll();
    }

    public String byCondition() throws InterruptedException {
        lock.lock();
        try {
            while (letters.size() < 1000) {
                arrived.await();
            }
            return letters.poll();
        } finally {
            lock.unlock();
        }
    }

    public String byLatch() throws InterruptedException {
        new CountDownLatch(1).await();
        return letters.poll();
    }

    public String byQueue() throws InterruptedException {
        return new LinkedBlockingQueue<String>().take();
    }

    public String byPermit() throws InterruptedException {
        new Semaphore(0).acquire();
        return letters.poll();
    }

    public String byThread() throws InterruptedException {
        Thread.currentThread().join();
        return letters.poll();
    }
}
