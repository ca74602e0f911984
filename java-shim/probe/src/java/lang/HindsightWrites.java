package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * The probes before writes, which log the overwritten values in the current thread's {@link
 * HindsightLog}.
 *
 * <p>They are used with {@code copy=deep} and {@code depth:N} only. A probe does not throw what the
 * write itself would not: nulls and bad indices are left to the write.
 */
public final class HindsightWrites {
    private static final Unsafe U = Unsafe.getUnsafe();

    /**
     * For each field id: the field's offset times 16, whether it is volatile, and its width; 0 if
     * not known yet, -1 if it cannot be known.
     */
    private static int[] places = new int[1024];

    /** Held to change the places. */
    private static final HindsightLock LOCK = new HindsightLock();

    /**
     * Counts probes that found no stack. Code in handlers increments it, where the handled code
     * must go on.
     */
    public static int missed;

    private static final int BITS_OF_KIND = 4;

    private static final int VOLATILE = 8;

    // Widths; a reference's does not matter.
    private static final int REFERENCE = 0;
    private static final int BYTE = 1;
    private static final int SHORT = 2;
    private static final int INT = 3;
    private static final int LONG = 4;

    private HindsightWrites() {}

    /** The position in the current thread's log, which a method keeps from its entry on. */
    @DontInline
    @Hidden
    public static long enter() {
        return HindsightLog.current().position();
    }

    /** Called before a field is written. */
    @DontInline
    @Hidden
    public static void put(Object object, int field) {
        if (object != null) {
            put(HindsightLog.current(), object, field);
        }
    }

    /** As above, in a method that was entered at this position. */
    @DontInline
    @Hidden
    public static void put(Object object, int field, long position) {
        if (object != null) {
            HindsightLog log = HindsightLog.current();
            log.returnTo(position);
            put(log, object, field);
        }
    }

    @ForceInline
    private static void put(HindsightLog log, Object object, int field) {
        if (!log.has(object, field)) {
            keep(log, object, field);
        }
    }

    /** Called before some or all of these fields of an object are written; their ids ascend. */
    @DontInline
    @Hidden
    public static void put(Object object, int a, int b) {
        if (object != null) {
            put(HindsightLog.current(), object, a, b);
        }
    }

    @DontInline
    @Hidden
    public static void put(Object object, int a, int b, long position) {
        if (object != null) {
            HindsightLog log = HindsightLog.current();
            log.returnTo(position);
            put(log, object, a, b);
        }
    }

    @ForceInline
    private static void put(HindsightLog log, Object object, int a, int b) {
        if (!log.has(object, a, b)) {
            keep(log, object, a);
            keep(log, object, b);
        }
    }

    /** As above, for three fields. */
    @DontInline
    @Hidden
    public static void put(Object object, int a, int b, int c) {
        if (object != null) {
            put(HindsightLog.current(), object, a, b, c);
        }
    }

    @DontInline
    @Hidden
    public static void put(Object object, int a, int b, int c, long position) {
        if (object != null) {
            HindsightLog log = HindsightLog.current();
            log.returnTo(position);
            put(log, object, a, b, c);
        }
    }

    @ForceInline
    private static void put(HindsightLog log, Object object, int a, int b, int c) {
        if (!log.has(object, a, b, c)) {
            keep(log, object, a);
            keep(log, object, b);
            keep(log, object, c);
        }
    }

    /** Logs the value of a field of any width. */
    private static void keep(HindsightLog log, Object object, int field) {
        int place = place(object, field);
        if (place <= 0) {
            log.forget();
            return;
        }
        int offset = place >>> BITS_OF_KIND;
        switch (place & VOLATILE - 1) {
            case BYTE:
                log.word(object, field, U.getByte(object, offset));
                break;
            case SHORT:
                log.word(object, field, U.getShort(object, offset));
                break;
            case INT:
                log.word(object, field, U.getInt(object, offset));
                break;
            case LONG:
                log.word(object, field, U.getLong(object, offset));
                break;
            default:
                log.reference(object, field, U.getReference(object, offset));
        }
        // The code knows this only of fields of its own class.
        if ((place & VOLATILE) != 0) {
            HindsightLog.release();
        }
    }

    @DontInline
    @Hidden
    public static void store(Object[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            HindsightLog.current().reference(array, HindsightLog.ELEMENT | index, array[index]);
        }
    }

    @DontInline
    @Hidden
    public static void store(int[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            HindsightLog.current().word(array, HindsightLog.ELEMENT | index, array[index]);
        }
    }

