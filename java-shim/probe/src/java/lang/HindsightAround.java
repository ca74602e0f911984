package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import jdk.internal.misc.Unsafe;

/**
 * Writes around the instructions for them: by {@code Unsafe}, by variable handles, by reflection.
 *
 * <p>They say which object, and perhaps where in it. The fields of its class are looked up once.
 */
final class HindsightAround {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final byte MARK = 0x5a;
    private static final long MARKS = 0x5a5a_5a5a_5a5a_5a5aL;

    /** Near the place by the hash of the class; where others are in all of these, it takes the first. */
    private static final Layout[] LAYOUTS = new Layout[1024];

    private static final int NEAR = 8;

    /**
     * Where elements of 1, 2, 4 and 8 bytes begin in their arrays. What tells of that has one type in
     * some versions of the JDK, and another in others.
     */
    private static final int[] BASES = {
        base(new byte[] {MARK, MARK, MARK, MARK, MARK, MARK, MARK, MARK}),
        base(new short[] {(short) MARKS, (short) MARKS, (short) MARKS, (short) MARKS}),
        base(new int[] {(int) MARKS, (int) MARKS}),
        base(new long[] {MARKS}),
    };

    private HindsightAround() {}

    /** Where the first of eight bytes with marks stands. The length is before them, and is none. */
    private static int base(Object array) {
        int offset = Integer.BYTES;
        while (U.getLongUnaligned(array, offset) != MARKS) {
            offset++;
        }
        return offset;
    }

    /** Where the fields of a class are in its objects. It keeps no class alive. */
    private static final class Layout extends WeakReference<Class<?>> {
        final int[] ids;
        final long[] offsets;

        /** The widths of primitive fields in bytes, 0 for references. */
        final byte[] widths;

        /** Where a variable handle says in which place it writes; 0 in other classes. */
        final long place;

        /** Where one that leads to another one has that, which nobody else sees; 0 in other classes. */
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
            // The JDK's own classes alone, and these are written out by its build.
            String name = object.getClass().getName();
            toHeap = object instanceof VarHandle && !name.contains("FieldStatic") && !name.contains("Segment");
        }

        /** Keeps what the field at an offset holds. */
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

    /** Bytes of a field or an element, about. */
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

    /** Called by the agent: all that a probe needs is initialised, and native methods are found. */
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

    /** The same where it is given an array or a buffer, or something else that leads to one, and an index. */
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
     * Whether a handle writes where it is told. To others coordinates are bound, or they are made of those that these
     * are given: nobody knows what is written.
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

    /** Keeps what is at an offset in an object, or all of it if there is no field. */
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

    /** Before bytes from an offset on are written. */
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

    /** Memory outside the heap, static fields and threads are no part of what is recorded. */
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
