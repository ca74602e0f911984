package java.lang;

/**
 * Whether probes may allocate. Where the heap is full, each try costs a collection of all of it, or two, and a
 * program that goes on without allocating would stand still. So after one that has failed probes do without for a
 * while, which is long against what the tries cost.
 */
final class HindsightMemory {
    /** What probes fail with that do not even try. */
    static final OutOfMemoryError NONE = new OutOfMemoryError("probes do without for a while");

    /** How long nothing is tried, against the time that the last try took. */
    private static final int REST = 20;

    private static final long LEAST_REST = 100_000_000;
    private static final long MOST_REST = 30_000_000_000L;

    /** When the next try may be, by {@link System#nanoTime}; 0 while memory has never been short. */
    private static volatile long until;

    private HindsightMemory() {}

    /** Whether it is too early for another try. */
    static boolean isShort() {
        long until = HindsightMemory.until;
        return until != 0 && System.nanoTime() - until < 0;
    }

    /**
     * Called before probes allocate; returns when that was, for {@link #ranOut}. Who fails by not even trying, and
     * may do so often, asks {@link #isShort} first: that throws nothing.
     *
     * @throws OutOfMemoryError {@link #NONE} if it is too early
     */
    static long begin() {
        long until = HindsightMemory.until;
        if (until == 0) {
            return 0;
        }
        long now = System.nanoTime();
        if (now - until < 0) {
            throw NONE;
        }
        return now;
    }

    /** A probe has failed, whose try began then; 0 if that is not known. */
    static void ranOut(Throwable failure, long began) {
        if (failure instanceof OutOfMemoryError && failure != NONE) {
            long now = System.nanoTime();
            long took = began == 0 ? 0 : now - began;
            long next = now + Math.min(Math.max(REST * took, LEAST_REST), MOST_REST);
            until = next == 0 ? 1 : next;
        }
    }
}
