package dev.hindsight.replay;

/** Why an object cannot be restored; what refers to it refers to null. */
final class Hole extends Exception {
    /**
     * The latest one made. It keeps C2 from merging several of them where they are caught: on that,
     * C2 of JDK 25.0.3 has crashed twice (reduction of allocation merges).
     */
    static Hole latest;

    private static final long serialVersionUID = 1L;

    /** Whether the running classes are to blame, not the recording: worth an exception then. */
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
