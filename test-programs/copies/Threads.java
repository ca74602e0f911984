import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes of several threads, put in order by everything that Java has for it. Each frame checks that
 * it sees what was there at its entry.
 */
public class Threads {
    static class Shared {
        int value;
        Shared next;
        final AtomicInteger count = new AtomicInteger();
        volatile boolean ready;
        boolean done;
    }

    static boolean virtual;

    static Thread start(Runnable body) throws Exception {
        if (virtual) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        }
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Where there is one processor, the other thread is waited for in vain otherwise. */
    static void rest() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void check(Shared shared, int expected) {
        if (shared.next.value != expected) {
            throw new AssertionError(shared.next.value + " instead of " + expected);
        }
    }

    /** A thread that is started and joined, and then a write of the own with nothing between. */
    static void joined(Shared shared) throws Exception {
        check(shared, 0);
        Thread thread = start(() -> shared.next.value += 10);
        thread.join();
        shared.next.value -= 10;
        counted(shared);
    }

    /** Two threads that count one number up; what orders them is the number itself. */
    static void counted(Shared shared) throws Exception {
        check(shared, 0);
        if (shared.count.get() != 0) {
            throw new AssertionError(shared.count + " instead of 0");
        }
        Thread other = start(() -> {
            while (shared.count.get() < 7) {
                if (shared.count.get() % 2 == 0) {
                    shared.count.incrementAndGet();
                }
                rest();
            }
        });
        while (shared.count.get() < 6) {
            if (shared.count.get() % 2 == 1) {
                shared.count.incrementAndGet();
            }
            rest();
        }
        other.join();
        initialized(shared);
    }

    /** Has another thread initialise it. */
    static class Once {
        static final int VALUE;

        static {
            now.next.value++;
            VALUE = 1;
        }
    }

    static Shared now;

    /** A class that another thread initialises: this one waits for it, or finds it done. */
    static void initialized(Shared shared) throws Exception {
        check(shared, 0);
        now = shared;
        Thread other = start(() -> shared.done = Once.VALUE == 0);
        int one = Once.VALUE;
        shared.next.value -= one;
        other.join();
        queued(shared);
    }

    /** A thread that lives on and is handed work through a queue. */
    static void queued(Shared shared) throws Exception {
        check(shared, 0);
        shared.next.value = 1;
        handed(shared);
    }

    static void handed(Shared shared) throws Exception {
        check(shared, 1);
        SynchronousQueue<Runnable> queue = new SynchronousQueue<>();
        start(() -> {
            try {
                while (true) {
                    queue.take().run();
                }
            } catch (InterruptedException e) {
                // Over.
            }
        });
        handedOver(shared, queue, 3);
    }

    static void handedOver(Shared shared, SynchronousQueue<Runnable> queue, int depth) throws Exception {
        check(shared, 4 - depth);
        if (depth == 0) {
            locked(shared);
            return;
        }
        queue.put(() -> shared.next.value++);
        SynchronousQueue<String> done = new SynchronousQueue<>();
        queue.put(() -> {
            try {
                done.put("done");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        done.take();
        handedOver(shared, queue, depth - 1);
    }

    /** A thread that waits for a lock. */
    static void locked(Shared shared) throws Exception {
        check(shared, 4);
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        Thread other = start(() -> {
            lock.lock();
            try {
                shared.next.value++;
                shared.done = true;
            } finally {
                lock.unlock();
            }
        });
        lockedWithin(shared, lock);
    }

    static void lockedWithin(Shared shared, ReentrantLock lock) throws Exception {
        check(shared, 4);
        boolean done = false;
        if (!lock.isHeldByCurrentThread()) {
            lock.lock();
        }
        while (!done) {
            lock.unlock();
            // Thousands of rounds would overrun the log.
            rest();
            lock.lock();
            done = shared.done;
        }
        lock.unlock();
        flagged(shared);
    }

    /** A thread that waits for a volatile field. */
    static void flagged(Shared shared) throws Exception {
        check(shared, 5);
        shared.ready = false;
        shared.done = false;
        start(() -> {
            while (!shared.ready) {
                rest();
            }
            shared.next.value++;
            synchronized (shared) {
                shared.done = true;
            }
        });
        flaggedWithin(shared);
    }

    static void flaggedWithin(Shared shared) throws Exception {
        check(shared, 5);
        shared.ready = true;
        boolean done = false;
        while (!done) {
            rest();
            synchronized (shared) {
                done = shared.done;
            }
        }
        raised(shared);
    }

    /** The same where nothing else puts the threads in order, and the other has written before. */
    static void raised(Shared shared) throws Exception {
        check(shared, 6);
        shared.ready = false;
        Shared own = new Shared();
        Thread other = start(() -> {
            own.value++;
            own.ready = true;
            while (!shared.ready) {
                Thread.onSpinWait();
            }
            shared.next.value++;
        });
        while (!own.ready) {
            rest();
        }
        raisedWithin(shared, other);
    }

    static void raisedWithin(Shared shared, Thread other) throws Exception {
        check(shared, 6);
        shared.ready = true;
        other.join();
        end(shared);
    }

    static void end(Shared shared) {
        check(shared, 7);
        shared.next.value = 100;
        throw new IllegalStateException();
    }

    static void body() throws Exception {
        Shared shared = new Shared();
        shared.next = new Shared();
        joined(shared);
    }

    public static void main(String[] args) throws Exception {
        virtual = args.length > 0;
        if (virtual) {
            start(() -> {
                try {
                    body();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }).join();
        } else {
            body();
        }
    }
}
