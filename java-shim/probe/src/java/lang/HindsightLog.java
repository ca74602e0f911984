package java.lang;

import java.lang.ref.SoftReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The values that one thread has lately overwritten, so that its writes can be undone.
 *
 * <p>The log is a run of chunks, of which only the latest are kept, so the memory that it keeps
 * alive is bounded. It is held softly, and each older chunk is held softly by itself: a few entries
 * can keep much alive, even when their thread is idle or has ended. A position counts the entries
 * from the log's beginning. A method that keeps the position at its entry can later ask which
 * writes came after. Positions of another log of the same thread are all below or all above those
 * of this one.
 *
 * <p>The order between threads: {@link #CLOCK} is read before each entry of a log and at each
 * method's entry. If it has advanced since this log's last entry, an entry says so. It advances
 * when a thread is about to let others see what it has done ({@link #release}), and when a log
 * begins. So what happens before something else in another thread (JLS 17.4.5) is logged under an
 * earlier time or the same, and what happens after a method's entry under a later one.
 *
 * <p>No probe may come back here, so this uses arrays and nothing of {@code java.util}.
 */
final class HindsightLog {
    // The kind of an entry, in the upper bits of its first word; the native side knows these bits,
    // too.
    /** An element of an array, whose index is in the lower bits. A field has only its id there. */
    static final long ELEMENT = 1L << 62;

    /** The elements from an index on; the old ones are in an array of their own, or unknown. */
    static final long RANGE = 2L << 62;

    /** The clock has advanced; the second word is the time. */
    static final long TIME = 3L << 62;

    private static final Unsafe U = Unsafe.getUnsafe();

    private static final Clock CLOCK = new Clock();

    /** Held to change the table or to note what is lost. */
    private static final HindsightLock LOCK = new HindsightLock();

    private static final long NOW = U.objectFieldOffset(Clock.class, "now");
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");

    private static final int FIRST_CHUNK = 16;
    private static final int CHUNK = 1024;

    /** The chunks that each log keeps; set by the agent. */
    private static int maxChunks = 64;

    /** The bytes of old ranges that a log keeps for each of its chunks, on average. */
    private static final long WEIGHT_OF_CHUNK = CHUNK << 8;

    /** The bytes of old ranges that all logs together may keep, on average. */
    private static final long MAX_WEIGHT = Runtime.getRuntime().maxMemory() / 8;

    /**
     * The most places in the table: bounds the cost of the logs of hundreds of thousands of virtual
     * threads.
     */
    private static final int MAX_TABLE = 1 << 12;

    /** The number of fields for which a log remembers where it has an entry. */
    private static final int LATELY = 64;

    /** The places of the table in which a thread's log may be. */
    private static final int PLACES = 8;

    /**
     * The log of threads for which there was no place or no memory. It has no room: nobody would
     * read its entries, and they might keep alive just what memory is short of.
     */
    private static final HindsightLog NONE = new HindsightLog(null, Long.MIN_VALUE);

    /**
     * The time from which all writes are logged. Before it, classes that were already loaded were
     * still getting their probes.
     */
    private static volatile long complete;

    // The native side reads these three.
    private static Entry[] table = new Entry[256];

    private static final Entry NOBODY = new Entry(NONE);

    /** The entry of the busiest thread, which is found without the table. */
    private static Entry busiest = NOBODY;

    /**
     * The number of times a thread's log is found in the table before its entry becomes the busiest
     * one.
     */
    private static final int BUSY = 1 << 12;

    /** The logs of threads that have ended, until newer ones replace them. */
    private static final Entry[] retired = new Entry[64];

    /**
     * The time up to which a log has been lost because it was replaced among the retired ones or
     * because memory was short. It is the next time while that goes on.
     */
    private static long lost;

    /** The value of {@link HindsightWrites#missed} when it was last read. */
    private static int missed;

    private static int nextRetired;
    private static long logs;

    /** The approximate number of logs in use. */
    private static int living;

    /** Whether more than one thread has had a log. */
    private static boolean several;

    /** A thread's entry in the table. */
    private static final class Entry extends SoftReference<HindsightLog> {
        final Thread owner;

        /** Whether a sweep has found the thread to have ended. */
        boolean swept;

        /** How often the entry was found in the table. */
        int found;

        Entry(HindsightLog log) {
            super(log);
            owner = log.owner;
        }
    }

    // The native side reads the fields from here to `older`, and `forgot`, while the thread runs.
    // It relies on the order in which `turn` and `begin` write to them; see `read` in
    // `undo/log.rs`.
    private final Thread owner;

    /**
     * The position of the first valid entry; earlier ones may be missing. {@link Long#MAX_VALUE}
     * while the chunk is about to be reused.
     */
    private long from;

    /**
     * The position of the first valid entry after a write that could not be logged for another
     * reason than want of room.
     */
    private long forgot;

    /** The position of the chunk's first entry. */
    private long base;

    /** Entries in the chunk. */
    private int next;

    private Chunk chunk;

    /** The earlier chunks, in a ring. */
    private SoftReference<Chunk[]> older;

    /**
     * The number of chunks so far: a program that writes for days has more than an int can count.
     */
    private long chunks;

    /** The bytes of old ranges in the chunks of the ring. */
    private long weight;

    /** The chunk's references, without going through the chunk. */
    private Object[] references;

    private long[] words;
    private int limit;

    private long time;

    /**
     * The place in the chunk of the latest entry about a field, by the field's id; it may be out of
     * date.
     */
    private final int[] lately = new int[LATELY];

    /**
     * The first entry in the chunk that has the current time and lies behind the positions of all
     * methods that an exception has left.
     */
    private int timed;

    /**
     * The first such entry that also lies behind all positions asked for, or behind that of the
     * method that runs now, once those that it has called have returned.
     */
    private int since;

    /** Whether the writes of any thread are logged. */
    static boolean isUsed() {
        return logs != 0;
    }

    /** The clock, in a class of its own, away from other fields that are written. */
    private static final class Clock {
        long a, b, c, d, e, f, g;
        long now;
        long h, i, j, k, l, m, n;
    }

    /**
     * For each entry, two references (the object written to and the old reference) and two words.
     */
    static final class Chunk {
        final Object[] references;
        final long[] words;

        /**
         * The position of the chunk's first entry; for the chunk being filled, see {@link
         * HindsightLog#base}.
         */
        long start;

        /** The bytes of old ranges in the chunk. */
        long weight;

        Chunk(int size, long start) {
            references = new Object[2 * size];
            words = new long[2 * size];
            this.start = start;
        }
    }

    private HindsightLog(Thread owner, long start) {
        this.owner = owner;
        from = start;
        base = start;
        older = new SoftReference<>(null);
        begin(new Chunk(FIRST_CHUNK, start));
        if (owner == null) {
            // So each entry asks for another chunk, and gets none.
            limit = 0;
        }
    }

    /** The current thread's log. */
    @ForceInline
    static HindsightLog current() {
        Thread thread = Thread.currentThread();
        Entry entry = busiest;
        HindsightLog log = entry.owner == thread ? entry.get() : null;
        return log != null ? log : inTable(thread);
    }

    private static HindsightLog inTable(Thread thread) {
        Entry[] all = table;
        Entry entry = all[(int) U.getLong(thread, THREAD_ID) & (all.length - 1)];
        if (entry != null && entry.owner == thread) {
            HindsightLog log = entry.get();
            if (log != null) {
                if ((++entry.found & BUSY - 1) == 0) {
                    busiest = entry;
                }
                return log;
            }
        }
        return find(thread);
    }

    private static HindsightLog find(Thread thread) {
        Entry[] all = table;
        int at = (int) U.getLong(thread, THREAD_ID);
        boolean free = all.length < MAX_TABLE;
        for (int i = 0; i < PLACES; i++) {
            Entry entry = all[at + i & all.length - 1];
            boolean own = entry != null && entry.owner == thread;
            HindsightLog log = own ? entry.get() : null;
            if (log != null) {
                return log;
            }
            free |= own || entry == null || !entry.owner.isAlive();
        }
        if (!free) {
            loseNow();
            return NONE;
        }
        if (HindsightMemory.isShort()) {
            return NONE;
        }
        long began = 0;
        try {
            began = HindsightMemory.begin();
            return register(thread, at);
        } catch (Throwable noMemoryOrStack) {
            HindsightMemory.ranOut(noMemoryOrStack, began);
            return NONE;
        }
    }

    private static HindsightLog register(Thread thread, int at) {
        LOCK.acquire();
        try {
            return enter(thread, at);
        } finally {
            LOCK.held = 0;
        }
    }

    /** Adds a thread's entry to the table. Called by {@link #register}, under its lock. */
    private static HindsightLog enter(Thread thread, int at) {
        while (true) {
            Entry[] all = table;
            int free = -1;
            for (int i = 0; i < PLACES; i++) {
                Entry entry = all[at + i & all.length - 1];
                if (entry != null && entry.owner == thread) {
                    // Its log was dropped when memory was short.
                    free = at + i & all.length - 1;
                    break;
                } else if (free < 0 && (entry == null || !entry.owner.isAlive())) {
                    free = at + i & all.length - 1;
                }
            }
            if (free >= 0) {
                HindsightLog log = new HindsightLog(thread, (logs++ & 0x7ffff) << 44);
                // All that other threads have done so far is earlier than all that this thread will
                // do.
                tick();
                several = logs > 1;
                if (all[free] == null) {
                    living++;
                } else {
                    retire(all[free]);
                }
                all[free] = new Entry(log);
                return log;
            } else if (all.length >= MAX_TABLE) {
                lost = Math.max(lost, CLOCK.now + 1);
                return NONE;
            }
            Entry[] larger = new Entry[2 * all.length];
            for (Entry entry : all) {
                if (entry != null) {
                    int to = (int) U.getLong(entry.owner, THREAD_ID);
                    int i = 0;
                    while (i < PLACES && larger[to + i & larger.length - 1] != null) {
                        i++;
                    }
                    if (i < PLACES) {
                        larger[to + i & larger.length - 1] = entry;
                    } else {
                        retire(entry);
                    }
                }
            }
            table = larger;
        }
    }

    /**
     * Notes that the current thread's writes at this time are lost, for all methods that run now.
     */
    private static void loseNow() {
        if (lost > CLOCK.now) {
            return;
        }
        LOCK.acquire();
        try {
            lost = Math.max(lost, CLOCK.now + 1);
        } finally {
            LOCK.held = 0;
        }
    }

    private static void retire(Entry entry) {
        if (entry.refersTo(null)) {
            lost = Math.max(lost, CLOCK.now);
            return;
        }
        int at = nextRetired++ & retired.length - 1;
        if (retired[at] != null) {
            lost = Math.max(lost, CLOCK.now);
        }
        retired[at] = entry;
    }

    /**
     * Drops the logs of threads that have been dead for a while, and entries without a log. Called
     * by the sweeper.
     */
    static void sweep() {
        LOCK.acquire();
        try {
            living = sweep(table) + sweep(retired);
            if (lost > CLOCK.now) {
                // What was lost so far does not concern methods that begin from now on.
                tick();
            }
            if (busiest.owner != null && !busiest.owner.isAlive()) {
                busiest = NOBODY;
            }
        } finally {
            LOCK.held = 0;
        }
    }

    /** Sweeps a table and returns the number of entries left. */
    private static int sweep(Entry[] all) {
        int left = 0;
        for (int i = 0; i < all.length; i++) {
            if (all[i] != null && isOver(all[i])) {
                all[i] = null;
                lost = Math.max(lost, CLOCK.now);
            }
            left += all[i] == null ? 0 : 1;
        }
        return left;
    }

    private static boolean isOver(Entry entry) {
        // Getting the referent would tell the collector that it is in use.
        if (entry.refersTo(null)) {
            return true;
        } else if (entry.owner.isAlive() || !entry.swept) {
            entry.swept = !entry.owner.isAlive();
            return false;
        }
        return true;
    }

    /** Begins a time in which some classes do not have their probes yet. Called by the agent. */
    static void beginUntold() {
        complete = Long.MAX_VALUE;
    }

    /**
     * Ends that time: for methods entered from now on, all writes are logged. Called by the agent.
     */
    static void endUntold() {
        complete = CLOCK.now + 1;
        tick();
    }

    private static void tick() {
        U.getAndAddLong(CLOCK, NOW, 1);
    }

    /**
     * Called when a thread ends, because a thread that waits for its end sees all that it has done:
     * at the entry of {@code Thread.exit}, and of the like method of virtual threads on their last
     * carriers.
     */
    static void ended(Thread thread) {
        if (several) {
            tick();
        }
    }

    /** Moves the clock on if this thread has done anything at the present time. */
    @ForceInline
    static void release() {
        if (several && current().time == CLOCK.now) {
            tick();
        }
    }

    /** The position of the next entry. */
    @ForceInline
    long position() {
        if (time != CLOCK.now) {
            noteTime();
        }
        since = next;
        return base + next;
    }

    /**
     * Called when an exception leaves a method. Its state at entry will be asked for after other
     * methods have gone on, so their writes must be logged, even to fields that have an entry
     * already.
     */
    static void left() {
        if (isUsed()) {
            HindsightLog log = current();
            if (missed != HindsightWrites.missed) {
                noteMissed();
                // Most likely it was this thread.
                log.forget();
            }
            log.timed = log.next;
            log.since = log.next;
        }
    }

    /** Notes that all running methods have lost the writes that probes have missed so far. */
    private static void noteMissed() {
        LOCK.acquire();
        try {
            missed = HindsightWrites.missed;
            lost = Math.max(lost, CLOCK.now + 1);
            tick();
        } finally {
            LOCK.held = 0;
        }
    }

    /** Notes that a method entered at this position runs, and none that was entered later does. */
    @ForceInline
    void returnTo(long position) {
        // A position of another log is far away.
        since = (int) Math.min(Math.max(position - base, timed), next);
    }

    /**
     * Whether a field already has an entry that serves all to whom another entry could be of use:
     * the methods entered before, and other threads. So a counter that a method increments in a
     * loop makes one entry.
     */
    @ForceInline
    boolean has(Object object, int field) {
        int[] lately = this.lately;
        int slot = field & LATELY - 1;
        int at = lately[slot];
        if (at >= since && at < next && references[2 * at] == object && words[2 * at] == field && time == CLOCK.now) {
            return true;
        }
        // If the chunk is full, the entry goes elsewhere, which a later look at this place detects.
        lately[slot] = next;
        return false;
    }

    /** As above, for fields that are logged together, so that their entries are adjacent. */
    @ForceInline
    boolean has(Object object, int a, int b) {
        int at = lately[a & LATELY - 1];
        Object[] references = this.references;
        long[] words = this.words;
        if (at >= since
                && at + 1 < next
                && references[2 * at] == object
                && references[2 * at + 2] == object
                && words[2 * at] == a
                && words[2 * at + 2] == b
                && time == CLOCK.now) {
            return true;
        }
        lately[a & LATELY - 1] = next;
        lately[b & LATELY - 1] = next + 1;
        return false;
    }

    @ForceInline
    boolean has(Object object, int a, int b, int c) {
        int at = lately[a & LATELY - 1];
        Object[] references = this.references;
        long[] words = this.words;
        if (at >= since
                && at + 2 < next
                && references[2 * at] == object
                && references[2 * at + 2] == object
                && references[2 * at + 4] == object
                && words[2 * at] == a
                && words[2 * at + 2] == b
                && words[2 * at + 4] == c
                && time == CLOCK.now) {
            return true;
        }
        lately[a & LATELY - 1] = next;
        lately[b & LATELY - 1] = next + 1;
        lately[c & LATELY - 1] = next + 2;
        return false;
    }

    /** Logs an old reference. */
    @ForceInline
    void reference(Object object, long place, Object old) {
        int at = place();
        if (at < 0) {
            return;
        }
        Object[] references = this.references;
        references[2 * at] = object;
        references[2 * at + 1] = old;
        words[2 * at] = place;
        U.storeStoreFence();
        next = at + 1;
    }

    /** Logs an old primitive value. */
    @ForceInline
    void word(Object object, long place, long old) {
        int at = place();
        if (at < 0) {
            return;
        }
        references[2 * at] = object;
        long[] words = this.words;
        words[2 * at] = place;
        words[2 * at + 1] = old;
        U.storeStoreFence();
        next = at + 1;
    }

    /** Whether a range of this many bytes may be kept. */
    static boolean isKept(long bytes) {
        return bytes <= maxWeight() / 4;
    }

    /** The bytes of old ranges that one log keeps at most. */
    private static long maxWeight() {
        return Math.min(maxChunks * WEIGHT_OF_CHUNK, MAX_WEIGHT / Math.max(living, 1));
    }

    /** Logs a range of an array, of this many bytes. */
    void range(Object array, int start, Object old, long bytes) {
        if (owner == null) {
            return;
        }
        reference(array, RANGE | start, old);
        Chunk heavier = chunk;
        heavier.weight += bytes;
        if (heavier.weight > maxWeight() / 8) {
            // The rest of the chunk stays empty, so that the chunk can be dropped by itself.
            for (int i = next; i < limit; i++) {
                references[2 * i] = null;
                words[2 * i] = 0;
            }
            next = limit;
        }
    }

    /** Logs that elements from an index on are overwritten that are too many to be kept. */
    void unknown(Object array, int start) {
        reference(array, RANGE | start, null);
    }

    /** Takes the place for an entry in the chunk; below 0 if there is none. */
    @ForceInline
    private int place() {
        if (time != CLOCK.now) {
            noteTime();
        }
        int at = next;
        return at < limit ? at : turn();
    }

    private void noteTime() {
        time = CLOCK.now;
        if (owner == null) {
            return;
        } else if (next == limit) {
            turn();
        } else {
            appendTime();
        }
        timed = next;
        since = next;
    }

    private void appendTime() {
        int at = next;
        words[2 * at] = TIME;
        words[2 * at + 1] = time;
        U.storeStoreFence();
        next = at + 1;
    }

    /** Turns to a new chunk and returns the place for the next entry. */
    private int turn() {
        if (owner == null) {
            return -1;
        }
        long began = 0;
        try {
            began = HindsightMemory.begin();
            Chunk fresh = new Chunk(Math.min(4 * limit, CHUNK), base + limit);
            Chunk[] ring = older.get();
            if (ring == null) {
                ring = new Chunk[maxChunks];
                older = new SoftReference<>(ring);
                weight = 0;
            }
            put(ring, (int) (chunks++ % ring.length), chunk);
            for (int i = 0; weight > maxWeight() && i < ring.length; i++) {
                put(ring, (int) ((chunks + i) % ring.length), null);
            }
            base += limit;
            U.storeStoreFence();
            begin(fresh);
            if (from == Long.MAX_VALUE) {
                // The stack had overflowed before the new position could be stored.
                from = base;
            }
        } catch (Throwable noMemoryOrStack) {
            HindsightMemory.ranOut(noMemoryOrStack, began);
            // The chunk is used again and its old entries are lost. The fresh one may already be in
            // use.
            from = Long.MAX_VALUE;
            U.storeStoreFence();
            references = chunk.references;
            words = chunk.words;
            limit = words.length / 2;
            base += limit;
            chunk.start = base;
            next = 0;
            timed = 0;
            since = 0;
            U.storeStoreFence();
            from = base;
        }
        appendTime();
        return next;
    }

    private void put(Chunk[] ring, int at, Chunk chunk) {
        Chunk before = ring[at];
        weight += (chunk == null ? 0 : chunk.weight) - (before == null ? 0 : before.weight);
        ring[at] = chunk;
    }

    private void begin(Chunk fresh) {
        references = fresh.references;
        words = fresh.words;
        limit = fresh.words.length / 2;
        next = 0;
        timed = 0;
        since = 0;
        U.storeStoreFence();
        chunk = fresh;
    }

    /** Notes that a write was not logged: nothing before it can be restored. */
    void forget() {
        if (owner == null) {
            return;
        }
        // An entry stands for it, so that it lies behind positions that were just asked for.
        time = CLOCK.now;
        if (next == limit) {
            turn();
        } else {
            appendTime();
        }
        forgot = base + next;
        U.storeStoreFence();
        from = base + next;
        since = next;
    }
}
