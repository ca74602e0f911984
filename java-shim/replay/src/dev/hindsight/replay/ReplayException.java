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
     * Wraps what the library has thrown while it loaded state: the test has not called the program
     * yet, so the test must not end with that exception itself.
     *
     * @param what the state that was to be loaded
     * @param e the exception, of the library or of code of the program that it has run
     */
    static ReplayException of(String what, Throwable e) {
        if (e instanceof ReplayException) {
            return (ReplayException) e;
        } else if (e instanceof OutOfMemoryError) {
            return new ReplayException("there is not enough memory to load " + what + ": give the JVM "
                    + "that runs the test more with -Xmx (hindsight junit: --java-option)", e);
        }
        return new ReplayException("cannot load " + what + ": " + Classes.reason(e), e);
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
