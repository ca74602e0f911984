import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Threads that share objects under locks, each with a sequence of its own. */
public class Threads {
    static int total;
    int count;
    Object last;

    synchronized void add(Object by) {
        count++;
        last = by;
        synchronized (Threads.class) {
            total = total + 1;
        }
    }

    static int depth(int n) {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static void work(Threads shared, int number, CountDownLatch start) {
        try {
            start.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        int[] own = new int[3];
        for (int i = 0; i < 50; i++) {
            own[i % 3] += depth(i % 5);
            shared.add(own);
            if (i % 10 == 0) {
                try {
                    fail(number, i);
                } catch (IllegalStateException e) {
                    own[0]--;
                }
            }
        }
    }

    static void fail(int number, int i) {
        throw new IllegalStateException(number + " " + i);
    }

    public static Object run() throws Exception {
        int threads = Integer.getInteger("threads", 4);
        Threads shared = new Threads();
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            all.add(new Thread(() -> work(shared, number, start), "worker-" + i));
        }
        for (Thread thread : all) {
            thread.start();
        }
        start.countDown();
        for (Thread thread : all) {
            thread.join();
        }
        return shared.count + " " + total;
    }

    public static void main(String[] args) throws Exception {
        System.out.println(run());
    }
}
