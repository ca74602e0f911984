package java.lang;

import jdk.internal.misc.Signal;

/** Asks the agent to record all threads when a signal comes; the JVM calls it on a thread of its own. */
final class HindsightSignal implements Signal.Handler {
    /** The handler that the signal had before. */
    private Signal.Handler before;

    /** Takes over a signal; false if it cannot be had. */
    static boolean take(String name) {
        try {
            HindsightSignal ours = new HindsightSignal();
            ours.before = Signal.handle(new Signal(name), ours);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @Override
    public void handle(Signal signal) {
        record();
        // The system's own handlers must not be called, because taking the signal has changed what
        // they do.
        if (before != null && !before.getClass().getName().equals("jdk.internal.misc.Signal$NativeHandler")) {
            before.handle(signal);
        }
    }

    private static native void record();
}
