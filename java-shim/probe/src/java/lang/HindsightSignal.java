package java.lang;

import jdk.internal.misc.Signal;

/** Asks the agent to record all threads when a signal comes; the JVM calls it on a thread of its own. */
final class HindsightSignal implements Signal.Handler {
    /** What was done at this signal before. */
    private Signal.Handler before;

    /** Takes a signal; false if it cannot be had. */
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
        // The system's own are not to be called: that a signal is taken changes what it does.
        if (before != null && !before.getClass().getName().equals("jdk.internal.misc.Signal$NativeHandler")) {
            before.handle(signal);
        }
    }

    private static native void record();
}
