package java.lang;

/**
 * Decides whether probes may allocate. When the heap is full, each attempt costs one or two
 * collections of all of it, and a program that continues without allocating would come to a halt.
 * So after a failed attempt probes do without memory for a while that is long against what the
 * attempts cost.
 */
final class HindsightMemory {
    /** Thrown by probes that do not even try to allocate. */
    static final OutOfMemoryError NONE = new OutOfMemoryError("probes do without for a while");

    /** How long no attempt is made, as a multiple of the duration of the last one. */
    private static final int REST = 20;

    private static final long LEAST_REST = 100_000_000;
    private static final long MOST_REST = 30_000_000_000L;

    /**
     * The earliest {@link System#nanoTime} of the next attempt; 0 while memory has never been
     * short.
     */
    private static volatile long until;

    private HindsightMemory() {}

    /** Whether it is too early for another attempt. */
    static boolean isShort() {
        long until = HindsightMemory.until;
        return until != 0 && System.nanoTime() - until < 0;
    }

    /**
     * Called before a probe allocates. Returns the time, for {@link #ranOut}. A probe that would
     * often fail here asks {@link #isShort} first, which throws nothing.
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

    /** Notes that an attempt has failed that began at this time; 0 if the time is not known. */
    static void ranOut(Throwable failure, long began) {
        if (failure instanceof OutOfMemoryError && failure != NONE) {
            long now = System.nanoTime();
            long took = began == 0 ? 0 : now - began;
            long next = now + Math.min(Math.max(REST * took, LEAST_REST), MOST_REST);
            // A rest that is longer stays so.
            long last = until;
            if (last == 0 || next - last > 0) {
                until = next == 0 ? 1 : next;
            }
        }
    }
}
