// exit: 1

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What a task throws in another thread comes wrapped to who asks for its result, with its frames. */
public class Results {
    static int parse(String text, int[] a) {
        return Integer.parseInt(text) + a.length;
    }

    static int task(String text) {
        return parse(text, new int[2]);
    }

    static int result(Future<Integer> future) throws Exception {
        return future.get();
    }

    /** The same object that the task has thrown, unwrapped and wrapped again. */
    static void rewrapped(Future<Integer> future) throws Exception {
        try {
            future.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("no result", e.getCause());
        }
    }

    static void thread(String name, Future<Integer> future) throws InterruptedException {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                rewrapped(future);
                            } catch (RuntimeException e) {
                                throw e;
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        },
                        name);
        thread.setUncaughtExceptionHandler((t, e) -> {});
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        try {
            thread("a completable", CompletableFuture.supplyAsync(() -> task("one"), pool));
            result(pool.submit(() -> task("two")));
        } finally {
            pool.shutdown();
        }
    }
}
/* crashes
java.lang.IllegalStateException <- java.lang.NumberFormatException in thread a completable, uncaught
  Results.rewrapped:28 future=CompletableFuture
  Results.lambda$thread$:37 future=CompletableFuture
  Results.parse:12 (cause 1) text="one" a=[I(8 bytes)
  Results.task:16 (cause 1) text="one"
  Results.lambda$main$:53 (cause 1)
java.util.concurrent.ExecutionException <- java.lang.NumberFormatException in thread main, uncaught
  Results.result:20 future=FutureTask
  Results.main:54 args=[]
  Results.parse:12 (cause 1) text="two" a=[I(8 bytes)
  Results.task:16 (cause 1) text="two"
  Results.lambda$main$:54 (cause 1)
*/
