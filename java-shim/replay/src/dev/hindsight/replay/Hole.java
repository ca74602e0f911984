package dev.hindsight.replay;

/** Why an object cannot be restored; what refers to it refers to null. */
final class Hole extends Exception {
    private static final long serialVersionUID = 1L;

    /** Whether the running classes are to blame, not the recording: worth an exception then. */
    final boolean differs;

    Hole(String reason) {
        this(reason, false);
    }

    Hole(String reason, boolean differs) {
        super(reason, null, false, false);
        this.differs = differs;
    }
}
