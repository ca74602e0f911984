package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Gives objects the numbers that they have for a whole trace: the number of the class, and below it one
 * of the object's own.
 *
 * <p>Numbers are counted. An object that has no hash code when it is seen first gets one that its number
 * is made of and can be read from: it is stored into the object's header, as the JVM does when somebody
 * asks for a hash code. That needs no memory, and nothing that the collector has to care for. (Weak
 * references to millions of short-lived objects made pauses of seconds, and a bit for each hash code cost
 * a miss of all caches for each object.) A bit beside the hash code, which the JVM keeps and does not
 * use, says that it is ours. All others are in a table, by weak references: those that the program had
 * asked for their hash codes before, and those that were locked when they were seen first.
 *
 * <p>A hash code has 31 bits, which a program may use up in minutes. Then the upper bits of an
 * object's number are stored above it, if the JVM does not use that part of the header. If it does
 * (compact object headers), and when all numbers are given, new objects get none, which the trace
 * records: the table could not hold so many.
 *
 * <p>One case is left: the bit is not visible while threads wait for the object's monitor, or (up
 * to JDK 22) while another thread has locked it. If an object is first seen then, and its hash code
 * is the number of another object, it is taken for that object. Once every hash code is that of a
 * number, such an object has no number for that time, unless the thread has recorded it lately.
 */
final class HindsightNumbers {
    private static final Unsafe U = HindsightTracer.U;

    private static final int CLASS_SHIFT = 40;

    /** The bound of class numbers: none is equal or above. */
    static final int CLASSES = 1 << 63 - CLASS_SHIFT;

    /** Stands for the number of an object that can have none. */
    static final long NONE = 0;

    /** The objects whose number is not in their hash code. */
    private static final HindsightIdentities[] TABLE = HindsightIdentities.parts();

    private static final int HASH_BITS = 0x7fff_ffff;

    /**
     * The factor by which a number is multiplied to become a hash code. The lower bits stay as they
     * are, so that objects of one time are neighbours in tables; the upper ones vary as much as a
     * program may expect.
     */
    private static final int FACTOR = 0x6b8f_0001;

    private static final int INVERSE = inverse();

    /** The position of the hash code in an object's first word; -1 if it cannot be stored there. */
    static final int HASH_SHIFT = findHash();

    /** The bits of that word with the object's lock state. */
    private static final int STATE = 7;

    /** The lock state of an unlocked object. */
    private static final int FREE = 1;

    /** None of these bits is set in a locked object while no other thread waits for it. */
    private static final int LOCKED = 3;

    /** Whether the rest of the word stays in place in a locked object; else it is an address. */
    private static final boolean LOCKED_IN_PLACE = HASH_SHIFT >= 0 && staysWhenLocked();

    /** The bit of that word that marks a hash code as ours. */
    private static final long OURS = HASH_SHIFT < 0 ? 0 : 1L << HASH_SHIFT - 1;

    /** The number of bits of a number that its hash code is made of. */
    private static final int LOW_BITS = 31;

    /** The number of bits of a number that are stored in the header above the hash code. */
    private static final int UPPER_BITS = 8;

    /**
     * The position of the upper bits. Some compilers take the hash code to be the lower 32 bits of
     * what is there.
     */
    private static final int UPPER_SHIFT = HASH_SHIFT + 32;

    private static final int UPPER_MASK = HASH_SHIFT >= 0 && hasRoomAbove() ? (1 << UPPER_BITS) - 1 : 0;

    /** The end of the numbers that are in headers. */
    private static final long END = (long) UPPER_MASK + 1 << LOW_BITS;

    /** The first number that is in no header. */
    private static final long FIRST_EXTRA = 1L << LOW_BITS + UPPER_BITS;

    /** The bits for hash codes of which the table may have an object. */
    private static final int EXTRAS_BITS = (1 << 20) - 1;

    private static long extras;

    /** The address of the counter of numbers that are in no header. */
    private static long serial;

    /** The address of the counter of all other numbers. */
    private static long numbers;

    private HindsightNumbers() {}

    /** Initialises the class and what it needs. Called before anything has a number. */
    static void start(long bits, long extraCounter, long counter) {
        extras = bits;
        serial = extraCounter;
        numbers = counter;
        HindsightIdentity identity = new HindsightIdentity(TABLE, 0, 0);
        TABLE[0].add(identity, TABLE);
        TABLE[0].find(TABLE, 0);
    }

