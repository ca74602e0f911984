package dev.hindsight.replay;

import java.util.Arrays;

/**
 * The program has asked for a recording of its state.
 *
 * <p>Thrown by {@code Hindsight.record} in a test: the recorded program got to this place, and to
 * get there again is the reproduction. It is an error, because it is not an exception that a
 * program would handle.
 */
public final class StateRecorded extends Error {
    private static final long serialVersionUID = 1;

    StateRecorded(String why) {
        super(why);
        // The first frame is the program's, as in the recording.
        StackTraceElement[] trace = getStackTrace();
        int from = 0;
        while (from < trace.length && trace[from].getClassName().startsWith("dev.hindsight.")) {
            from++;
        }
        setStackTrace(Arrays.copyOfRange(trace, from, trace.length));
    }

    /** Whether this method has asked for the recording. */
    boolean isIn(String method) {
        StackTraceElement[] trace = getStackTrace();
        return trace.length > 0
                && Numbered.strip(trace[0].getClassName() + "." + trace[0].getMethodName())
                        .equals(Numbered.strip(method));
    }
}