    @DontInline
    @Hidden
    public static void store(long[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            HindsightLog.current().word(array, HindsightLog.ELEMENT | index, array[index]);
        }
    }

    @DontInline
    @Hidden
    public static void store(float[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            long bits = Float.floatToRawIntBits(array[index]);
            HindsightLog.current().word(array, HindsightLog.ELEMENT | index, bits);
        }
    }

    @DontInline
    @Hidden
    public static void store(double[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            long bits = Double.doubleToRawLongBits(array[index]);
            HindsightLog.current().word(array, HindsightLog.ELEMENT | index, bits);
        }
    }

    @DontInline
    @Hidden
    public static void store(char[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            HindsightLog.current().word(array, HindsightLog.ELEMENT | index, array[index]);
        }
    }

    @DontInline
    @Hidden
    public static void store(short[] array, int index) {
        if (array != null && index >= 0 && index < array.length) {
            HindsightLog.current().word(array, HindsightLog.ELEMENT | index, array[index]);
        }
    }

    /**
     * Called before a {@code byte} or {@code boolean} element is written, since one instruction
     * writes both.
     */
    @DontInline
    @Hidden
    public static void store(Object array, int index) {
        if (array instanceof byte[]) {
            byte[] bytes = (byte[]) array;
            if (index >= 0 && index < bytes.length) {
                HindsightLog.current().word(bytes, HindsightLog.ELEMENT | index, bytes[index]);
            }
        } else if (array instanceof boolean[]) {
            boolean[] booleans = (boolean[]) array;
            if (index >= 0 && index < booleans.length) {
                long bit = booleans[index] ? 1 : 0;
                HindsightLog.current().word(booleans, HindsightLog.ELEMENT | index, bit);
            }
        }
    }

    /** Called before any element of an array is written. */
    @Hidden
    public static void array(Object array) {
        if (array != null && array.getClass().isArray()) {
            copy(array, 0, Array.getLength(array));
        }
    }

    /** Called before an element of an array of any type is written, or a place in a buffer. */
    @DontInline
    @Hidden
    public static void element(Object array, int index) {
        if (array instanceof Object[]) {
            store((Object[]) array, index);
        } else if (array instanceof byte[]) {
            // They may be accessed as a wider type.
            copy(array, index, Math.min(Long.BYTES, ((byte[]) array).length - index));
        } else if (array instanceof char[]) {
            // A code point may take two.
            copy(array, index, Math.min(2, ((char[]) array).length - index));
        } else if (array instanceof ByteBuffer) {
            ByteBuffer buffer = (ByteBuffer) array;
            if (buffer.hasArray()) {
                element(buffer.array(), buffer.arrayOffset() + index);
            }
        } else {
            copy(array, index, 1);
        }
    }

    /** Called before bytes are decoded to a buffer: none yields more than two characters. */
    @Hidden
    public static void decoded(ByteBuffer in, CharBuffer out) {
        if (in != null && out != null && out.hasArray()) {
            copy(out.array(), out.arrayOffset() + out.position(), atMost(out.remaining(), 2L * in.remaining()));
        }
    }

    /** Called before characters are encoded to a buffer: none yields more than eight bytes. */
    @Hidden
    public static void encoded(CharBuffer in, ByteBuffer out) {
        if (in != null && out != null && out.hasArray()) {
            copy(out.array(), out.arrayOffset() + out.position(), atMost(out.remaining(), 8L * in.remaining()));
        }
    }

    /** The most that is written, including the few that an earlier state may add. */
    private static int atMost(int remaining, long written) {
        return (int) Math.min(remaining, written + 16);
    }

    /**
     * Called before the text of a builder changes from an index on; what lies behind its end does
     * not count.
     */
    @Hidden
    static void text(AbstractStringBuilder builder, int from) {
        int start = Math.max(from, 0);
        copy(builder.value, start << builder.coder, builder.count - start << builder.coder);
    }

    /** Called before a character of a builder changes. */
    @Hidden
    static void character(AbstractStringBuilder builder, int index) {
        if (index >= 0 && index < builder.count) {
            copy(builder.value, index << builder.coder, 1 << builder.coder);
        }
    }

    /** Called before a write by a variable handle. */
    @Hidden
    public static void handle(VarHandle handle, Object object) {
        HindsightAround.handle(handle, object);
    }

    /** Called before a write of an element by a variable handle. */
    @Hidden
    public static void handle(VarHandle handle, Object array, int index) {
        HindsightAround.handle(handle, array, index);
    }

