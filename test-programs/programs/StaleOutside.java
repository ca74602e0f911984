// options: include=StaleOutside
// exit: 1

/**
 * One exception object, caught again and again by code that {@code include} leaves out: that code
 * hands over no frames, but what it has caught is over.
 */
public class StaleOutside {
    static final RuntimeException SHARED = new RuntimeException("shared");

    static void deep(int n) {
        if (n == 0) {
            throw SHARED;
        }
        deep(n - 1);
    }

    static void last(String s) {
        throw SHARED;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            int depth = i;
            Framework.quietly(() -> deep(depth));
        }
        Framework.aloud(() -> last("this frame, its lambda's and main's"));
    }
}

class Framework {
    static void quietly(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            // Dropped.
        }
    }

    static void aloud(Runnable task) {
        task.run();
    }
}
/* crashes
java.lang.RuntimeException in thread main, uncaught
  StaleOutside.last s="this frame, its lambda's and main's"
  StaleOutside.lambda$main$
  StaleOutside.main args=[]
*/
