package later;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers letters, when another thread comes to it. */
public class Desk {
    private final ExecutorService clerk = Executors.newSingleThreadExecutor(Desk::daemon);
    private volatile int answered;
    private volatile int filed;

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "clerk");
        thread.setDaemon(true);
        return thread;
    }

    public void answer(int letters) {
        CompletableFuture.runAsync(() -> answered += letters);
    }

    public int answered() {
        return answered;
    }

    public void file(int letters) {
        clerk.execute(() -> filed += letters);
    }

    public int filed() {
        return filed;
    }
}
