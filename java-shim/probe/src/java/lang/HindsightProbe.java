package java.lang;

import java.util.Arrays;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The probes: the only class that instrumented code calls.
 *
 * <p>It is defined in {@code java.lang}, as a part of {@code java.base}, for one reason: every class
 * loader must be able to see it. Loaders that delegate nothing but {@code java.*} to the boot loader
 * (OSGi's) would not find a class of another package, and named modules need no edge to read it.
 *
 * <p>A probe calls nothing of the program, allocates nothing once the thread's buffer exists, and
 * never throws on purpose. What it throws by force (stack overflow, no memory) is caught by the
 * code around the call, which then rethrows the program's own exception.
 *
 * <p>An instance is a piece of a buffer: the frames that one exception has passed through so far,
 * and the values that they had kept from their entry. {@link #frame} opens a frame and returns the
 * piece; the instrumented code then appends the values in the order that the agent knows from
 * instrumenting, references to one array, primitive values to the other.
 */
public class HindsightProbe {
    /**
     * The number of frames of one piece. Pieces are recycled, so this bounds the memory of each
     * thread.
     */
    static final int FRAMES = 512;

    final HindsightThread.Propagation owner;

    // The native side reads these four.
    Object[] references;
    long[] words;
    /** For each frame: method, position in {@link #references}, position in {@link #words}. */
    int[] starts;
    int frames;

    private int nextReference;
    private int nextWord;

    HindsightProbe(HindsightThread.Propagation owner) {
        this.owner = owner == null ? (HindsightThread.Propagation) this : owner;
        this.references = new Object[32];
        this.words = new long[16];
        this.starts = new int[3 * 16];
    }

    /** Opens the frame of a method that an exception is about to leave. */
    @DontInline
    public static HindsightProbe frame(Throwable exception, int method) {
        return open(exception, method, 0, 0);
    }

    /** Returns the piece, with a new frame and room for this many values. */
    @ForceInline
    private static HindsightProbe open(Throwable exception, int method, int references, int words) {
        HindsightThread.Propagation way = HindsightThread.way(exception, method);
        HindsightProbe piece = way.fits(references, words) ? way : way.room(references, words);
        piece.open(method);
        return piece;
    }

    // One call hands over a whole frame, as far as it goes: each call in a handler costs the JIT time
    // in every method that has it (ecj compiled for the first time: 1.2 times the CPU with a call for
    // each value). References first, then words; what is more is appended by the calls below.

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, long x) {
        return open(exception, method, 0, 1).put(x);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, long x, long y) {
        return open(exception, method, 0, 2).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, long x, long y, long z) {
        return open(exception, method, 0, 3).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a) {
        return open(exception, method, 1, 0).put(a);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, long x) {
        return open(exception, method, 1, 1).put(a).put(x);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, long x, long y) {
        return open(exception, method, 1, 2).put(a).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, long x, long y, long z) {
        return open(exception, method, 1, 3).put(a).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b) {
        return open(exception, method, 2, 0).put(a).put(b);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b, long x) {
        return open(exception, method, 2, 1).put(a).put(b).put(x);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b, long x, long y) {
        return open(exception, method, 2, 2).put(a).put(b).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, long x, long y, long z) {
        return open(exception, method, 2, 3).put(a).put(b).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(Throwable exception, int method, Object a, Object b, Object c) {
        return open(exception, method, 3, 0).put(a).put(b).put(c);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, long x) {
        return open(exception, method, 3, 1).put(a).put(b).put(c).put(x);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, long x, long y) {
        return open(exception, method, 3, 2).put(a).put(b).put(c).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, long x, long y, long z) {
        return open(exception, method, 3, 3).put(a).put(b).put(c).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d) {
        return open(exception, method, 4, 0).put(a).put(b).put(c).put(d);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, long x) {
        return open(exception, method, 4, 1).put(a).put(b).put(c).put(d).put(x);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, long x, long y) {
        return open(exception, method, 4, 2).put(a).put(b).put(c).put(d).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, long x, long y, long z) {
        return open(exception, method, 4, 3).put(a).put(b).put(c).put(d).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e) {
        return open(exception, method, 5, 0).put(a).put(b).put(c).put(d).put(e);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, long x) {
        return open(exception, method, 5, 1).put(a).put(b).put(c).put(d).put(e).put(x);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, long x, long y) {
        return open(exception, method, 5, 2).put(a).put(b).put(c).put(d).put(e).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, long x, long y, long z) {
        return open(exception, method, 5, 3).put(a).put(b).put(c).put(d).put(e).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f) {
        return open(exception, method, 6, 0).put(a).put(b).put(c).put(d).put(e).put(f);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, long x) {
        return open(exception, method, 6, 1).put(a).put(b).put(c).put(d).put(e).put(f).put(x);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, long x, long y) {
        return open(exception, method, 6, 2).put(a).put(b).put(c).put(d).put(e).put(f).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, long x, long y, long z) {
        return open(exception, method, 6, 3).put(a).put(b).put(c).put(d).put(e).put(f).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g) {
        return open(exception, method, 7, 0).put(a).put(b).put(c).put(d).put(e).put(f).put(g);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, long x) {
        return open(exception, method, 7, 1).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(x);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, long x, long y) {
        return open(exception, method, 7, 2).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, long x, long y, long z) {
        return open(exception, method, 7, 3).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(x).put(y).put(z);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h) {
        return open(exception, method, 8, 0).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(h);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, long x) {
        return open(exception, method, 8, 1).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(h).put(x);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, long x, long y) {
        return open(exception, method, 8, 2).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(h).put(x).put(y);
    }

    @DontInline
    public static HindsightProbe frame(
            Throwable exception, int method, Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, long x, long y, long z) {
        return open(exception, method, 8, 3).put(a).put(b).put(c).put(d).put(e).put(f).put(g).put(h).put(x).put(y).put(z);
    }

    /** Notes that a handler has caught an exception. */
    @DontInline
    public static void caught(Throwable exception, int method) {
        caught(exception, method, false);
    }

    private static void caught(Throwable exception, int method, boolean isReported) {
        HindsightThread thread = HindsightThread.known();
        if (thread != null) {
            thread.caught(exception, method, isReported);
        } else {
            HindsightThread.free(exception);
        }
    }

    /** As {@link #caught}, in a method that a {@code caught:} rule names. */
    public static void caughtReport(Throwable exception, int method) {
        HindsightThread.report(HindsightThread.CAUGHT, method, exception);
        caught(exception, method, true);
    }

    /** Called at the entry of {@code Thread.dispatchUncaughtException}, on the dying thread. */
    public static void uncaught(Thread thread, Throwable exception) {
        try {
            try {
                HindsightThread.settle(exception);
                HindsightThread.report(HindsightThread.UNCAUGHT, -1, exception);
            } finally {
                HindsightThread.end();
            }
        } catch (Throwable ignored) {
            // The thread dies of its own exception, not of ours.
        }
    }

    /**
     * Called at the entry of {@code ThreadGroup.uncaughtException}: by a dying thread, whose
     * exception {@link #uncaught} has reported already, or by code that has caught the exception on
     * a thread that continues. The agent knows which. Each group calls its parent; only the call of
     * the last one counts.
     */
    public static void handedOver(ThreadGroup group, Thread thread, Throwable exception) {
        try {
            if (exception != null && thread == Thread.currentThread() && HindsightThread.isRoot(group)) {
                HindsightThread.report(HindsightThread.HANDED_OVER, -1, exception);
            }
        } catch (Throwable ignored) {
            // The handler must do its work in any case.
        }
    }

    /**
     * Called when a call from native code through a method handle has thrown, which ends the JVM
     * (with null, if it has not thrown after all), and when native code with no Java code below it
     * prints an exception.
     */
    public static void unhandled(Throwable exception) {
        if (exception != null) {
            uncaught(null, exception);
        }
    }

    /** The body of the program's {@code Hindsight.record(String)}. */
    public static void record(String why) {
        try {
            if (HindsightThread.ready) {
                // The frames of this method and of the one that the program called carry no
                // information.
                Throwable state = new Throwable(why);
                StackTraceElement[] trace = state.getStackTrace();
                state.setStackTrace(Arrays.copyOfRange(trace, Math.min(2, trace.length), trace.length));
                HindsightThread.report(HindsightThread.RECORD_STATE, -1, state);
            }
        } catch (Throwable ignored) {
            // The program asked for a record, not for trouble.
        }
    }

    /** The body of the program's {@code Hindsight.record(Throwable)}. */
    public static void record(Throwable exception) {
        try {
            if (exception != null) {
                HindsightThread.report(HindsightThread.RECORD, -1, exception);
            }
        } catch (Throwable ignored) {
            // As above.
        }
    }

    /** Whether there is room for one more frame with this many values. */
    @ForceInline
    final boolean fits(int moreReferences, int moreWords) {
        return 3 * frames < starts.length
                && (moreReferences == 0 || nextReference + moreReferences <= references.length)
                && (moreWords == 0 || nextWord + moreWords <= words.length);
    }

    @ForceInline
    private void open(int method) {
        int at = 3 * frames;
        int[] all = starts;
        all[at] = method;
        all[at + 1] = nextReference;
        all[at + 2] = nextWord;
        frames++;
    }

    /**
     * Makes room for this many values, and for one more frame if the piece may have one. If there
     * is no memory, nothing that counts has changed.
     */
    final void grow(int moreReferences, int moreWords) {
        long began = HindsightMemory.begin();
        try {
            if (3 * frames == starts.length && frames < FRAMES) {
                starts = Arrays.copyOf(starts, Math.min(2 * starts.length, 3 * FRAMES));
            }
            if (nextReference + moreReferences > references.length) {
                references = Arrays.copyOf(references, 2 * references.length);
            }
            if (nextWord + moreWords > words.length) {
                words = Arrays.copyOf(words, 2 * words.length);
            }
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            throw none;
        }
    }

    /** Appends a reference for which there is room. */
    @ForceInline
    private HindsightProbe put(Object value) {
        int at = nextReference;
        references[at] = value;
        nextReference = at + 1;
        return this;
    }

    /** Appends a word for which there is room. */
    @ForceInline
    private HindsightProbe put(long value) {
        int at = nextWord;
        words[at] = value;
        nextWord = at + 1;
        return this;
    }

    /** Appends a reference. */
    @DontInline
    public final HindsightProbe a(Object value) {
        if (nextReference == references.length) {
            grow(1, 0);
        }
        return put(value);
    }

    /** Appends a boolean, byte, char, short or int. */
    @DontInline
    public final HindsightProbe i(int value) {
        return j(value);
    }

    /** Appends a long. */
    @DontInline
    public final HindsightProbe j(long value) {
        if (nextWord == words.length) {
            grow(0, 1);
        }
        return put(value);
    }

    /** Appends a float. */
    @DontInline
    public final HindsightProbe f(float value) {
        return j(Float.floatToRawIntBits(value));
    }

    /** Appends a double. */
    @DontInline
    public final HindsightProbe d(double value) {
        return j(Double.doubleToRawLongBits(value));
    }

    /** Closes a frame whose method an {@code escape:} rule names, and reports the exception. */
    @DontInline
    public final void escape() {
        HindsightThread.Propagation way = owner;
        if (!way.escaped) {
            int method = starts[3 * frames - 3];
            // The report follows the call, which itself may need more stack than there is.
            way.overdue = method;
            if (!HindsightThread.report(HindsightThread.ESCAPE, method, way.exception)) {
                way.escaped = true;
                way.overdue = -1;
            }
        }
    }

    /** Makes room for some frames in advance, for a time without memory. */
    final void reserve() {
        references = new Object[256];
        words = new long[128];
        starts = new int[3 * 64];
    }

    /** Copies another piece, which its thread may be changing. */
    final void copyOf(HindsightProbe other) {
        frames = other.frames;
        nextReference = other.nextReference;
        nextWord = other.nextWord;
        starts = other.starts.clone();
        references = other.references.clone();
        words = other.words.clone();
    }

    final void clear() {
        // An exception that is over must keep nothing alive.
        Arrays.fill(references, 0, nextReference, null);
        nextReference = 0;
        nextWord = 0;
        frames = 0;
    }
}
