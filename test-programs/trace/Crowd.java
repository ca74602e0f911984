import java.util.concurrent.CountDownLatch;

/** More virtual threads at the same time than the recorder tells apart at once, all in the middle of a call. */
public class Crowd {
    static int step(int number) {
        return number + 1;
    }

    static void work(int number, CountDownLatch here, CountDownLatch go) {
        step(number);
        here.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        step(number);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        CountDownLatch here = new CountDownLatch(count);
        CountDownLatch go = new CountDownLatch(1);
        Thread[] all = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            all[i] = Thread.ofVirtual().start(() -> work(number, here, go));
        }
        here.await();
        go.countDown();
        for (Thread thread : all) {
            thread.join();
        }
    }
}
