package java.lang;

import java.lang.reflect.Field;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * The probes before writes: what they write over goes to the current thread's {@link HindsightLog}.
 *
 * <p>With {@code copy=deep} and {@code depth:N} alone. A probe does not throw what the write itself
 * would not: nulls and bad indices are the write's own affair.
 */
public final class HindsightWrites {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Where the fields with ids are in their objects; 0 if not known yet, -1 if nobody knows. */
    private static int[] offsets = new int[1024];

    private HindsightWrites() {}

    /** The position in the current thread's log, which a method keeps from its entry on. */
    @DontInline
    @Hidden
    public static long enter() {
        return HindsightLog.current().position();
    }

    /** Before a reference is written to a field. */
    @DontInline
    @Hidden
    public static void put(Object object, int field) {
        int offset = offset(object, field);
        if (offset > 0) {
            HindsightLog.current().reference(object, field, U.getReference(object, offset));
        }
    }

    /** Before an {@code int} or {@code float} is written to a field. */
    @DontInline
    @Hidden
    public static void putInt(Object object, int field) {
        int offset = offset(object, field);
        if (offset > 0) {
            HindsightLog.current().word(object, field, U.getInt(object, offset));
        }
    }

    /** Before a {@code long} or {@code double} is written to a field. */
    @DontInline
    @Hidden
    public static void putLong(Object object, int field) {
        int offset = offset(object, field);
        if (offset > 0) {
            HindsightLog.current().word(object, field, U.getLong(object, offset));
        }
    }

    /** Before a {@code short} or {@code char} is written to a field. */
    @DontInline
    @Hidden
    public static void putShort(Object object, int field) {
        int offset = offset(object, field);
        if (offset > 0) {
            HindsightLog.current().word(object, field, U.getShort(object, offset));
        }
    }

    /** Before a {@code boolean} or {@code byte} is written to a field. */
    @DontInline
    @Hidden
    public static void putByte(Object object, int field) {
        int offset = offset(object, field);
        if (offset > 0) {
            HindsightLog.current().word(object, field, U.getByte(object, offset));
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

    /** Of {@code byte} or {@code boolean}, which one instruction writes. */
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

    /** Before {@code System.arraycopy} to an array, which may yet refuse. */
    @Hidden
    public static void copy(Object array, int start, int length) {
        if (array == null || start < 0 || length <= 0) {
            return;
        }
        HindsightLog log = HindsightLog.current();
        try {
            Object old = range(array, start, length);
            if (old != null) {
                log.reference(array, HindsightLog.RANGE | start, old);
            }
        } catch (Throwable noMemory) {
            log.forget();
        }
    }

    /** A copy of a range, or null if there is no such range or it is of no array. */
    private static Object range(Object array, int start, int length) {
        if (array instanceof Object[]) {
            Object[] all = (Object[]) array;
            if (length > all.length - start) {
                return null;
            }
            Object[] old = new Object[length];
            System.arraycopy(all, start, old, 0, length);
            return old;
        }
        Class<?> type = array.getClass();
        if (!type.isArray() || length > java.lang.reflect.Array.getLength(array) - start) {
            return null;
        }
        Object old = java.lang.reflect.Array.newInstance(type.getComponentType(), length);
        System.arraycopy(array, start, old, 0, length);
        return old;
    }

    /** Before other threads may learn what this one has written. */
    @ForceInline
    @Hidden
    public static void release() {
        HindsightLog.release();
    }

    /** Where a field is in an object; nothing above 0 if there is nothing to be read. */
    @ForceInline
    private static int offset(Object object, int field) {
        int[] known = offsets;
        int offset = field < known.length ? known[field] : 0;
        if (object == null) {
            return 0;
        }
        return offset != 0 ? offset : find(object, field);
    }

    private static int find(Object object, int field) {
        int offset = -1;
        try {
            Field found = field(object, field);
            if (found != null) {
                offset = (int) U.objectFieldOffset(found);
            }
            know(field, offset);
        } catch (Throwable noMemoryOrStack) {
            // Asked again next time; this write is lost.
            HindsightLog.current().forget();
            return -1;
        }
        return offset;
    }

    private static synchronized void know(int field, int offset) {
        if (field >= offsets.length) {
            offsets = Arrays.copyOf(offsets, Math.max(field + 1, 2 * offsets.length));
        }
        offsets[field] = offset;
    }

    /** The field of this id, of the object's class or one above it; null if it is not to be found. */
    private static native Field field(Object object, int field);
}
