package java.lang;

/**
 * The platform thread that runs the current thread.
 *
 * <p>On a JVM with virtual threads the agent lets this class call {@code Thread.currentCarrierThread}
 * instead, which JDK 17 has not, so that this is the one place that names it.
 */
final class HindsightCarrier {
    private HindsightCarrier() {}

    static Thread get() {
        return Thread.currentThread();
    }
}
