/** Runs into the end of the stack, again and again, with probes at every place. */
public class Deep {
    static long sum;
    int depth;

    int down(int n) {
        depth = n;
        sum += n;
        return down(n + 1) + 1;
    }

    /** Goes on where the stack ends, and meets its end again on the way up. */
    static int careful(int n) {
        try {
            return careful(n + 1) + 1;
        } catch (StackOverflowError e) {
            try {
                return new Deep().up(3);
            } catch (StackOverflowError again) {
                return n;
            }
        }
    }

    int up(int n) {
        sum += n;
        return n == 0 ? 0 : up(n - 1);
    }

    static void mark(int number) {
        sum += number;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 60; i++) {
            mark(i);
            try {
                new Deep().down(0);
            } catch (StackOverflowError e) {
                mark(-1);
            }
            if (i % 6 == 0) {
                careful(0);
            }
        }
        mark(60);
    }
}
