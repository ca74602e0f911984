// exit: 1
// jvm: -XX:+OmitStackTraceInFastThrow

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveAction;

/**
 * One exception object, thrown again and again on one thread and caught by code that is not
 * instrumented: of all that only the last way up may be seen.
 */
public class StaleTasks {
    static final RuntimeException SHARED = new RuntimeException("shared");

    static void deep(int n) {
        if (n == 0) {
            throw SHARED;
        }
        deep(n - 1);
    }

    public static void reflected(int n) {
        deep(n);
    }

    static int swallowed(int n) {
        try {
            deep(n);
        } finally {
            return n;
        }
    }

    static class Initialized {
        static {
            deep(2);
        }

        static void touch() {}
    }

    static void future(int n) throws InterruptedException {
        FutureTask<Object> task = new FutureTask<>(() -> {
            deep(n);
            return null;
        });
        task.run();
    }

    static void completable(int n) {
        CompletableFuture.completedFuture(n).thenAccept(StaleTasks::deep);
    }

    static void forkJoin(int n) {
        new RecursiveAction() {
            @Override
            protected void compute() {
                deep(n);
            }
        }.quietlyInvoke();
    }

    static void last(String s) {
        throw SHARED;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            future(i);
            completable(i);
            forkJoin(i);
            try {
                StaleTasks.class.getMethod("reflected", int.class).invoke(null, i);
            } catch (InvocationTargetException e) {
                // Its cause is the one.
            }
            swallowed(i);
            try {
                Initialized.touch();
            } catch (LinkageError e) {
                // Its cause is the one, the first time.
            }
        }
        last("only this frame and main");
    }
}
/* crashes
java.lang.RuntimeException in thread main, uncaught
  StaleTasks.last s="only this frame and main"
  StaleTasks.main args=[]
*/
