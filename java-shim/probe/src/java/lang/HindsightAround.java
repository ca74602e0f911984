package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import jdk.internal.misc.Unsafe;

/**
 * Logs the writes of calls that write in place of instructions: those of {@code Unsafe}, of
 * variable handles and of reflection.
 *
 * <p>Such a call names the object and, at best, the offset in it. The layout of the object's class
 * is looked up once.
 */
final class HindsightAround {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final byte MARK = 0x5a;
    private static final long MARKS = 0x5a5a_5a5a_5a5a_5a5aL;

    /**
     * Layouts, each within {@link #NEAR} places of the hash of its class. If other classes have all
     * of these places, a layout replaces the first.
     */
    private static final Layout[] LAYOUTS = new Layout[1024];

    private static final int NEAR = 8;

    /**
     * The offsets of the first elements in arrays of elements of 1, 2, 4 and 8 bytes. They are
     * measured, because the JDK's constants for them differ in type between its versions.
     */
    private static final int[] BASES = {
        base(new byte[] {MARK, MARK, MARK, MARK, MARK, MARK, MARK, MARK}),
        base(new short[] {(short) MARKS, (short) MARKS, (short) MARKS, (short) MARKS}),
        base(new int[] {(int) MARKS, (int) MARKS}),
        base(new long[] {MARKS}),
    };

    private HindsightAround() {}

    /** The offset of the eight marked bytes. The length lies before them and contains no mark. */
    private static int base(Object array) {
        int offset = Integer.BYTES;
        while (U.getLongUnaligned(array, offset) != MARKS) {
            offset++;
        }
        return offset;
    }

    /** The offsets of a class's fields in its objects. It does not keep the class alive. */
    private static final class Layout extends WeakReference<Class<?>> {
        final int[] ids;
        final long[] offsets;

        /** The widths of primitive fields in bytes, 0 for references. */
        final byte[] widths;

        /**
         * In a variable handle's class, the offset of the field with the offset at which the handle
         * writes; else 0.
         */
        final long place;

        /**
         * In the class of an indirect variable handle, the offset of the field with the handle
         * behind it, which nobody else sees; else 0.
         */
        final long direct;

        /** Whether a variable handle writes to objects or arrays. */
        final boolean toHeap;

        Layout(Object object) {
            super(object.getClass());
            int[] found = new int[16];
            int count = HindsightWrites.fields(object, found);
            if (count > found.length) {
                found = new int[count];
                count = HindsightWrites.fields(object, found);
            }
            if (count < 0 || count > found.length) {
                throw new IllegalStateException();
            }
            ids = found;
            offsets = new long[count];
            widths = new byte[count];
            long place = 0;
            long direct = 0;
            for (int i = 0; i < count; i++) {
                Field field = HindsightWrites.field(object, ids[i]);
                offsets[i] = U.objectFieldOffset(field);
                Class<?> type = field.getType();
                widths[i] = type.isPrimitive() ? width(type) : 0;
                if (object instanceof VarHandle && type == long.class && field.getName().equals("fieldOffset")) {
                    place = offsets[i];
                } else if (object instanceof VarHandle && field.getName().equals("directTarget")) {
                    direct = offsets[i];
                }
            }
            this.place = place;
            this.direct = direct;
            // Only for the JDK's own classes, whose names its build writes here.
            String name = object.getClass().getName();
            toHeap = object instanceof VarHandle && !name.contains("FieldStatic") && !name.contains("Segment");
        }

        /** Logs the value of the field at an offset. */
        boolean keep(Object object, long offset) {
            for (int i = 0; i < offsets.length; i++) {
                if (offsets[i] == offset) {
                    keep(object, i);
                    return true;
                }
            }
            return false;
        }

        void keepAll(Object object) {
            for (int i = 0; i < offsets.length; i++) {
                keep(object, i);
            }
        }

        private void keep(Object object, int field) {
            HindsightLog log = HindsightLog.current();
            long offset = offsets[field];
            int id = ids[field];
            switch (widths[field]) {
                case 0:
                    log.reference(object, id, U.getReference(object, offset));
                    break;
                case Byte.BYTES:
                    log.word(object, id, U.getByte(object, offset));
                    break;
                case Short.BYTES:
                    log.word(object, id, U.getShort(object, offset));
                    break;
                case Integer.BYTES:
                    log.word(object, id, U.getInt(object, offset));
                    break;
                default:
                    log.word(object, id, U.getLong(object, offset));
            }
        }
    }

