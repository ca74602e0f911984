package dev.hindsight.replay;

/** The reason why an object cannot be restored; references to it become null. */
final class Hole extends Exception {
    /**
     * The latest instance. It keeps C2 from merging several of them where they are caught, on which
     * the C2 of JDK 25.0.3 has crashed twice (reduction of allocation merges).
     */
    static Hole latest;

    private static final long serialVersionUID = 1L;

    /**
     * Whether the cause is in the running classes and not in the recording, which justifies an
     * exception.
     */
    final boolean differs;

    Hole(String reason) {
        this(reason, false);
    }

    Hole(String reason, boolean differs) {
        super(reason, null, false, false);
        latest = this;
        this.differs = differs;
    }
}
