package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Where the events of a thread go: its chunk of mapped memory, and a word about those that are lost.
 *
 * <p>An event is stored first and then counts, by {@link #done}; so whatever ends the process or the
 * probe, all that counts is whole.
 *
 * <p>Nothing but {@link HindsightTracer} is one. What probes call is final, so that it is inlined there.
 *
 * <p><b>Invariant:</b> that of {@link HindsightTracer}.
 */
abstract class HindsightStream {
    static final Unsafe U = Unsafe.getUnsafe();

    /** Bytes that the largest event without text needs. */
    private static final int MARGIN = 96;

    /** Bytes of an event that tells of lost ones. There is always room for one more. */
    private static final int LOST_BYTES = 9;

    /** Bits of the number of a stream, where it shares a word. */
    static final int STREAM_BITS = 24;

    static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // What all threads share, in native memory that the agent reads too.
    static final int STAMP = 0;
    static final int LOST = 8;
    static final int SERIAL = 64;
    static final int CLASSES = 72;
    private static final int STREAM = 80;
    static final int TOPS = 88;
    static final int NUMBERS = 96;
    private static final int STACK_ENDS = 104;
    private static final int CHUNKS = 112;
    static final int UNNUMBERED = 120;

    /** Where the shared words are. */
    static long shared;

    /**
     * Set by the agent when events may be stored, cleared when the recording ends. What a probe is about to store
     * then goes into the chunk that there is, unread.
     */
    static volatile boolean ready;

    /**
     * Where the beginning of the trace goes, after how many chunks of all threads what old objects say is
     * told again; 0 if nothing goes.
     */
    static int span;

    /** Places that objects share, for {@link #lastWrites}. */
    private static final int WRITE_PLACES = 1 << 18;

    /**
     * Where the times of the last writes are that were told: to the objects of each place, and behind them to
     * static fields. Where several objects share one, there are more stamps than need be.
     *
     * <p>No write is told at a time before the one at its place, unless its stamp was taken for it: what the program
     * has ordered before has an earlier one then. The time at a place never falls. The stream alone would
     * not do: one that has taken its stamp and is slow to say so would hide what others write in between, with
     * later stamps. Native memory, for the type of the offset that arrays need has changed from JDK to JDK.
     */
    private static long lastWrites;

    /** The part of {@link HindsightTrace#overflows} that was told of. */
    static int toldOverflows;

    final Thread owner;

    /** The thread whose events come now. */
    Thread current;

    /** Where the next event goes, and behind which address there is no room for one. */
    private long position;

    private long limit;

    /** Where the end of the last event is stored; 0 until there is a chunk. */
    private long end;

    final long stream;

    /** When the next event is, for other threads: its stamp, and in the lower bits the stream. */
    long time;

    private long chunk;

    /** The span of the chunk. */
    private long lastSpan;

    /** Events that were lost and not told of yet. */
    private long lost;

    /** Where the last loss is told of in the chunk; 0 if there was none. */
    private long gap;

    /** The error of the end of the stack that is on its way; null if it was caught. */
    private Object overflow;

    HindsightStream(Thread owner) {
        this.owner = owner;
        this.stream = U.getAndAddLong(null, shared + STREAM, 1) + 1;
        this.limit = -1;
    }

    /** Where an event may be stored, or 0. */
    @ForceInline
    final long room() {
        long p = position;
        return p <= limit ? p : turn(current);
    }

    /** The same for one with so many bytes of text, of a thread. */
    final long room(int text, Thread thread) {
        long p = position;
        return p + text <= limit ? p : turn(thread);
    }

    /** Says that an event is whole. */
    @ForceInline
    final void done(long p) {
        position = p;
        U.putLongRelease(null, end, p);
    }

    static long putText(long p, byte[] text, int length, byte coder) {
        U.putByte(p, coder);
        U.putShort(p + 1, (short) length);
        // Not copyMemory: the type of the offset it needs has changed from JDK to JDK.
        for (int i = 0; i < length; i++) {
            U.putByte(p + 3 + i, text[i]);
        }
        return p + 3 + length;
    }

    /** The time of an event, by which those of all threads are put in order. */
    static long now() {
        return U.getAndAddLong(null, shared + STAMP, 1) + 1;
    }

    /** Must be called before any probe. */
    static void startOrder() {
        long bytes = WRITE_PLACES + 1L << 3;
        lastWrites = U.allocateMemory(bytes);
        U.setMemory(lastWrites, bytes, (byte) 0);
    }

    /**
     * Where the event of a write to the object of a number may be stored, or 0. One that goes to several
     * objects is behind what others have written to all of them if {@link #time} has not changed since
     * before the first was asked for.
     *
     * @param since the {@link #time} when the probe began
     */
    @ForceInline
    final long roomToWrite(long id, long since) {
        return id == 0 ? room() : inOrder(lastWrites + ((id & WRITE_PLACES - 1) << 3), since);
    }

    /** The same for one to a static field. */
    @ForceInline
    final long roomToWriteStatic(long since) {
        return inOrder(lastWrites + ((long) WRITE_PLACES << 3), since);
    }

    @ForceInline
    private long inOrder(long last, long since) {
        long p = room();
        return p == 0 || U.getLong(last) == time ? p : putInOrder(last, p, since);
    }

    /**
     * Tells of a later time if another stream has written last, and notes that a write is told at it. Once for a
     * probe is enough, whoever writes meanwhile: where all write to one object, each would wait for all others.
     */
    @DontInline
    private long putInOrder(long last, long p, long since) {
        while (p != 0) {
            long word = U.getLongVolatile(null, last);
            if (time == since && (word - time > 0 || !isOwn(word))) {
                long now = now();
                U.putByte(p, (byte) STAMP_TAG);
                U.putLong(p + 1, now);
                done(p + 9);
                isAt(now);
                // In a chunk that begins it is later still.
                p = room();
            } else if (word - time >= 0 || U.compareAndSetLong(null, last, word, time)) {
                break;
            }
        }
        return p;
    }

    /** Says that the events from now on have a stamp. */
    final void isAt(long stamp) {
        time = stamp << STREAM_BITS | stream & (1 << STREAM_BITS) - 1;
    }

    private boolean isOwn(long other) {
        return (other ^ time) << Long.SIZE - STREAM_BITS == 0;
    }

    /** Takes another chunk; where its first event goes, or 0 if there is none to be had. */
    @DontInline
    private long turn(Thread thread) {
        try {
            if (!ready) {
                return 0;
            }
            long now = now();
            long fresh = HindsightTracer.take(chunk, stream, U.getLong(thread, TID), now, thread != owner);
            if (fresh == 0) {
                lose(thread);
                return 0;
            }
            chunk = fresh;
            // The old one is another's by now: where the stack ends below, nothing may be stored there.
            limit = -1;
            isAt(now);
            end = fresh + 8;
            gap = 0;
            long most = fresh + U.getInt(fresh + 68) - MARGIN - LOST_BYTES;
            long p = U.getLong(end);
            position = p;
            limit = most;
            if (span != 0) {
                turnSpan();
            }
            if (lost > 0) {
                p = putLost(p, lost);
                lost = 0;
            }
            return p;
        } catch (Throwable e) {
            lose(thread);
            return 0;
        }
    }

    private void turnSpan() {
        long now = U.getAndAddLong(null, shared + CHUNKS, 1) / span;
        if (now != lastSpan) {
            lastSpan = now;
            newSpan();
        }
    }

    /** What was told some time ago may be gone. */
    abstract void newSpan();

    /** Whether what this thread told first may be gone. */
    final boolean isLaterSpan() {
        return lastSpan != 0;
    }

    /**
     * An event of this thread is lost. A platform thread says so right away, for it may have no event
     * after it, and later how many more; of virtual threads others may be lost before the next one is
     * stored.
     */
    private void lose(Thread thread) {
        U.getAndAddLong(null, shared + LOST, 1);
        if (thread != owner || current != owner || limit < 0 || isAtGap()) {
            lost++;
        } else {
            gap = position;
            putLost(position, 1);
        }
    }

    private boolean isAtGap() {
        return gap != 0 && position == gap + LOST_BYTES;
    }

    private long putLost(long p, long count) {
        U.putByte(p, (byte) LOST_TAG);
        U.putLong(p + 1, count);
        done(p + LOST_BYTES);
        return p + LOST_BYTES;
    }

    /**
     * An error of the end of the stack passes, or is caught. Events that it has cost were before: their
     * probes, which are guarded, have counted them without a word, and nobody knows of which calls.
     * Where it was thrown one more may be missing, if that was in a probe.
     */
    @DontInline
    final void overflowed(Throwable error, boolean caught) {
        int untold = HindsightTrace.overflows - toldOverflows;
        if (untold > 0) {
            long p = room();
            if (p != 0) {
                // There may be no stack for this either; then it is for the next one.
                U.getAndAddLong(null, shared + LOST, untold);
                toldOverflows += untold;
                putLost(p, untold);
            }
        }
        if (error != overflow) {
            U.getAndAddLong(null, shared + STACK_ENDS, 1);
        }
        overflow = caught ? null : error;
    }

    /** Counts what was not told of. */
    static void settle() {
        int untold = HindsightTrace.overflows - toldOverflows;
        toldOverflows += untold;
        U.getAndAddLong(null, shared + LOST, untold);
    }

    /** Gives the chunk back. */
    final void close() {
        if (chunk != 0 && lost > 0 && isAtGap()) {
            U.putLong(gap + 1, 1 + lost);
        }
        long last = chunk;
        chunk = 0;
        limit = -1;
        if (last != 0) {
            HindsightTracer.release(last);
        }
    }

    // @TAGS@
}
