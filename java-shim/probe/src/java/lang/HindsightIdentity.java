package java.lang;

import java.lang.ref.WeakReference;

/** The number of an object that its hash code alone does not give. It does not keep the object. */
final class HindsightIdentity extends WeakReference<Object> {
    final int hash;
    final long id;

    /** Next in the same bucket. */
    HindsightIdentity next;

    HindsightIdentity(Object object, int hash, long id) {
        super(object);
        this.hash = hash;
        this.id = id;
    }
}
