package dev.hindsight.replay;

import java.lang.reflect.Field;
import java.util.function.BiConsumer;

/**
 * While this is open, it is a failure if the program asks for the recording from which a test was
 * made.
 *
 * <pre>
 * try (Records records = Records.failIn("com.acme.Server.handle")) {
 *     server.handle(request);
 * }
 * </pre>
 */
public final class Records implements AutoCloseable, BiConsumer<String, Throwable> {
    private static final String API = "dev.hindsight.Hindsight";

    private final Field test;
    /** The method that asks, or null. */
    private final String method;
    /** The class of the exception, or null. */
    private final String exception;

    private Records(Field test, String method, String exception) {
        this.test = test;
        this.method = method;
        this.exception = exception;
    }

    /**
     * From now on {@code Hindsight.record(String)} throws {@link StateRecorded} in this method.
     *
     * @param method class and method, as in {@code com.acme.Server.handle}
     * @return the object whose closing ends this
     * @throws ReplayException if the program has no class {@code Hindsight} any more
     */
    public static Records failIn(String method) {
        return open(method, null);
    }

    /**
     * From now on {@code Hindsight.record(Throwable)} throws its argument, if that is of this
     * class.
     *
     * @param exception a class's name
     * @return the object whose closing ends this
     * @throws ReplayException if the program has no class {@code Hindsight} any more
     */
    public static Records failWith(String exception) {
        return open(null, exception);
    }

    private static Records open(String method, String exception) {
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            Field test = Class.forName(API, true, loader).getDeclaredField("test");
            test.setAccessible(true);
            Records records = new Records(test, method, exception);
            test.set(null, records);
            return records;
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new ReplayException(
                    "the program has asked for the recording by " + API
                            + ", which is not on the class path any more", e);
        }
    }

    @Override
    public void accept(String why, Throwable thrown) {
        if (thrown != null) {
            if (thrown.getClass().getName().equals(exception)) {
                Records.<RuntimeException>rethrow(thrown);
            }
            return;
        }
        StateRecorded state = new StateRecorded(why);
        if (method != null && state.isIn(method)) {
            throw state;
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void rethrow(Throwable exception) throws T {
        throw (T) exception;
    }

    @Override
    public void close() {
        try {
            test.set(null, null);
        } catch (ReflectiveOperationException e) {
            throw new ReplayException("cannot stop failing where the program asks for a recording", e);
        }
    }
}
