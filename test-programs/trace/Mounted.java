import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads, each with a sequence of its own that all others interrupt: they leave their carriers in
 * every way there is, in the middle of calls, constructors and handlers, and go on with others.
 */
public class Mounted {
    static final int THREADS = 8;
    static int total;
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();

    /** Its constructor's fields come before it is bound, and it is not bound before others have run. */
    static class Base {
        final int number;

        Base(int number) {
            leave(number);
            if (number % 7 == 6) {
                throw new IllegalStateException("not " + number);
            }
            this.number = number;
        }
    }

    static class Made extends Base {
        long doubled;
        Object last = this;

        Made(int number) {
            super(pass(number));
            doubled = 2L * number;
            leave(number + 1);
        }

        /** Captures both before its superclass's constructor is called. */
        Base inner(Object with) {
            return new Base(number % 5) {
                Object held = with;

                @Override
                public String toString() {
                    return held + " " + doubled;
                }
            };
        }
    }

    record Pair(int number, Object of) {}

    enum Way {
        YIELD,
        SLEEP,
        PARK,
        MONITOR,
        WAIT,
        LOCK
    }

    static int pass(int number) {
        leave(number);
        return number;
    }

    /** Lets others run, in one of the ways. */
    static void leave(int number) {
        switch (Way.values()[Math.floorMod(number, 6)]) {
            case YIELD -> Thread.yield();
            case SLEEP -> sleep();
            case PARK -> LockSupport.parkNanos(20_000);
            case MONITOR -> contend(number);
            case WAIT -> await();
            case LOCK -> locked();
        }
    }

    static void sleep() {
        try {
            Thread.sleep(0, 50_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void contend(int number) {
        synchronized (MONITOR) {
            total += number;
            Thread.yield();
        }
    }

    static synchronized void await() {
        try {
            Mounted.class.wait(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void locked() {
        LOCK.lock();
        try {
            Thread.yield();
        } finally {
            LOCK.unlock();
        }
    }

    /** Leaves its carrier at each depth, on the way down and up. */
    static int depth(int left, int[] seen) {
        leave(left);
        seen[left % seen.length]++;
        if (left == 0) {
            return 0;
        }
        int below = depth(left - 1, seen);
        Thread.yield();
        return below + 1;
    }

    static int thrown(int number, Made made) {
        try {
            try {
                leave(number);
                deep(3, number);
                return 0;
            } finally {
                leave(number + 1);
                made.doubled++;
            }
        } catch (IllegalArgumentException e) {
            leave(number + 2);
            return e.getMessage().length();
        }
    }

    static void deep(int left, int number) {
        if (left > 0) {
            deep(left - 1, number);
            return;
        }
        leave(number);
        throw new IllegalArgumentException("at " + number);
    }

    static void writes(int number) {
        long[][] grid = new long[2][3];
        Object[] all = new Object[4];
        for (int i = 0; i < 3; i++) {
            grid[i % 2][i] = number;
            all[i] = new Pair(i, grid);
            leave(number + i);
        }
        System.arraycopy(all, 0, all, 1, 3);
        Thread.yield();
        Arrays.fill(grid[1], number << 2);
        Object[] copy = all.clone();
        copy[3] = "text " + number;
        AtomicInteger own = new AtomicInteger();
        own.incrementAndGet();
        leave(number);
        own.compareAndSet(1, number);
        double half = number / 2.0;
        Runnable lambda = () -> all[0] = half;
        lambda.run();
        List.of(1, 2, 3).forEach(i -> {
            leave(i);
            copy[i] = lambda;
        });
    }

    /** A virtual thread keeps its carrier as long as it initialises a class. */
    static class Late {
        static final Made FIRST = new Made(1);

        static Object get() {
            return FIRST.last;
        }
    }

    static void work(int number, Made[] shared, CyclicBarrier together) {
        try {
            together.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        int[] seen = new int[3];
        for (int round = 0; round < 3; round++) {
            depth(4 + round, seen);
            try {
                Made made = new Made(number + round);
                made.last = made.inner("with").toString();
                shared[number] = made;
                thrown(number + round, made);
            } catch (IllegalStateException e) {
                leave(round);
                shared[number] = null;
            }
            writes(number + round);
        }
        if (number == 0) {
            Late.get();
        }
    }

    /** Gives objects to another thread, which has not seen them. */
    static void give(SynchronousQueue<Pair> to, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            to.put(new Pair(i, to));
        }
    }

    static int take(SynchronousQueue<Pair> from, int count) throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += use(from.take());
        }
        return sum;
    }

    static int use(Pair pair) {
        return pair.number();
    }

    static void interrupted(CountDownLatch about) {
        try {
            about.countDown();
            Thread.sleep(60_000);
        } catch (InterruptedException e) {
            sleep();
        }
        throw new IllegalStateException("nobody catches it");
    }

    /** Starts others, and waits for them. */
    static void parent(int left, String name) {
        if (left == 0) {
            return;
        }
        Thread child = Thread.ofVirtual().name(name + ".").unstarted(() -> parent(left - 1, name + "."));
        child.start();
        sleep();
        try {
            child.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    interface Task {
        void run() throws Exception;
    }

    static Thread thread(String name, Task task) {
        Thread thread = Thread.ofVirtual().name(name).unstarted(() -> {
            try {
                task.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.setUncaughtExceptionHandler((of, e) -> uncaught(of));
        return thread;
    }

    static void uncaught(Thread of) {
        leave(of.getName().length());
    }

    public static Object run() throws Exception {
        // What initialises classes is not left to chance.
        for (int i = 0; i < Way.values().length; i++) {
            leave(i);
        }
        Made[] shared = new Made[THREADS];
        CyclicBarrier together = new CyclicBarrier(THREADS);
        SynchronousQueue<Pair> queue = new SynchronousQueue<>();
        CountDownLatch about = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            all.add(thread("worker-" + i, () -> work(number, shared, together)));
        }
        all.add(thread("giver", () -> give(queue, 50)));
        all.add(thread("taker", () -> take(queue, 50)));
        all.add(thread("parent", () -> parent(5, "child")));
        Thread interrupted = thread("interrupted", () -> interrupted(about));
        all.add(interrupted);
        Thread platform = new Thread(() -> writes(3), "platform");
        all.add(platform);
        for (Thread thread : all) {
            thread.start();
        }
        about.await();
        interrupted.interrupt();
        for (Thread thread : all) {
            thread.join();
        }
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("task-", 0).factory())) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                int number = i;
                results.add(executor.submit(() -> pass(number)));
            }
            for (Future<Integer> result : results) {
                result.get();
            }
        }
        return shared.length;
    }
}
