// needs: 21
// jvm: -Xmx96m
// exit: 0

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Hundreds of thousands of virtual threads that each catch an exception cost no memory to speak of. */
public class Threads {
    static int fail(String s) {
        return s.length();
    }

    public static void main(String[] args) {
        AtomicInteger caught = new AtomicInteger();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 200_000; i++) {
                executor.execute(
                        () -> {
                            try {
                                fail(null);
                            } catch (NullPointerException e) {
                                caught.incrementAndGet();
                            }
                        });
            }
        }
        System.out.println(caught);
    }
}
