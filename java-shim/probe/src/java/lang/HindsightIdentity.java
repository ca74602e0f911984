package java.lang;

import java.lang.ref.WeakReference;

/** The number of an object, which no other object of the run has. It does not keep the object. */
final class HindsightIdentity extends WeakReference<Object> {
    final int hash;
    final long id;

    /** The stream that has written to the object last. */
    long writer;

    /** Next in the same bucket. */
    HindsightIdentity next;

    HindsightIdentity(Object object, int hash, long id, long writer) {
        super(object);
        this.hash = hash;
        this.id = id;
        this.writer = writer;
    }
}
