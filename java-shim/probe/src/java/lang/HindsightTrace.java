package java.lang;

import jdk.internal.vm.annotation.DontInline;

/**
 * The probes of traces, which the agent's build script writes here: one method for each event, by the
 * contract of {@code crates/instrument}. They look like this:
 *
 * <pre>
 * public static void enter(Object a, int i, int id) {
 *     HindsightTracer t = HindsightTracer.get();
 *     if (t == null) return;
 *     long ra = t.id(a);
 *     long p = t.room();
 *     if (p == 0) return;
 *     U.putLong(p, TAG | (long) id << 8);
 *     U.putLong(p + 5, ra);
 *     U.putInt(p + 13, i);
 *     t.done(p + 17);
 * }
 * </pre>
 *
 * <p>They call nothing of the program and allocate nothing once an object is known. They throw only
 * what a stack overflow throws. An event counts when {@link HindsightTracer#done} has stored its
 * end; one that is left before has not happened.
 */
public final class HindsightTrace {
    private static final jdk.internal.misc.Unsafe U = jdk.internal.misc.Unsafe.getUnsafe();

    /**
     * Counts events that stack overflows have cost, of which the last ones are not recorded yet.
     * Inserted code counts here as well: if a probe has found no stack, the code calls nothing.
     */
    public static int overflows;

    private HindsightTrace() {}

    /**
     * Notes that an object's content is secret: the text of a string, and of the strings in an
     * array.
     */
    public static void hide(Object object, int method) {
        HindsightTracer t = HindsightTracer.hiding(method);
        if (t != null && object != null) {
            t.hide(object);
        }
    }

    /** Called when an array was made together with the arrays in it. */
    public static void made(Object array) {
        if (array instanceof Object[]) {
            Object[] all = (Object[]) array;
            // What is put into an empty array later is recorded when the array is named.
            if (all.length == 0 || all[0] == null) {
                return;
            }
            HindsightTracer t = HindsightTracer.get();
            if (t != null) {
                t.made(array);
            }
            for (int i = 0; i < all.length; i++) {
                if (all[i] != null) {
                    made(all[i]);
                    store(array, i, all[i]);
                }
            }
        }
    }

    /**
     * Called when a handle of a field was made from a class and a name, or from the field's
     * reflection.
     */
    public static void named(Object handle, Object owner, Object name) {
        HindsightTracer t = HindsightTracer.get();
        if (t != null && handle != null) {
            t.named(handle, owner, name);
        }
    }

    /** Called when a basic block runs. */
    public static void cover(int block) {
        long place = HindsightTracer.blocks + block;
        // Reading causes no contention.
        if (U.getByte(place) == 0) {
            U.putByte(place, (byte) 1);
        }
    }

    // @PROBES@
}
