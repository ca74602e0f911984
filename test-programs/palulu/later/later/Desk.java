package later;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers letters, when another thread comes to it. */
public class Desk {
    private final ExecutorService clerk = Executors.newSingleThreadExecutor(Desk::daemon);
    private volatile int answered;
    private volatile int filed;
    private volatile int copied;

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

    /** By a virtual thread, where there are any. */
    public void copy(int letters) throws ReflectiveOperationException {
        Runnable copying = () -> {
            long end = System.nanoTime() + 3_000_000;
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            copied += letters;
        };
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            daemon(copying).start();
            return;
        }
        start.invoke(null, copying);
    }

    public int copied() {
        return copied;
    }
}
