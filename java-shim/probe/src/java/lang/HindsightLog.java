package java.lang;

import java.lang.ref.SoftReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What one thread has lately written over, so that the writes can be undone.
 *
 * <p>The log is a run of chunks, of which only the latest ones are kept, so what it keeps alive is
 * bounded. It is kept softly, and the older chunks are by themselves: a few entries can hold on to
 * much, also when their thread rests or is no more. A position counts the entries from the log's
 * beginning; a method that keeps the position at its entry can later be told which writes came after.
 * Positions of another log of the same thread are below or above all of this one.
 *
 * <p>The order of different threads: {@link #CLOCK} is read before each entry of a log and at each
 * method's entry, and where it has moved on since this log's last entry, an entry says so. It moves
 * on when a thread is about to let others see what it has done ({@link #release}), and at the birth
 * of a log. So what happens before something else in another thread (JLS 17.4.5) is there under an
 * earlier time or the same, and what happens after a method's entry under a later one.
 *
 * <p>No probe may come back here: it uses arrays and nothing of {@code java.util}.
 */
final class HindsightLog {
    // What kind of entry it is, in the upper bits of its first word; the native side knows them too.
    /** An element of an array; the index is in the lower bits. Fields have their id there alone. */
    static final long ELEMENT = 1L << 62;

    /** Elements from an index on; the old ones are in an array of their own, or not known. */
    static final long RANGE = 2L << 62;

    /** The clock has moved on; the second word is the time. */
    static final long TIME = 3L << 62;

    private static final Unsafe U = Unsafe.getUnsafe();

    private static final Clock CLOCK = new Clock();

    /** For who changes the table, or says what is lost. */
    private static final HindsightLock LOCK = new HindsightLock();

    private static final long NOW = U.objectFieldOffset(Clock.class, "now");
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");

    private static final int FIRST_CHUNK = 16;
    private static final int CHUNK = 1024;

    /** Chunks of a log that are kept; set by the agent. */
    private static int maxChunks = 64;

    /** Bytes of old ranges that a log keeps for each of its chunks, in the mean. */
    private static final long WEIGHT_OF_CHUNK = CHUNK << 8;

    /** Bytes of old ranges that all logs together keep, in the mean of what they may. */
    private static final long MAX_WEIGHT = Runtime.getRuntime().maxMemory() / 8;

    /** Bounds what a program with hundreds of thousands of virtual threads pays for their logs. */
    private static final int MAX_TABLE = 1 << 12;

    /** Fields of which a log remembers at once that it has an entry about them. */
    private static final int LATELY = 64;

    /** Places of the table that a thread's log may be in. */
    private static final int PLACES = 8;

    /**
     * Of threads for which there was no place, or no memory. It has no room: nobody would read what is in
     * it, and what it holds on to may be just what memory is short of.
     */
    private static final HindsightLog NONE = new HindsightLog(null, Long.MIN_VALUE);

    /**
     * The time from which on all writes are told: before, classes that had been loaded were still being given
     * their probes.
     */
    private static volatile long complete;

    // The native side reads these three.
    private static Entry[] table = new Entry[256];

    private static final Entry NOBODY = new Entry(NONE);

    /** Of a thread that has much to do: it is found without the table. */
    private static Entry busiest = NOBODY;

    /** So many times a thread's log is found in the table before it becomes the busiest one's. */
    private static final int BUSY = 1 << 12;

    /** Logs of threads that are no more, until they fall out. */
    private static final Entry[] retired = new Entry[64];

    /** The time up to which a log has been lost: one that was retired fell out, or memory was short. The next one, while it goes on. */
    private static long lost;

    /** How many probes had {@linkplain HindsightWrites#missed missed} something when that was last looked at. */
    private static int missed;

    private static int nextRetired;
    private static long logs;

    /** Logs that are in use, about. */
    private static int living;

    /** Whether there is more than one thread to be told apart. */
    private static boolean several;

    /** What the table has for a thread. */
    private static final class Entry extends SoftReference<HindsightLog> {
        final Thread owner;

        /** Whether a sweep has found the thread dead. */
        boolean swept;

        /** How often it was found in the table. */
        int found;

        Entry(HindsightLog log) {
            super(log);
            owner = log.owner;
        }
    }

    // The native side reads the fields from here to `older`, and `forgot`, while the thread goes on: the order of what is
    // written to them in `turn` and `begin` is what it goes by; see `read` in `undo/log.rs`.
    private final Thread owner;

    /**
     * The position of the first entry that counts: some before it may be missing. {@link Long#MAX_VALUE} while the
     * chunk is about to be used again.
     */
    private long from;

    /** The same where that is so for a write that could not be kept, and not for want of room. */
    private long forgot;

    /** The position of the chunk's first entry. */
    private long base;

    /** Entries in the chunk. */
    private int next;

    private Chunk chunk;

    /** Chunks before, in a ring. */
    private SoftReference<Chunk[]> older;

    /** How many there have been; of a program that writes for days, more than an int can say. */
    private long chunks;

    /** Bytes of old ranges in the chunks of the ring. */
    private long weight;

    /** The chunk's, at hand. */
    private Object[] references;

    private long[] words;
    private int limit;

    private long time;

    /** Where in the chunk the last entry about a field may be, by the field's id. */
    private final int[] lately = new int[LATELY];

    /** The first entry in the chunk that is of this time, and behind all that an exception has left. */
    private int timed;

    /**
     * And that is behind all that have asked for the position, or behind that of the method that runs
     * now: those that it has called have returned.
     */
    private int since;

    /** Whether any thread's writes are logged. */
    static boolean isUsed() {
        return logs != 0;
    }

    /** The time, away from what else is written. */
    private static final class Clock {
        long a, b, c, d, e, f, g;
        long now;
        long h, i, j, k, l, m, n;
    }

    /** For each entry, two references (what was written to, and the old reference) and two words. */
    static final class Chunk {
        final Object[] references;
        final long[] words;

        /** The position of its first entry: of the one that is filled, {@link HindsightLog#base}. */
        long start;

        /** Bytes of old ranges. */
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
            // So each entry asks for another chunk, and is told that there is none.
            limit = 0;
        }
    }

    /** The current thread's. */
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

    /** Called by {@link #register}, under its lock. */
    private static HindsightLog enter(Thread thread, int at) {
        while (true) {
            Entry[] all = table;
            int free = -1;
            for (int i = 0; i < PLACES; i++) {
                Entry entry = all[at + i & all.length - 1];
                if (entry != null && entry.owner == thread) {
                    // Its log was let go when memory was short.
                    free = at + i & all.length - 1;
                    break;
                } else if (free < 0 && (entry == null || !entry.owner.isAlive())) {
                    free = at + i & all.length - 1;
                }
            }
            if (free >= 0) {
                HindsightLog log = new HindsightLog(thread, (logs++ & 0x7ffff) << 44);
                // What others have done up to now is earlier than all that this thread will do.
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

    /** Of what the current thread writes at this time nobody will know: methods that run now cannot be sure. */
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

    /** Lets go of logs whose threads have been dead for a while, or that are gone. Called by the sweeper. */
    static void sweep() {
        LOCK.acquire();
        try {
            living = sweep(table) + sweep(retired);
            if (lost > CLOCK.now) {
                // What was lost up to now is nothing to methods that begin from now on.
                tick();
            }
            if (busiest.owner != null && !busiest.owner.isAlive()) {
                busiest = NOBODY;
            }
        } finally {
            LOCK.held = 0;
        }
    }

    /** Returns how many are left. */
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
        // To get it would tell the collector that it is in use.
        if (entry.refersTo(null)) {
            return true;
        } else if (entry.owner.isAlive() || !entry.swept) {
            entry.swept = !entry.owner.isAlive();
            return false;
        }
        return true;
    }

    /** Not all classes have their probes yet. Called by the agent. */
    static void beginUntold() {
        complete = Long.MAX_VALUE;
    }

    /** They have: of methods that are entered from now on, all is told. Called by the agent. */
    static void endUntold() {
        complete = CLOCK.now + 1;
        tick();
    }

    private static void tick() {
        U.getAndAddLong(CLOCK, NOW, 1);
    }

    /**
     * A thread ends, and who waits for that sees all that it has done. Called at the entry of {@code Thread.exit}, and
     * of that of virtual threads on their last carriers.
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

    /** Where the next entry will be. */
    @ForceInline
    long position() {
        if (time != CLOCK.now) {
            noteTime();
        }
        since = next;
        return base + next;
    }

    /**
     * An exception leaves a method, which will be asked about when others have gone on: what they write
     * then has to be told, whatever they have written before.
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

    /** What probes have missed up to now is lost to all methods that run. */
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

    /** A method runs that was entered at this position, and none that was entered later does. */
    @ForceInline
    void returnTo(long position) {
        // Of another log, it is far away.
        since = (int) Math.min(Math.max(position - base, timed), next);
    }

    /**
     * Whether there is an entry about a field already that tells all whom another one could tell
     * something: methods that were entered before, and other threads. So what a method counts up in a
     * loop is one entry.
     */
    @ForceInline
    boolean has(Object object, int field) {
        int[] lately = this.lately;
        int slot = field & LATELY - 1;
        int at = lately[slot];
        if (at >= since && at < next && references[2 * at] == object && words[2 * at] == field && time == CLOCK.now) {
            return true;
        }
        // If the chunk is full, the place is another one, and this is found out by what is there.
        lately[slot] = next;
        return false;
    }

    /** The same for fields that are told together, so that their entries are next to each other. */
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

    /** Keeps an old reference. */
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

    /** Keeps an old primitive value. */
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

    /** Whether so many bytes of a range may be kept at all. */
    static boolean isKept(long bytes) {
        return bytes <= maxWeight() / 4;
    }

    /** Bytes of old ranges that one log keeps. */
    private static long maxWeight() {
        return Math.min(maxChunks * WEIGHT_OF_CHUNK, MAX_WEIGHT / Math.max(living, 1));
    }

    /** Keeps a range of an array, of so many bytes. */
    void range(Object array, int start, Object old, long bytes) {
        if (owner == null) {
            return;
        }
        reference(array, RANGE | start, old);
        Chunk heavier = chunk;
        heavier.weight += bytes;
        if (heavier.weight > maxWeight() / 8) {
            // The rest of it stays empty, so that it can be let go of by itself.
            for (int i = next; i < limit; i++) {
                references[2 * i] = null;
                words[2 * i] = 0;
            }
            next = limit;
        }
    }

    /** Elements from an index on are written over that are too many to be kept. */
    void unknown(Object array, int start) {
        reference(array, RANGE | start, null);
    }

    /** The place for an entry in the chunk; below 0 if there is none. */
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

    /** Turns to a new chunk; returns the place for the next entry. */
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
                // There was no stack left to say where it goes on.
                from = base;
            }
        } catch (Throwable noMemoryOrStack) {
            HindsightMemory.ranOut(noMemoryOrStack, began);
            // The same again; what was in it is lost. The fresh one may have been begun.
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

    /** A write was not kept: nothing before it can be had back. */
    void forget() {
        if (owner == null) {
            return;
        }
        // An entry stands for it, so that it is behind what has just asked for the position.
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