    /** The approximate size of a field or an element in bytes. */
    static byte width(Class<?> type) {
        if (type == byte.class || type == boolean.class) {
            return Byte.BYTES;
        } else if (type == short.class || type == char.class) {
            return Short.BYTES;
        } else if (type == long.class || type == double.class) {
            return Long.BYTES;
        }
        return Integer.BYTES;
    }

    /** Initialises all that a probe needs and links the native methods. Called by the agent. */
    static void start() {
        layout(Object.class);
        HindsightWrites.element(null, 0);
    }

    static void handle(VarHandle handle, Object object) {
        if (handle == null) {
            return;
        }
        try {
            Layout of = layout(handle);
            if (isDirect(handle, of) && isKept(object)) {
                keep(of.place == 0 ? 0 : U.getLong(handle, of.place), object);
            }
        } catch (Throwable noMemoryOrStack) {
            HindsightLog.current().forget();
        }
    }

    /**
     * As above, for a handle that is given an array, a buffer or something else that leads to one,
     * and an index.
     */
    static void handle(VarHandle handle, Object array, int index) {
        if (handle == null) {
            return;
        }
        try {
            if (isDirect(handle, layout(handle))) {
                HindsightWrites.element(array, index);
            }
        } catch (Throwable noMemoryOrStack) {
            HindsightLog.current().forget();
        }
    }

    /**
     * Whether a handle writes at the place that its coordinates name. Other handles have bound
     * coordinates or compute theirs from those that they are given, so the place is not known.
     */
    private static boolean isDirect(VarHandle handle, Layout of) {
        if (of.direct == 0) {
            return true;
        }
        Object target = U.getReference(handle, of.direct);
        if (target == null || layout(target).toHeap) {
            HindsightLog.current().forget();
        }
        return false;
    }

    /** Logs the value at an offset in an object, or all of the object if there is no such field. */
    private static void keep(long offset, Object object) {
        if (object.getClass().isArray()) {
            HindsightWrites.array(object);
            return;
        }
        Layout layout = layout(object);
        if (offset == 0 || !layout.keep(object, offset)) {
            layout.keepAll(object);
        }
    }

    static void object(Object object) {
        if (!isKept(object)) {
            return;
        } else if (object.getClass().isArray()) {
            HindsightWrites.array(object);
            return;
        }
        try {
            layout(object).keepAll(object);
        } catch (Throwable noMemoryOrStack) {
            HindsightLog.current().forget();
        }
    }

    /** Called before a number of bytes are written from an offset on. */
    static void memory(Object object, long offset, long bytes) {
        if (!isKept(object)) {
            return;
        }
        try {
            Class<?> type = object.getClass();
            if (type.isArray()) {
                elements(object, type, offset, bytes);
            } else if (!layout(object).keep(object, offset)) {
                layout(object).keepAll(object);
            }
        } catch (Throwable noMemoryOrStack) {
            HindsightLog.current().forget();
        }
    }

    private static void elements(Object array, Class<?> type, long offset, long bytes) {
        long scale = U.arrayIndexScale(type);
        long first = Math.max(offset - BASES[Long.numberOfTrailingZeros(scale)], 0);
        int start = (int) (first / scale);
        if (array instanceof Object[] && bytes <= Long.BYTES) {
            HindsightWrites.store((Object[]) array, start);
            return;
        }
        long end = (first + bytes + scale - 1) / scale;
        int length = java.lang.reflect.Array.getLength(array);
        HindsightWrites.copy(array, start, (int) Math.min(end, length) - start);
    }

    /**
     * Whether an object's fields are recorded. Memory outside the heap, static fields and threads
     * are not.
     */
    private static boolean isKept(Object object) {
        return object != null && !(object instanceof Class) && !(object instanceof Thread);
    }

    private static Layout layout(Object object) {
        Class<?> type = object.getClass();
        int first = type.hashCode() & LAYOUTS.length - NEAR;
        int free = first;
        for (int at = first; at < first + NEAR; at++) {
            Layout layout = LAYOUTS[at];
            if (layout == null || layout.refersTo(null)) {
                free = at;
            } else if (layout.refersTo(type)) {
                return layout;
            }
        }
        Layout layout = new Layout(object);
        LAYOUTS[free] = layout;
        return layout;
    }
}
