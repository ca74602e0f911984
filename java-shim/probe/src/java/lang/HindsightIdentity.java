package java.lang;

import java.lang.ref.WeakReference;

/**
 * The number of an object, if its hash code alone does not determine it. It does not keep the
 * object alive.
 */
final class HindsightIdentity extends WeakReference<Object> {
    final int hash;
    final long id;

    /** The next identity in the same bucket. */
    HindsightIdentity next;

    HindsightIdentity(Object object, int hash, long id) {
        super(object);
        this.hash = hash;
        this.id = id;
    }
}
