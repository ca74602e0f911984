package dev.hindsight.worker;

/** Thrown when the program attempts what it must not do here. */
public final class Blocked extends SecurityException {
    private static final long serialVersionUID = 1;

    Blocked(String what) {
        super("blocked by hindsight: " + what);
    }
}
