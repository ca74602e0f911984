package later;

import java.util.concurrent.CompletableFuture;

/** Sends letters by another thread, and waits until they have been sent. */
public class Post {
    private volatile int sent;

    public int send(int letters) {
        CompletableFuture.runAsync(() -> sent += letters).join();
        return sent;
    }
}
