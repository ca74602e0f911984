package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Gives objects the numbers that they have for a whole trace: the number of the class, and below it one
 * of the object's own.
 *
 * <p>That is its hash code, if it had none when it was seen first, and if that is not another one's
 * number: which needs no memory but a bit, and nothing that the collector has to care for. (Weak
 * references to millions of short-lived objects made pauses of seconds.) All others are in a table, by
 * weak references: those that the program had asked for their hash codes before, those that were locked
 * when they were seen first, and those whose hash code is taken.
 *
 * <p>Threads that see an object of a class for the first time do so one after the other, by that class's
 * lock. Without it, whoever finds the hash code taken could not know for which object.
 *
 * <p>One case is left: an object that was locked or had a hash code when it was seen first, one that is
 * the number of another object of the same class, is taken for that one.
 */
final class HindsightNumbers {
    private static final Unsafe U = HindsightTracer.U;

    private static final int CLASS_SHIFT = 40;

    /** The objects whose number is not their hash code. */
    private static final HindsightIdentities[] TABLE = HindsightIdentities.parts();

    private static final HindsightLock[] LOCKS = locks();

    private static final int HASH_BITS = 0x7fff_ffff;

    /** Where the hash code is in an object's first word; -1 if it is not there. */
    static final int HASH_SHIFT = findHash();

    /** A bit for each hash code that is a number. */
    private static long used;

    /** Numbers that are no hash codes begin here. */
    private static final long FIRST_EXTRA = 1L << 31;

    /** Behind the bits of {@link #used}, bits for hash codes of which the table may know an object. */
    private static final int EXTRAS = 1 << 28;

    private static final int EXTRAS_BITS = (1 << 20) - 1;

    /** A word that counts the numbers that are no hash codes. */
    private static long serial;

    private HindsightNumbers() {}

    /** Called before anything has a number. The class is initialised then, and what it needs. */
    static void start(long bits, long counter) {
        used = bits;
        serial = counter;
        HindsightIdentity identity = new HindsightIdentity(TABLE, 0, 0);
        TABLE[0].add(identity, TABLE);
        TABLE[0].find(TABLE, 0);
    }

    /**
     * The number of an object; its complement if the object had none before.
     *
     * @param type the number of its class, which no other class has
     */
    static long of(Object object, int type) {
        long prefix = (long) type << CLASS_SHIFT;
        HindsightLock lock = LOCKS[type & LOCKS.length - 1];
        if (!isFresh(object)) {
            U.loadFence();
            // Otherwise somebody may have given it its hash code, and be about to say what it stands for.
            if (!lock.isHeld()) {
                long id = known(object, System.identityHashCode(object), prefix);
                if (id != 0) {
                    return id;
                }
            }
        }
        lock.acquireOrTakeOver();
        try {
            boolean fresh = isFresh(object);
            int hash = System.identityHashCode(object);
            if (!fresh) {
                long id = known(object, hash, prefix);
                if (id != 0) {
                    return id;
                }
            } else if (set(used + (hash >>> 6 << 3), hash)) {
                return ~(prefix | hash);
            }
            return extra(object, hash, prefix);
        } finally {
            lock.release();
        }
    }

    /** The number of an object that has a hash code; 0 if it has no number. */
    private static long known(Object object, int hash, long prefix) {
        if (isSet(used + EXTRAS, hash & EXTRAS_BITS)) {
            HindsightIdentity extra = HindsightIdentities.part(TABLE, hash).find(object, hash);
            if (extra != null) {
                return extra.id;
            }
        }
        return isSet(used, hash) ? prefix | hash : 0;
    }

    /** Gives an object a number that is no hash code. */
    private static long extra(Object object, int hash, long prefix) {
        long id = prefix | FIRST_EXTRA + U.getAndAddLong(null, serial, 1);
        HindsightIdentity fresh = new HindsightIdentity(object, hash, id);
        // Whoever looks from now on looks there.
        int bit = hash & EXTRAS_BITS;
        set(used + EXTRAS + (bit >>> 6 << 3), bit);
        HindsightIdentity there = HindsightIdentities.part(TABLE, hash).add(fresh, object);
        return there == fresh ? ~id : there.id;
    }

    /** Whether an object has no hash code yet, so that nobody has asked for its number. */
    private static boolean isFresh(Object object) {
        if (HASH_SHIFT < 0) {
            return false;
        }
        long word = U.getLong(object, 0L);
        return (word & 3) == 1 && ((int) (word >>> HASH_SHIFT) & HASH_BITS) == 0;
    }

    private static boolean isSet(long bits, int at) {
        return (U.getLong(bits + (at >>> 6 << 3)) >>> at & 1) != 0;
    }

    /** Sets a bit of a word in native memory; false if it was set. A barrier in any case. */
    private static boolean set(long address, int bit) {
        while (true) {
            long word = U.getLong(address);
            long with = word | 1L << bit;
            if (with == word) {
                U.fullFence();
                return false;
            }
            if (U.compareAndSetLong(null, address, word, with)) {
                return true;
            }
        }
    }

    private static HindsightLock[] locks() {
        HindsightLock[] locks = new HindsightLock[256];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = new HindsightLock();
        }
        return locks;
    }

    /** Tries where in an object's first word this JVM keeps the hash code. */
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
                    || (before & 3) != 1
                    || (after & 3) != 1
                    || ((int) (before >>> shift) & HASH_BITS) != 0) {
                return -1;
            }
            found = shift;
        }
        return found;
    }
}
