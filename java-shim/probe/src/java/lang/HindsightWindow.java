package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Decides which part of a run is recorded: what lies between two methods, or one of a number of
 * outermost calls.
 *
 * <p>A run that is recorded whole pays nothing for this, because {@link #PARTIAL} is a constant
 * when code is compiled. It is set before, so this class must not be initialised before {@link
 * HindsightTracer#start}.
 */
final class HindsightWindow {
    /** Whether there is anything to be left out. */
    static final boolean PARTIAL = HindsightTracer.marks != 0;

    // Bits of a method's byte.
    /** The recording resumes when the method begins. */
    private static final int FROM = 1;
    /** The recording stops when the method ends. */
    private static final int UNTIL = 2;
    /** The method's calls are those of which some are recorded. */
    private static final int TOP = 4;
    /** The method is a constructor. */
    private static final int CONSTRUCTOR = 8;

    /** The number of methods that have a byte. */
    private static final int MARKED = 1 << 26;

    private static final Unsafe U = Unsafe.getUnsafe();

    /** A byte for each method. */
    private static final long MARKS = HindsightTracer.marks;

    /** One of this many outermost calls is recorded; 0 if all are. */
    private static final int EVERY = HindsightTracer.every;

    /** Whether only calls of marked methods are outermost ones. */
    private static final boolean BY_METHOD = HindsightTracer.byMethod;

    private HindsightWindow() {}

    private static boolean is(int method, int mark) {
        return method >= 0 && method < MARKED && (U.getByte(MARKS + method) & mark) != 0;
    }

    /** Resumes the recording if it begins with this method. */
    static void begin(int method) {
        if (is(method, FROM)) {
            HindsightTracers.goOn();
        }
    }

    /**
     * Called when a method begins. Returns the tracer, or null if the method is not to be recorded.
     */
    static HindsightTracer entering(int method) {
        begin(method);
        HindsightTracer tracer = HindsightTracer.any();
        if (tracer != null && tracer.calls.areDoubtful() && areOver(tracer, true)) {
            // The recording should have stopped before, and may begin again here.
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
            calls.ending.push(method, is(method, CONSTRUCTOR));
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

    /** As above, for a constructor whose call of another constructor has returned. */
    static HindsightTracer binding(int method) {
        HindsightTracer tracer = HindsightTracer.any();
        if (tracer == null) {
            return null;
        }
        tracer.calls.bound(method);
        return tracer.skips ? null : tracer;
    }

    /** As above, for a method that ends or, with {@code caught}, continues after an exception. */
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
            // Events outside of calls belong to no recorded call.
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

    /** Called when the end of a method has been recorded. */
    static void left(HindsightTracer tracer, int method) {
        if (is(method, UNTIL)) {
            HindsightNest ending = tracer.calls.ending;
            ending.popTo(method, false);
            if (ending.isEmpty()) {
                HindsightTracers.stop(tracer.calls);
            }
        }
    }

    /** Drops calls that are over. Returns whether the recording has stopped with them. */
    private static boolean areOver(HindsightTracer tracer, boolean entering) {
        if (tracer.current != tracer.owner) {
            // A virtual thread may be moving to another carrier, for which JVMTI waits; it ends
            // soon.
            return false;
        }
        boolean ends = tracer.calls.areOver(entering);
        tracer.skips |= EVERY != 0 && tracer.calls.skips;
        boolean stops = ends && HindsightTracers.stop(tracer.calls);
        if (stops) {
            // The thread must not continue as if there had been no pause.
            HindsightTracer.any();
        }
        return stops;
    }
}
