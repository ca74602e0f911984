/** What the golden listing of traces shows: one method for each kind of probe. */
class TracedListing {
    long wide;
    static Object shared;

    class Inner {
        int sum() {
            return (int) wide;
        }
    }

    TracedListing(TracedListing other) {
        wide = other.wide;
    }

    static double[] writes(Object[] array, double[] wides, int at) {
        shared = array[at];
        array[at] = shared;
        wides[at] = wides[0];
        return wides.clone();
    }

    static int copies(int[] from, long a, float b, String c) {
        try {
            System.arraycopy(from, 0, from, 1, 2);
            return from.length;
        } catch (RuntimeException e) {
            return -1;
        }
    }

    static Object held(Object lock) {
        synchronized (lock) {
            return lock.toString();
        }
    }
}
