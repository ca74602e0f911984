package dev.hindsight;

import java.util.function.BiConsumer;

/**
 * Asks for a recording from inside the program: where a check fails, or in a handler that catches
 * everything.
 *
 * <p>Without Hindsight's agent in the JVM these methods do nothing. With it, the arguments of all
 * methods on the current thread's stack, as they were at entry, go into a crash file, from which
 * {@code hindsight junit} makes tests. The same place is stored once in a run and counted from then
 * on. The methods return normally and never throw, except in an emitted test, whose failure is to
 * get here.
 */
public final class Hindsight {
    /** Set while an emitted test runs, by the replay library. */
    private static volatile BiConsumer<String, Throwable> test;

    private Hindsight() {}

    /**
     * Records the state of this thread's methods.
     *
     * @param why what is wrong, for whoever reads the recording
     */
    public static void record(String why) {
        BiConsumer<String, Throwable> running = test;
        if (running != null) {
            running.accept(why, null);
        }
    }

    /**
     * Records an exception that the program has caught.
     *
     * @param exception what was caught
     */
    public static void record(Throwable exception) {
        BiConsumer<String, Throwable> running = test;
        if (running != null) {
            running.accept(null, exception);
        }
    }
}
