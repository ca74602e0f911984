// exit: 0

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Threads of a pool die of exceptions too; what the pool catches is no failure. */
public class Pools {
    static void job(String what) {
        throw new UnsupportedOperationException(what);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool =
                Executors.newFixedThreadPool(
                        2,
                        task -> {
                            Thread thread = new Thread(task, "worker");
                            thread.setUncaughtExceptionHandler((t, e) -> {});
                            return thread;
                        });
        pool.execute(() -> job("executed"));
        pool.submit(() -> job("submitted, so kept in its future"));
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
    }
}
/* crashes
java.lang.UnsupportedOperationException in thread worker, uncaught
  Pools.job:10 what="executed"
  Pools.lambda$main$:22
*/
