import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.ArrayList;
import java.util.List;

/** Very many short virtual threads, and some that park and move to other carriers. */
public class Virtual {
    static int step(int thread, int number) {
        return thread ^ number;
    }

    static void shortOne(int thread) {
        step(thread, 0);
    }

    static void longOne(int thread) {
        for (int i = 0; i < 20; i++) {
            step(thread, i);
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                int number = i;
                executor.submit(() -> shortOne(number));
            }
            for (int i = 0; i < 50; i++) {
                int number = -1 - i;
                executor.submit(() -> longOne(number));
            }
        }
        System.out.println("done");
    }
}