    /**
     * Reserves numbers for one thread. Returns the first of them, or {@link #NONE} if there are no
     * more.
     */
    static long reserve(int count) {
        while (U.getLongVolatile(null, numbers) <= END - count) {
            long first = U.getAndAddLong(null, numbers, count);
            // The numbers of one reservation have the same upper bits, and no hash code of theirs
            // is 0, which means none.
            if (first <= END - count && low(first) != 0 && low(first) <= HASH_BITS - count) {
                return first;
            }
        }
        return NONE;
    }

    /** The first number that no thread has. Numbers that threads have reserved may be below it. */
    static long next() {
        return U.getLongVolatile(null, numbers);
    }

    /** Whether an object had its number, or may have had it, before this was the next one. */
    static boolean isBefore(long id, long next) {
        long number = id & (1L << CLASS_SHIFT) - 1;
        return number < next || number >= FIRST_EXTRA;
    }

    /**
     * The number of an object; its complement if the object had none before; {@link #NONE} if it
     * cannot have one.
     *
     * @param type the number of its class, which no other class has
     */
    static long of(Object object, int type, HindsightTracer tracer) {
        long prefix = (long) type << CLASS_SHIFT;
        if (HASH_SHIFT < 0) {
            return extra(object, System.identityHashCode(object), prefix);
        }
        while (true) {
            long word = U.getLong(object, 0L);
            long header = header(object, word);
            int hash = hashIn(header);
            if (header == 0) {
                return hidden(object, System.identityHashCode(object), prefix, tracer);
            } else if (hash != 0) {
                return (header & OURS) != 0
                        ? prefix | upper(header) << LOW_BITS | number(hash)
                        : extra(object, hash, prefix);
            } else if (tracer.nextNumber() == NONE) {
                return NONE;
            } else if (header != word) {
                hash = System.identityHashCode(object);
                if (Thread.holdsLock(object)) {
                    return extra(object, hash, prefix);
                }
                // Another thread may have given it a number before.
            } else {
                long number = tracer.nextNumber();
                long marked = word | header(number);
                if (U.compareAndSetLong(object, 0L, word, marked)) {
                    tracer.takeNumber();
                    return ~(prefix | number);
                }
            }
        }
    }

    /** An object's first word as it is when the object is unlocked; 0 if that is not visible. */
    private static long header(Object object, long word) {
        long header = word;
        if ((word & LOCKED) == 0) {
            if (LOCKED_IN_PLACE) {
                header |= FREE;
            } else {
                // The word is on the stack of the thread that has locked the object, and stays
                // there for that time.
                boolean own = word != 0 && Thread.holdsLock(object) && U.getLong(object, 0L) == word;
                header = own ? U.getLong(word) : 0;
            }
        }
        return (header & STATE) == FREE ? header : 0;
    }

    /** The table's entry of an object, or null if none was found. */
    private static HindsightIdentity find(Object object, int hash) {
        return isSet(hash & EXTRAS_BITS) ? HindsightIdentities.part(TABLE, hash).find(object, hash) : null;
    }

    /** The number of an object that has it in the table. */
    private static long extra(Object object, int hash, long prefix) {
        HindsightIdentity known = find(object, hash);
        if (known != null) {
            return known.id;
        }
        HindsightMemory.begin();
        long id = prefix | FIRST_EXTRA + U.getAndAddLong(null, serial, 1);
        HindsightIdentity fresh = new HindsightIdentity(object, hash, id);
        // From now on, all threads look in the table.
        set(hash & EXTRAS_BITS);
        HindsightIdentity there = HindsightIdentities.part(TABLE, hash).add(fresh, object);
        return there == fresh ? ~id : there.id;
    }

