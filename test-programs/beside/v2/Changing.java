import java.util.concurrent.CountDownLatch;

class Changing {
    // The methods have changed places, and the parameters are overwritten.
    static int run(String version, int index, CountDownLatch entered, CountDownLatch redefined) {
        version = version + " version";
        index = 2 * index;
        entered = redefined;
        return helper(new int[index / 16], index);
    }

    static int helper(int[] a, int i) {
        i++;
        return a[i];
    }
}
