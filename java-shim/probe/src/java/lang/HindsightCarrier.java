package java.lang;

/**
 * The platform thread that runs the current thread.
 *
 * <p>On a JVM with virtual threads the agent replaces this class's method by one that calls {@code
 * Thread.currentCarrierThread}. JDK 17 does not have that method, so this is the only place that
 * names it.
 */
final class HindsightCarrier {
    private HindsightCarrier() {}

    static Thread get() {
        return Thread.currentThread();
    }
}
