import java.util.concurrent.CountDownLatch;

class Changing {
    static int helper(int[] a, int i) {
        return a[i];
    }

    static int run(String version, int index, CountDownLatch entered, CountDownLatch redefined) {
        entered.countDown();
        try {
            redefined.await();
        } catch (InterruptedException e) {
            return 0;
        }
        return helper(new int[] {1, 2, 3}, index);
    }
}
