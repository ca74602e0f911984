import java.util.concurrent.atomic.AtomicInteger;

/** Exceptions on several threads while {@code Storm} rewrites the classes that they pass. */
public class Flying {
    /** Has another body, of the same results, in {@code v2}. */
    static class Target {
        int calls;

        int divide(int by, String label) {
            calls++;
            return label.length() / by;
        }
    }

    static int climb(Target target, int depth, int by) {
        return depth == 0 ? target.divide(by, "label") : climb(target, depth - 1, by) + 1;
    }

    public static void main(String[] args) throws Exception {
        AtomicInteger caught = new AtomicInteger();
        AtomicInteger sum = new AtomicInteger();
        Thread[] threads = new Thread[3];
        long end = System.nanoTime() + 1_000_000L * Integer.parseInt(args[0]);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                Target target = new Target();
                do {
                    for (int round = 0; round < 100; round++) {
                        try {
                            sum.addAndGet(climb(target, 10, round % 2));
                            sum.addAndGet(-15);
                        } catch (ArithmeticException e) {
                            caught.incrementAndGet();
                        }
                    }
                } while (!Storm.over
                        && (System.nanoTime() < end || Storm.redefined.get() < 4 || Storm.retransformed.get() < 300));
                System.out.println(target.calls % 100);
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum " + sum + ", caught " + (caught.get() > 0));
        // Once more while the storm blows, and once after it.
        Thread dying = new Thread(() -> climb(new Target(), 3, 0), "dying");
        dying.start();
        dying.join();
        Storm.end();
        climb(new Target(), 2, 0);
    }
}