    /** Called before a write by {@code Unsafe}. */
    @Hidden
    public static void memory(Object object, long offset) {
        HindsightAround.memory(object, offset, Long.BYTES);
    }

    /** Called before a write of this many bytes by {@code Unsafe}. */
    @Hidden
    public static void bytes(Object object, long offset, long bytes) {
        HindsightAround.memory(object, offset, bytes);
    }

    /** Called before any field of an object is written. */
    @Hidden
    public static void object(Object object) {
        HindsightAround.object(object);
    }

    /** Called before {@code System.arraycopy} to an array, which may still fail. */
    @Hidden
    public static void copy(Object array, int start, int length) {
        if (array == null || start < 0 || length <= 0) {
            // Nothing is written; the failure is the program's own affair.
            return;
        }
        long began = 0;
        try {
            Class<?> element = array.getClass().getComponentType();
            if (element == null || length > Array.getLength(array) - start) {
                return;
            }
            began = HindsightMemory.begin();
            long bytes = (long) length * HindsightAround.width(element);
            if (HindsightLog.isKept(bytes)) {
                // When memory is short, the stack must not hold the log meanwhile.
                Object old = range(array, element, start, length);
                HindsightLog.current().range(array, start, old, bytes);
            } else {
                HindsightLog.current().unknown(array, start);
            }
        } catch (Throwable noMemory) {
            HindsightMemory.ranOut(noMemory, began);
            HindsightLog.current().forget();
        }
    }

    /**
     * Called before characters from one index to another are copied to an array from a start on.
     */
    @Hidden
    public static void characters(int from, int to, Object array, int start) {
        copy(array, start, to - from);
    }

    /**
     * Called before bytes between two indices are transcoded into an array from a start on, into up
     * to twice as many.
     */
    @Hidden
    public static void coded(int from, int to, Object array, int start) {
        if (array instanceof byte[] && to > from) {
            copy(array, start, (int) Math.min(2L * (to - from), ((byte[]) array).length - start));
        }
    }

    private static Object range(Object array, Class<?> element, int start, int length) {
        Object old;
        if (array instanceof Object[]) {
            old = new Object[length];
        } else if (array instanceof byte[]) {
            old = new byte[length];
        } else if (array instanceof char[]) {
            old = new char[length];
        } else {
            old = Array.newInstance(element, length);
        }
        System.arraycopy(array, start, old, 0, length);
        return old;
    }

    /** Called before other threads may see what this one has written. */
    @ForceInline
    @Hidden
    public static void release() {
        HindsightLog.release();
    }

    /** A field's offset in an object and its width; 0 or less if it cannot be read. */
    @ForceInline
    private static int place(Object object, int field) {
        int[] known = places;
        int place = field < known.length ? known[field] : 0;
        return place != 0 ? place : find(object, field);
    }

    private static int find(Object object, int field) {
        int place = -1;
        long began = 0;
        try {
            began = HindsightMemory.begin();
            Field found = field(object, field);
            if (found != null) {
                place = (int) U.objectFieldOffset(found) << BITS_OF_KIND | width(found.getType())
                        | ((found.getModifiers() & Modifier.VOLATILE) != 0 ? VOLATILE : 0);
            }
            know(field, place);
        } catch (Throwable noMemoryOrStack) {
            // It is asked for again next time; this write is lost.
            HindsightMemory.ranOut(noMemoryOrStack, began);
            return -1;
        }
        return place;
    }

    private static int width(Class<?> type) {
        if (!type.isPrimitive()) {
            return REFERENCE;
        } else if (type == long.class || type == double.class) {
            return LONG;
        } else if (type == int.class || type == float.class) {
            return INT;
        }
        return type == short.class || type == char.class ? SHORT : BYTE;
    }

    private static void know(int field, int place) {
        LOCK.acquire();
        try {
            if (field >= places.length) {
                places = Arrays.copyOf(places, Math.max(field + 1, 2 * places.length));
            }
            places[field] = place;
        } finally {
            LOCK.held = 0;
        }
    }

    /**
     * The field of this id, in the object's class or a superclass; null if it is not found.
     *
     * @throws OutOfMemoryError if there is no memory for it
     */
    static native Field field(Object object, int field);

    /**
     * Puts the ids of all fields of an object into an array, as far as there is room. Returns their
     * number, or -1 if it is not available.
     */
    static native int fields(Object object, int[] into);
}
