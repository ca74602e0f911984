package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The destination of a thread's events: its chunk of mapped memory, and a record of events that are
 * lost.
 *
 * <p>An event is first stored, and counts only after {@link #done}. So whatever ends the process or
 * the probe, all that counts is whole.
 *
 * <p>Only {@link HindsightTracer} extends this. The methods that probes call are final, so that
 * they are inlined there.
 *
 * <p><b>Invariant:</b> as of {@link HindsightTracer}.
 */
abstract class HindsightStream {
    static final Unsafe U = Unsafe.getUnsafe();

    /** The bytes of the largest event, without text. */
    private static final int MARGIN = 96;

    /**
     * The bytes of an event that says how many events were lost. There is always room for one more.
     */
    private static final int LOST_BYTES = 9;

    /** The bits of a stream's number where it shares a word. */
    static final int STREAM_BITS = 24;

    static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // Offsets of the words that all threads share, in native memory that the agent reads as well.
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

    /** The address of the shared words. */
    static long shared;

    /**
     * Set by the agent when events may be stored, and cleared when the recording ends. A probe that
     * is in the middle of an event then stores it into its chunk, where nobody reads it.
     */
    static volatile boolean ready;

    /**
     * If the beginning of the trace is discarded, the number of chunks of all threads after which
     * the descriptions of old objects are recorded again; else 0.
     */
    static int span;

    /** The number of places, shared by objects, at {@link #lastWrites}. */
    private static final int WRITE_PLACES = 1 << 18;

    /**
     * The address of the times of the last recorded writes: to the objects of each place, and
     * behind them to static fields. If several objects share a place, there are more stamps than
     * needed.
     *
     * <p>No write is recorded at a time before the one at its place, unless its stamp was taken for
     * it: writes that the program has ordered before it then have earlier stamps. The time at a
     * place never decreases. The stream alone would not do: a thread that has taken its stamp and
     * is slow to note it would hide what others write in between, with later stamps. This is native
     * memory, because the type of the offset that arrays need has changed between JDKs.
     */
    private static long lastWrites;

    /** The part of {@link HindsightTrace#overflows} that has been recorded. */
    static int toldOverflows;

    final Thread owner;

    /** The thread whose events the stream receives now. */
    Thread current;

    /** The address of the next event, and the address behind which there is no room for one. */
    private long position;

    private long limit;

    /** The address at which the end of the last event is stored; 0 until there is a chunk. */
    private long end;

    final long stream;

    /**
     * The time of the next event as other threads see it: its stamp, and in the lower bits the
     * stream.
     */
    long time;

    private long chunk;

    /** The span of the chunk. */
    private long lastSpan;

    /** The number of lost events that are not recorded yet. */
    private long lost;

    /** The address of the chunk's last record of lost events; 0 if there is none. */
    private long gap;

    /** The {@code StackOverflowError} that is on its way; null if it was caught. */
    private Object overflow;

    HindsightStream(Thread owner) {
        this.owner = owner;
        this.stream = U.getAndAddLong(null, shared + STREAM, 1) + 1;
        this.limit = -1;
    }

    /** The address at which an event may be stored, or 0. */
    @ForceInline
    final long room() {
        long p = position;
        return p <= limit ? p : turn(current);
    }

    /** As above, for an event of a thread with this many bytes of text. */
    final long room(int text, Thread thread) {
        long p = position;
        return p + text <= limit ? p : turn(thread);
    }

    /** Notes that an event is whole. */
    @ForceInline
    final void done(long p) {
        position = p;
        U.putLongRelease(null, end, p);
    }

    static long putText(long p, byte[] text, int length, byte coder) {
        U.putByte(p, coder);
        U.putShort(p + 1, (short) length);
        // Not by copyMemory: the type of its offset has changed between JDKs.
        for (int i = 0; i < length; i++) {
            U.putByte(p + 3 + i, text[i]);
        }
        return p + 3 + length;
    }

    /** The time of an event, by which the events of all threads are ordered. */
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
     * The address at which a write to the object of this number may be stored, or 0. A write to
     * several objects comes after what others have written to any of them, provided that {@link
     * #time} has not changed since before the first was asked for.
     *
     * @param since the {@link #time} when the probe began
     */
    @ForceInline
    final long roomToWrite(long id, long since) {
        return id == 0 ? room() : inOrder(lastWrites + ((id & WRITE_PLACES - 1) << 3), since);
    }

    /** As above, for a write to a static field. */
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
     * Moves on to a later time if another stream has written last, and notes the time of this
     * write. Once per probe suffices, whoever writes meanwhile: if all threads write to one object,
     * each would wait for all others.
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
                // If this begins a chunk, the time is later still.
                p = room();
            } else if (word - time >= 0 || U.compareAndSetLong(null, last, word, time)) {
                break;
            }
        }
        return p;
    }

    /** Notes that the events from here on have this stamp. */
    final void isAt(long stamp) {
        time = stamp << STREAM_BITS | stream & (1 << STREAM_BITS) - 1;
    }

    private boolean isOwn(long other) {
        return (other ^ time) << Long.SIZE - STREAM_BITS == 0;
    }

    /**
     * Takes another chunk. Returns the address of its first event, or 0 if there is no chunk to be
     * had.
     */
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
            // By now the old chunk belongs to another thread: if the stack overflows below, nothing
            // may be stored there.
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

    /** Called when descriptions recorded some time ago may have been discarded. */
    abstract void newSpan();

    /** Whether what this thread recorded first may have been discarded. */
    final boolean isLaterSpan() {
        return lastSpan != 0;
    }

    /**
     * Counts a lost event of this thread. A platform thread records the loss at once, because it
     * may store no event after it, and updates the count later. On a carrier, events of other
     * virtual threads may be lost before the next one is stored.
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
     * Called when a {@code StackOverflowError} passes or is caught. The events that it has cost
     * came before it: their probes are guarded and have counted them, but the calls are not known.
     * At the place of the throw one more may be missing, if that was in a probe.
     */
    @DontInline
    final void overflowed(Throwable error, boolean caught) {
        int untold = HindsightTrace.overflows - toldOverflows;
        if (untold > 0) {
            long p = room();
            if (p != 0) {
                // There may be no stack for this either; then the next such error counts them.
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

    /** Counts the losses that are not recorded. */
    static void settle() {
        int untold = HindsightTrace.overflows - toldOverflows;
        toldOverflows += untold;
        U.getAndAddLong(null, shared + LOST, untold);
    }

    /** Returns the chunk. */
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
