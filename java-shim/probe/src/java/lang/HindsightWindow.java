package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Which part of a run is recorded: what lies between two methods, or one of so many outermost calls.
 *
 * <p>Nothing of this is there for a run that is recorded whole: {@link #PARTIAL} is a constant by the
 * time that code is compiled. It is set before, so this class is initialised no sooner than by {@link
 * HindsightTracer#start}.
 */
final class HindsightWindow {
    /** Whether there is anything to be left out. */
    static final boolean PARTIAL = HindsightTracer.marks != 0;

    // Bits of the byte that a method has.
    /** The recording goes on when it begins. */
    private static final int FROM = 1;
    /** It stops when it ends. */
    private static final int UNTIL = 2;
    /** Its calls are those of which some are recorded. */
    private static final int TOP = 4;
    /** It is a constructor. */
    private static final int CONSTRUCTOR = 8;

    /** Methods that have a byte. */
    private static final int MARKED = 1 << 26;

    private static final Unsafe U = Unsafe.getUnsafe();

    /** A byte for each method. */
    private static final long MARKS = HindsightTracer.marks;

    /** Of so many outermost calls one is recorded; 0 if all are. */
    private static final int EVERY = HindsightTracer.every;

    /** Whether only calls of marked methods are outermost ones. */
    private static final boolean BY_METHOD = HindsightTracer.byMethod;

    private HindsightWindow() {}

    private static boolean is(int method, int mark) {
        return method >= 0 && method < MARKED && (U.getByte(MARKS + method) & mark) != 0;
    }

    /** Goes on with the recording if it does so with this method. */
    static void begin(int method) {
        if (is(method, FROM)) {
            HindsightTracers.goOn();
        }
    }

    /** A method begins: with what to tell of it; null if it is not to be told of. */
    static HindsightTracer entering(int method) {
        begin(method);
        HindsightTracer tracer = HindsightTracer.any();
        if (tracer != null && tracer.calls.areDoubtful() && areOver(tracer, true)) {
            // It should have been so before, and may begin again here.
            begin(method);
            tracer = HindsightTracer.any();
        }
        if (tracer == null) {
            return null;
        }
        HindsightCalls calls = tracer.calls;
        if (is(method, UNTIL)) {
            while (calls.ending.isEmpty() && !HindsightTracers.join(calls)) {
                // It has just stopped, and may begin again here.
                begin(method);
                tracer = HindsightTracer.any();
                if (tracer == null) {
                    return null;
                }
                calls = tracer.calls;
            }
            calls.ending.push(method, false);
        }
        if (EVERY == 0) {
            return tracer;
        }
        if (calls.all.isEmpty()) {
            if (BY_METHOD && !is(method, TOP)) {
                return null;
            }
            tracer.skips = calls.skips = HindsightTracer.nextTop() % EVERY != 0;
        }
        calls.all.push(method, is(method, CONSTRUCTOR));
        return tracer.skips ? null : tracer;
    }

    /** A constructor's call of another one has returned: as above. */
    static HindsightTracer binding(int method) {
        HindsightTracer tracer = HindsightTracer.any();
        if (tracer == null) {
            return null;
        }
        tracer.calls.all.bound(method);
        return tracer.skips ? null : tracer;
    }

    /** A method ends, or with {@code caught} goes on after an exception: as above. */
    static HindsightTracer leaving(int method, boolean caught) {
        HindsightTracer tracer = HindsightTracer.any();
        if (tracer != null && tracer.calls.areDoubtful() && areOver(tracer, false)) {
            return null;
        }
        if (tracer == null || EVERY == 0) {
            return tracer;
        }
        HindsightCalls calls = tracer.calls;
        boolean skips = tracer.skips;
        calls.all.popTo(method, caught);
        if (calls.all.isEmpty()) {
            // What comes outside of calls is nobody's.
            tracer.skips = calls.skips = true;
        }
        if (!skips) {
            return tracer;
        }
        if (!caught) {
            // It bounds the recording all the same.
            left(tracer, method);
        }
        return null;
    }

    /** A method has been told to end. */
    static void left(HindsightTracer tracer, int method) {
        if (is(method, UNTIL)) {
            HindsightNest ending = tracer.calls.ending;
            ending.popTo(method, false);
            if (ending.isEmpty()) {
                HindsightTracers.stop(tracer.calls);
            }
        }
    }

    /** Lets go of calls that are over; whether the recording has stopped with them. */
    private static boolean areOver(HindsightTracer tracer, boolean entering) {
        if (tracer.current != tracer.owner) {
            // A virtual thread may be on its way to another carrier, which JVM TI waits for; it ends soon.
            return false;
        }
        boolean ends = tracer.calls.areOver(entering);
        tracer.skips |= EVERY != 0 && tracer.calls.skips;
        boolean stops = ends && HindsightTracers.stop(tracer.calls);
        if (stops) {
            // The thread is not to go on as if there had been no pause.
            HindsightTracer.any();
        }
        return stops;
    }
}
