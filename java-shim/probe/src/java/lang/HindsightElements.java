package java.lang;

import java.lang.reflect.Array;
import jdk.internal.misc.Unsafe;

/**
 * Records the elements of arrays that unrecorded code has filled (a native method, a stream, {@code
 * String.toCharArray}), for which there are no events. An array is examined when the trace first
 * names it and, if it is empty then, for a while whenever it is named again. Each thread has an
 * instance of its own.
 *
 * <p><b>Invariant:</b> as of {@link HindsightTracer}.
 */
final class HindsightElements {
    // In place of the index of the element that the event itself records: it records no element, or
    // all of them.
    static final int ALL = -1;
    static final int NONE = -2;

    /** The length of the longest array whose elements are recorded. */
    private static final int MOST = 64;

    /** The depth to which arrays of objects nested in each other are recorded at once. */
    private static final int MOST_NESTED = 2;

    /** The number of arrays that are examined again, and how often each is. */
    private static final int AWAITED = 4;

    private static final int LOOKS = 8;

    private static final Unsafe U = Unsafe.getUnsafe();

    private static boolean told;

    /**
     * The elements of an array, and of one nested in it, until they are recorded; and the numbers
     * of these objects.
     */
    private Object[] seen;

    private long[] ids;

    /** The size in bytes of an element of the array that {@link #find} has examined. */
    private int width;

    private int nested;

    /**
     * The numbers of arrays that were empty when first seen, with the number of times that each is
     * still to be examined.
     */
    private final long[] awaited = new long[AWAITED];

    private final int[] looks = new int[AWAITED];

    private int next;

    private HindsightElements() {}

    /** Decides whether elements are recorded. Called before any probe. */
    static void start(boolean told) {
        HindsightElements.told = told;
        width(new byte[0], ALL);
    }

    /** A new instance for a thread; null if elements are not recorded. */
    static HindsightElements ofThread() {
        return told ? new HindsightElements() : null;
    }

    /**
     * Whether an array has elements to record; if so, {@link #tell} must follow. New objects in it
     * are recorded here, before the array.
     *
     * @param toldElement the index of the element that the event itself records
     */
    boolean find(Object array, int length, int toldElement, HindsightTracer tracer) {
        boolean ofObjects = array instanceof Object[];
        if (length > MOST || toldElement == NONE || ofObjects && nested == MOST_NESTED) {
            return false;
        }
        int found = width(array, toldElement);
        if (found != 0 && ofObjects) {
            if (!hasRoom()) {
                return false;
            }
            number((Object[]) array, tracer);
        }
        width = found;
        return found != 0;
    }

    /** Whether an array in which nothing was found is to be examined again. */
    boolean await(long id, int length, int toldElement) {
        if (length == 0 || length > MOST || toldElement != ALL || nested != 0) {
            return false;
        }
        awaited[next] = id;
        looks[next] = LOOKS;
        next = (next + 1) % AWAITED;
        return true;
    }

    boolean awaits(long id) {
        return place(id) >= 0;
    }

    private int place(long id) {
        for (int i = 0; i < AWAITED; i++) {
            if (awaited[i] == id) {
                return i;
            }
        }
        return -1;
    }

    /** Stops examining an array again. */
    void forget(long id) {
        awaited[place(id)] = 0;
    }

    /**
     * Records the elements that an array has got since it was first seen. Returns whether it is to
     * be examined again.
     */
    boolean tellLate(Object array, long id, int toldElement, HindsightTracer tracer) {
        int place = place(id);
        int length = Array.getLength(array);
        boolean isFilled = find(array, length, toldElement, tracer);
        if (isFilled) {
            tell(array, length, id, tracer);
        } else if (toldElement == ALL && --looks[place] > 0) {
            return true;
        }
        // Once recorded code writes to it, its events record the elements.
        awaited[place] = 0;
        return false;
    }

    /** Makes room for the elements of arrays of objects, unless there is no memory for it. */
    private boolean hasRoom() {
        if (ids != null) {
            return true;
        }
        long began = 0;
        try {
            began = HindsightMemory.begin();
            seen = new Object[MOST_NESTED * MOST];
            ids = new long[MOST_NESTED * MOST];
            return true;
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            return false;
        }
    }

    private void number(Object[] array, HindsightTracer tracer) {
        int from = nested * MOST;
        nested++;
        try {
            for (int i = 0; i < array.length; i++) {
                Object one = array[i];
                seen[from + i] = one;
                ids[from + i] = tracer.id(one);
            }
        } finally {
            nested--;
        }
    }

    /**
     * Records the elements, behind the event of the array. They are in order with the writes to the
     * array: what other threads had recorded by then is in the elements read here.
     */
    void tell(Object array, int length, long id, HindsightTracer tracer) {
        try {
            tellSeen(array, length, id, tracer);
        } finally {
            letGo(array, length);
        }
    }

