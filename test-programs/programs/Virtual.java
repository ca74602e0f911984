// needs: 21
// exit: 0

/** Virtual threads die of exceptions as others do. */
public class Virtual {
    static void fail(int n) {
        Object[] a = new Integer[1];
        a[0] = "text " + n;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread =
                Thread.ofVirtual()
                        .name("virtual one")
                        .uncaughtExceptionHandler((t, e) -> {})
                        .unstarted(
                                () -> {
                                    try {
                                        Thread.sleep(5);
                                    } catch (InterruptedException e) {
                                        return;
                                    }
                                    fail(4);
                                });
        thread.start();
        thread.join();
    }
}
/* crashes
java.lang.ArrayStoreException in virtual thread virtual one, uncaught
  Virtual.fail:8 n=4
  Virtual.lambda$main$:23
*/
