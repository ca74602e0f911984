import java.util.concurrent.Semaphore;

/** Virtual threads go on here and there while others fill the trace. */
public final class Torn {
    private static int sum;

    private Torn() {
    }

    private static void fill(int noise) {
        sum += noise;
    }

    private static int same(int number) throws InterruptedException {
        if (number % 5 == 0) {
            Thread.sleep(1);
        }
        return number;
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Thread filler = new Thread(() -> {
            int noise = 1;
            while (System.nanoTime() < end) {
                noise = noise * 0x9e3779b9 + 1;
                fill(noise);
            }
        });
        filler.start();
        Semaphore most = new Semaphore(20);
        while (System.nanoTime() < end) {
            most.acquire();
            Thread.startVirtualThread(() -> {
                try {
                    for (int i = 0; i < 20; i++) {
                        same(i);
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                } finally {
                    most.release();
                }
            });
        }
        most.acquire(20);
        filler.join();
    }
}
