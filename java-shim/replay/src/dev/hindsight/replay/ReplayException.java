package dev.hindsight.replay;

/**
 * A recording cannot be replayed here: the crash file is damaged, or the class path is not the one
 * that was recorded.
 *
 * <p>Never thrown on behalf of the program under test, so a test that ends with it says nothing
 * about the program.
 */
public class ReplayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Says what is wrong.
     *
     * @param message what cannot be replayed, why, and what to do
     */
    public ReplayException(String message) {
        super(message);
    }

    /**
     * Says what is wrong, and what showed it.
     *
     * @param message what cannot be replayed, why, and what to do
     * @param cause the exception that showed it
     */
    public ReplayException(String message, Throwable cause) {
        super(message, cause);
    }
}