    /**
     * The number of an object of which only the hash code is visible. It is in the table from now
     * on, because the number must not change when more becomes visible.
     */
    private static long hidden(Object object, int hash, long prefix, HindsightTracer tracer) {
        int number = number(hash);
        long given = U.getLongVolatile(null, numbers);
        if (number >= given) {
            return extra(object, hash, prefix);
        }
        HindsightIdentity known = find(object, hash);
        if (known == null) {
            long id = given > HASH_BITS ? tracer.lately(object, hash) : prefix | number;
            if (id == NONE) {
                return NONE;
            }
            HindsightMemory.begin();
            HindsightIdentity fresh = new HindsightIdentity(object, hash, id);
            set(hash & EXTRAS_BITS);
            known = HindsightIdentities.part(TABLE, hash).add(fresh, object);
        }
        return known.id;
    }

    /** The bits that an object with this number has in its header, besides the others. */
    private static long header(long number) {
        return OURS | (long) hash(low(number)) << HASH_SHIFT | (number >>> LOW_BITS) << UPPER_SHIFT;
    }

    private static int low(long number) {
        return (int) number & HASH_BITS;
    }

    private static long upper(long header) {
        return header >>> UPPER_SHIFT & UPPER_MASK;
    }

    private static int hashIn(long header) {
        return (int) (header >>> HASH_SHIFT) & HASH_BITS;
    }

    private static int hash(int number) {
        return number * FACTOR & HASH_BITS;
    }

    private static int number(int hash) {
        return hash * INVERSE & HASH_BITS;
    }

    private static boolean isSet(int bit) {
        return (U.getLong(extras + (bit >>> 6 << 3)) >>> bit & 1) != 0;
    }

    private static void set(int bit) {
        long address = extras + (bit >>> 6 << 3);
        long word;
        do {
            word = U.getLong(address);
        } while (!U.compareAndSetLong(null, address, word, word | 1L << bit));
    }

    /**
     * The multiplicative inverse by Newton's method: each step doubles the number of correct bits.
     */
    private static int inverse() {
        int inverse = FACTOR;
        for (int i = 0; i < 5; i++) {
            inverse *= 2 - FACTOR * inverse;
        }
        return inverse;
    }

    private static boolean staysWhenLocked() {
        Object object = new Object();
        System.identityHashCode(object);
        long word = U.getLong(object, 0L);
        synchronized (object) {
            return U.getLong(object, 0L) == (word & ~LOCKED);
        }
    }

    /**
     * Finds out by trial where in an object's first word this JVM keeps the hash code, and that it
     * accepts one stored there with the bit below it; else returns -1.
     */
    private static int findHash() {
        int found = -1;
        for (int i = 0; i < 4; i++) {
            Object object = new Object();
            long before = U.getLong(object, 0L);
            int hash = System.identityHashCode(object);
            long after = U.getLong(object, 0L);
            int shift = 3;
            while (shift < 33 && ((int) (after >>> shift) & HASH_BITS) != hash) {
                shift++;
            }
            if (shift == 33
                    || found >= 0 && found != shift
                    || (before & STATE) != FREE
                    || after != (before | (long) hash << shift)
                    || ((int) (before >>> shift) & HASH_BITS) != 0
                    || (before >>> shift - 1 & 1) != 0) {
                return -1;
            }
            found = shift;
            Object other = new Object();
            long word = U.getLong(other, 0L);
            long marked = word | 1L << found - 1 | (long) hash(i + 1) << found;
            if (!U.compareAndSetLong(other, 0L, word, marked)
                    || System.identityHashCode(other) != hash(i + 1)) {
                return -1;
            }
            synchronized (other) {
                if (System.identityHashCode(other) != hash(i + 1)) {
                    return -1;
                }
            }
            if (U.getLong(other, 0L) != marked) {
                return -1;
            }
        }
        return found;
    }

    /** Whether this JVM leaves the bits above the hash code alone. */
    private static boolean hasRoomAbove() {
        long above = -1L << HASH_SHIFT + LOW_BITS;
        Object object = new Object();
        if ((U.getLong(object, 0L) & above) != 0) {
            return false;
        }
        int hash = hash(1);
        long upper = (1L << UPPER_BITS) - 1 << UPPER_SHIFT;
        long word = U.getLong(object, 0L);
        long marked = word | OURS | (long) hash << HASH_SHIFT | upper;
        if (!U.compareAndSetLong(object, 0L, word, marked) || System.identityHashCode(object) != hash) {
            return false;
        }
        synchronized (object) {
            if (System.identityHashCode(object) != hash) {
                return false;
            }
        }
        return U.getLong(object, 0L) == marked;
    }
}
