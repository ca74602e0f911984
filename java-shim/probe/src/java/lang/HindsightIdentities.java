package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * A table from objects to their numbers, by identity. Hash codes of two objects may be equal, so they
 * only lead to a bucket.
 *
 * <p>{@link #find} takes no lock. While the table grows it may miss an object; {@link #add}, which
 * locks, then finds it.
 *
 * <p><b>Invariant:</b> whatever is thrown in between (no memory, no stack), the table stays sound.
 */
final class HindsightIdentities extends HindsightLock {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int PARTS = 64;

    private HindsightIdentity[] buckets = new HindsightIdentity[256];
    private int size;

    private HindsightIdentities() {}

    static HindsightIdentities[] parts() {
        HindsightIdentities[] parts = new HindsightIdentities[PARTS];
        for (int i = 0; i < PARTS; i++) {
            parts[i] = new HindsightIdentities();
        }
        return parts;
    }

    /** The part of the table for objects with this hash code. */
    static HindsightIdentities part(HindsightIdentities[] parts, int hash) {
        return parts[hash >>> 20 & PARTS - 1];
    }

    /** The identity of an object, or null if it was not found. */
    HindsightIdentity find(Object object, int hash) {
        HindsightIdentity[] all = buckets;
        HindsightIdentity at = all[hash & all.length - 1];
        while (at != null) {
            if (at.hash == hash && at.refersTo(object)) {
                return at;
            }
            at = at.next;
        }
        return null;
    }

    /** Adds an identity, unless its object has got one meanwhile. Returns the one in the table. */
    HindsightIdentity add(HindsightIdentity fresh, Object object) {
        int hash = fresh.hash;
        acquire();
        try {
            HindsightIdentity there = find(object, hash);
            if (there != null) {
                return there;
            }
            if (size >= buckets.length) {
                grow();
            }
            HindsightIdentity[] all = buckets;
            int at = hash & all.length - 1;
            fresh.next = all[at];
            U.storeFence();
            all[at] = fresh;
            size++;
            return fresh;
        } finally {
            held = 0;
        }
    }

    /**
     * Removes the identities of collected objects; if that does not suffice, takes a larger table.
     */
    private void grow() {
        HindsightIdentity[] old = buckets;
        int alive = 0;
        for (int i = 0; i < old.length; i++) {
            HindsightIdentity before = null;
            for (HindsightIdentity at = old[i]; at != null; at = at.next) {
                if (!at.refersTo(null)) {
                    alive++;
                    before = at;
                } else if (before == null) {
                    old[i] = at.next;
                } else {
                    before.next = at.next;
                }
            }
        }
        size = alive;
        if (alive < old.length / 2 || old.length >= 1 << 26) {
            return;
        }
        HindsightIdentity[] larger = new HindsightIdentity[2 * old.length];
        for (HindsightIdentity first : old) {
            HindsightIdentity at = first;
            while (at != null) {
                HindsightIdentity next = at.next;
                int place = at.hash & larger.length - 1;
                at.next = larger[place];
                larger[place] = at;
                at = next;
            }
        }
        U.storeFence();
        buckets = larger;
    }
}
