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
 * a miss of all caches for each object.) All others are in a table, by weak references: those that the
 * program had asked for their hash codes before, and those that were locked when they were seen first.
 *
 * <p>One case is left: an object that had a hash code of the JVM's when it was seen first, one that is
 * the number of another object of the same class, is taken for that one.
 */
final class HindsightNumbers {
    private static final Unsafe U = HindsightTracer.U;

    private static final int CLASS_SHIFT = 40;

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

    /** Numbers that are no hash codes begin here. */
    private static final long FIRST_EXTRA = 1L << 31;

    /** Bits for hash codes of which the table may know an object. */
    private static final int EXTRAS_BITS = (1 << 20) - 1;

    private static long extras;

    /** A word that counts the numbers that are no hash codes. */
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

    /** So many numbers for one thread; the first of them, or 0 if there are no more. */
    static int reserve(int count) {
        if (U.getLongVolatile(null, numbers) > HASH_BITS - count) {
            return 0;
        }
        long first = U.getAndAddLong(null, numbers, count);
        return first > HASH_BITS - count ? 0 : (int) first;
    }

    /**
     * The number of an object; its complement if the object had none before.
     *
     * @param type the number of its class, which no other class has
     */
    static long of(Object object, int type, HindsightTracer tracer) {
        long prefix = (long) type << CLASS_SHIFT;
        boolean none = false;
        long word = U.getLong(object, 0L);
        if (HASH_SHIFT >= 0 && isFresh(word)) {
            int number = tracer.nextNumber();
            none = number == 0;
            if (!none && U.compareAndSetLong(object, 0L, word, word | (long) hash(number) << HASH_SHIFT)) {
                tracer.takeNumber();
                return ~(prefix | number);
            }
        }
        int hash = System.identityHashCode(object);
        if (isSet(hash & EXTRAS_BITS)) {
            HindsightIdentity extra = HindsightIdentities.part(TABLE, hash).find(object, hash);
            if (extra != null) {
                return extra.id;
            }
        }
        int number = hash * INVERSE & HASH_BITS;
        if (HASH_SHIFT >= 0 && !none && number < U.getLongVolatile(null, numbers)) {
            return prefix | number;
        }
        return extra(object, hash, prefix);
    }

    /** Gives an object a number that is no hash code. */
    private static long extra(Object object, int hash, long prefix) {
        long id = prefix | FIRST_EXTRA + U.getAndAddLong(null, serial, 1);
        HindsightIdentity fresh = new HindsightIdentity(object, hash, id);
        // Whoever looks from now on looks there.
        set(hash & EXTRAS_BITS);
        HindsightIdentity there = HindsightIdentities.part(TABLE, hash).add(fresh, object);
        return there == fresh ? ~id : there.id;
    }

    /** Whether this is the first word of an object without a hash code that nobody has locked. */
    private static boolean isFresh(long word) {
        return (word & 7) == 1 && ((int) (word >>> HASH_SHIFT) & HASH_BITS) == 0;
    }

    private static int hash(int number) {
        return number * FACTOR & HASH_BITS;
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

    /** Tries where in an object's first word this JVM keeps the hash code, and takes one from. */
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
                    || (before & 7) != 1
                    || after != (before | (long) hash << shift)
                    || ((int) (before >>> shift) & HASH_BITS) != 0) {
                return -1;
            }
            found = shift;
            Object other = new Object();
            long word = U.getLong(other, 0L);
            if (!U.compareAndSetLong(other, 0L, word, word | (long) hash(i + 1) << found)
                    || System.identityHashCode(other) != hash(i + 1)) {
                return -1;
            }
        }
        return found;
    }
}
