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
 * <p>A hash code has 31 bits, which a program may use up in minutes. The upper bits of its object's number stand
 * above it then, where the JVM has no use for that part of the header. Where it has one (compact object headers),
 * and when all numbers are given, new objects have none, which is told: the table could not hold so many.
 *
 * <p>One case is left: the bit is out of sight while threads wait for the object's monitor, or (up to JDK
 * 22) while another one has locked it. If an object is seen first then, and its hash code is the number of
 * another one, it is taken for one that has that number. Once every hash code is that of a number, such an object
 * has none for that time, unless the thread has told of it lately.
 */
final class HindsightNumbers {
    private static final Unsafe U = HindsightTracer.U;

    private static final int CLASS_SHIFT = 40;

    /** No class has this number, nor one above. */
    static final int CLASSES = 1 << 63 - CLASS_SHIFT;

    /** In the place of a number where an object can have none. */
    static final long NONE = 0;

    /** The objects whose number is not in their hash code. */
    private static final HindsightIdentities[] TABLE = HindsightIdentities.parts();

    private static final int HASH_BITS = 0x7fff_ffff;

    /**
     * Turns a number into a hash code, by multiplication. Lower bits stay as they are, so that objects of
     * one time lie side by side in tables; upper ones are as different as a program may expect.
     */
    private static final int FACTOR = 0x6b8f_0001;

    private static final int INVERSE = inverse();

    /** Where the hash code is in an object's first word; -1 if it cannot be stored there. */
    static final int HASH_SHIFT = findHash();

    /** The bits of that word which say whether somebody has locked the object. */
    private static final int STATE = 7;

    /** Those of an object that nobody has locked. */
    private static final int FREE = 1;

    /** None of these is set for one that is locked, as long as no other thread waits for it. */
    private static final int LOCKED = 3;

    /** Whether the rest of the word stays then. Else it is an address. */
    private static final boolean LOCKED_IN_PLACE = HASH_SHIFT >= 0 && staysWhenLocked();

    /** The bit of that word by which a hash code is ours. */
    private static final long OURS = HASH_SHIFT < 0 ? 0 : 1L << HASH_SHIFT - 1;

    /** The bits of a number that its hash code is made of. */
    private static final int LOW_BITS = 31;

    /** Those that stand in the header, above the hash code. */
    private static final int UPPER_BITS = 8;

    /** Some compilers take the hash code for the lower 32 bits of what is there. */
    private static final int UPPER_SHIFT = HASH_SHIFT + 32;

    private static final int UPPER_MASK = HASH_SHIFT >= 0 && hasRoomAbove() ? (1 << UPPER_BITS) - 1 : 0;

    /** Numbers that are in headers end here. */
    private static final long END = (long) UPPER_MASK + 1 << LOW_BITS;

    /** Numbers that are in no header begin here. */
    private static final long FIRST_EXTRA = 1L << LOW_BITS + UPPER_BITS;

    /** Bits for hash codes of which the table may know an object. */
    private static final int EXTRAS_BITS = (1 << 20) - 1;

    private static long extras;

    /** A word that counts the numbers that are in no header. */
    private static long serial;

    /** A word that counts the others. */
    private static long numbers;

    private HindsightNumbers() {}

    /** Called before anything has a number. The class is initialised then, and what it needs. */
    static void start(long bits, long extraCounter, long counter) {
        extras = bits;
        serial = extraCounter;
        numbers = counter;
        HindsightIdentity identity = new HindsightIdentity(TABLE, 0, 0);
        TABLE[0].add(identity, TABLE);
        TABLE[0].find(TABLE, 0);
    }

    /** So many numbers for one thread; the first of them, or {@link #NONE} if there are no more. */
    static long reserve(int count) {
        while (U.getLongVolatile(null, numbers) <= END - count) {
            long first = U.getAndAddLong(null, numbers, count);
            // Those of one thread have the same upper bits, and no hash code of theirs is 0, which is none.
            if (first <= END - count && low(first) != 0 && low(first) <= HASH_BITS - count) {
                return first;
            }
        }
        return NONE;
    }

    /** The first number that no thread has; those that threads have taken for later may be before it. */
    static long next() {
        return U.getLongVolatile(null, numbers);
    }

    /** Whether an object had its number before that was the next one, or may have had it. */
    static boolean isBefore(long id, long next) {
        long number = id & (1L << CLASS_SHIFT) - 1;
        return number < next || number >= FIRST_EXTRA;
    }

    /**
     * The number of an object; its complement if the object had none before, {@link #NONE} if it cannot have one.
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

    /** An object's first word as it is when nobody has locked it; 0 if it is out of sight. */
    private static long header(Object object, long word) {
        long header = word;
        if ((word & LOCKED) == 0) {
            if (LOCKED_IN_PLACE) {
                header |= FREE;
            } else {
                // It is on the stack of the thread that has locked it, and stays there as long.
                boolean own = word != 0 && Thread.holdsLock(object) && U.getLong(object, 0L) == word;
                header = own ? U.getLong(word) : 0;
            }
        }
        return (header & STATE) == FREE ? header : 0;
    }

    /** The table's entry of an object, if it was found. */
    private static HindsightIdentity find(Object object, int hash) {
        return isSet(hash & EXTRAS_BITS) ? HindsightIdentities.part(TABLE, hash).find(object, hash) : null;
    }

    /** The number of an object whose number is no hash code. */
    private static long extra(Object object, int hash, long prefix) {
        HindsightIdentity known = find(object, hash);
        if (known != null) {
            return known.id;
        }
        long id = prefix | FIRST_EXTRA + U.getAndAddLong(null, serial, 1);
        HindsightIdentity fresh = new HindsightIdentity(object, hash, id);
        // Whoever looks from now on looks there.
        set(hash & EXTRAS_BITS);
        HindsightIdentity there = HindsightIdentities.part(TABLE, hash).add(fresh, object);
        return there == fresh ? ~id : there.id;
    }

    /**
     * The number of an object of which nothing but the hash code can be seen. It is in the table from now
     * on: what it is taken for must not change when more of it can be seen.
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
            HindsightIdentity fresh = new HindsightIdentity(object, hash, id);
            set(hash & EXTRAS_BITS);
            known = HindsightIdentities.part(TABLE, hash).add(fresh, object);
        }
        return known.id;
    }

    /** What an object has in its header that has this number, besides what is there anyway. */
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

    /** By Newton: each step doubles the bits that are right. */
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
     * Tries where in an object's first word this JVM keeps the hash code, and takes one from, with the bit
     * below it.
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

    /** Whether this JVM lets the bits above the hash code alone. */
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