    /** Drops the references to what {@link #find} has found. */
    void letGo(Object array, int length) {
        if (array instanceof Object[]) {
            int from = nested * MOST;
            for (int i = 0; i < length; i++) {
                seen[from + i] = null;
            }
        }
    }

    private void tellSeen(Object array, int length, long id, HindsightTracer tracer) {
        int bytes = length * width;
        if (tracer.room(bytes, tracer.current) == 0) {
            return;
        }
        // The margin includes room for a stamp.
        long p = tracer.roomToWrite(id, tracer.time);
        boolean ofObjects = array instanceof Object[];
        if (p == 0 || ofObjects && !isAsSeen((Object[]) array)) {
            return;
        }
        U.putByte(p, (byte) HindsightStream.TEXT_TAG);
        U.putLong(p + 1, id);
        U.putInt(p + 9, length);
        U.putInt(p + 13, 0);
        U.putByte(p + 17, ofObjects ? HindsightStream.REFERENCES : HindsightStream.PRIMITIVES);
        U.putShort(p + 18, (short) bytes);
        if (ofObjects) {
            int from = nested * MOST;
            for (int i = 0; i < length; i++) {
                U.putLong(p + 20 + (i << 3), ids[from + i]);
            }
        } else {
            put(p + 20, array);
        }
        tracer.done(p + 20 + bytes);
    }

    /**
     * Whether the numbers are still those of the array's elements. Asking for them again may record
     * further objects.
     */
    private boolean isAsSeen(Object[] array) {
        int from = nested * MOST;
        for (int i = 0; i < array.length; i++) {
            if (array[i] != seen[from + i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * The size in bytes of an element in the log; 0 if all elements have their default value,
     * except the one that the event itself records.
     */
    private static int width(Object array, int toldElement) {
        if (array instanceof Object[]) {
            Object[] all = (Object[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != null && i != toldElement) {
                    return Long.BYTES;
                }
            }
        } else if (array instanceof byte[]) {
            byte[] all = (byte[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0 && i != toldElement) {
                    return Byte.BYTES;
                }
            }
        } else if (array instanceof char[]) {
            char[] all = (char[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0 && i != toldElement) {
                    return Character.BYTES;
                }
            }
        } else if (array instanceof int[]) {
            int[] all = (int[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0 && i != toldElement) {
                    return Integer.BYTES;
                }
            }
        } else if (array instanceof long[]) {
            long[] all = (long[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0 && i != toldElement) {
                    return Long.BYTES;
                }
            }
        } else if (array instanceof double[]) {
            double[] all = (double[]) array;
            for (int i = 0; i < all.length; i++) {
                if (Double.doubleToRawLongBits(all[i]) != 0 && i != toldElement) {
                    return Double.BYTES;
                }
            }
        } else if (array instanceof boolean[]) {
            boolean[] all = (boolean[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] && i != toldElement) {
                    return Byte.BYTES;
                }
            }
        } else if (array instanceof float[]) {
            float[] all = (float[]) array;
            for (int i = 0; i < all.length; i++) {
                if (Float.floatToRawIntBits(all[i]) != 0 && i != toldElement) {
                    return Float.BYTES;
                }
            }
        } else {
            short[] all = (short[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0 && i != toldElement) {
                    return Short.BYTES;
                }
            }
        }
        return 0;
    }

    /** Stores the elements of an array of a primitive type in order. */
    private static void put(long p, Object array) {
        if (array instanceof byte[]) {
            for (byte one : (byte[]) array) {
                U.putByte(p++, one);
            }
        } else if (array instanceof char[]) {
            for (char one : (char[]) array) {
                U.putChar(p, one);
                p += Character.BYTES;
            }
        } else if (array instanceof int[]) {
            for (int one : (int[]) array) {
                U.putInt(p, one);
                p += Integer.BYTES;
            }
        } else if (array instanceof long[]) {
            for (long one : (long[]) array) {
                U.putLong(p, one);
                p += Long.BYTES;
            }
        } else if (array instanceof double[]) {
            for (double one : (double[]) array) {
                U.putLong(p, Double.doubleToRawLongBits(one));
                p += Double.BYTES;
            }
        } else if (array instanceof boolean[]) {
            for (boolean one : (boolean[]) array) {
                U.putByte(p++, (byte) (one ? 1 : 0));
            }
        } else if (array instanceof float[]) {
            for (float one : (float[]) array) {
                U.putInt(p, Float.floatToRawIntBits(one));
                p += Float.BYTES;
            }
        } else {
            for (short one : (short[]) array) {
                U.putShort(p, one);
                p += Short.BYTES;
            }
        }
    }
}
