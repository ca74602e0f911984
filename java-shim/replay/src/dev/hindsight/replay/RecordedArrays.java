package dev.hindsight.replay;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Restores arrays. */
final class RecordedArrays {
    private RecordedArrays() {}

    /** An array of primitives from its elements as little-endian bytes. */
    static Object primitives(Type type, byte[] bytes) throws Hole {
        Class<?> component = type.running == null ? null : type.running.getComponentType();
        int size = component == null ? 0 : size(component);
        if (size == 0 || bytes.length % size != 0) {
            throw new Hole("stored as " + bytes.length + " bytes of primitives");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (component == byte.class) {
            return bytes.clone();
        } else if (component == boolean.class) {
            boolean[] array = new boolean[bytes.length];
            for (int i = 0; i < array.length; i++) {
                array[i] = bytes[i] != 0;
            }
            return array;
        } else if (component == char.class) {
            char[] array = new char[bytes.length / size];
            in.asCharBuffer().get(array);
            return array;
        } else if (component == short.class) {
            short[] array = new short[bytes.length / size];
            in.asShortBuffer().get(array);
            return array;
        } else if (component == int.class) {
            int[] array = new int[bytes.length / size];
            in.asIntBuffer().get(array);
            return array;
        } else if (component == long.class) {
            long[] array = new long[bytes.length / size];
            in.asLongBuffer().get(array);
            return array;
        } else if (component == float.class) {
            float[] array = new float[bytes.length / size];
            in.asFloatBuffer().get(array);
            return array;
        } else {
            double[] array = new double[bytes.length / size];
            in.asDoubleBuffer().get(array);
            return array;
        }
    }

    /** Replaces an element in its little-endian bytes; false if there is no such element. */
    static boolean put(byte[] bytes, int index, String descriptor, Object value) {
        Class<?> component = Primitives.type(descriptor);
        int size = component == null ? 0 : size(component);
        if (size == 0 || index >= bytes.length / size) {
            return false;
        }
        long bits;
        if (value instanceof Boolean) {
            bits = (Boolean) value ? 1 : 0;
        } else if (component == float.class && value instanceof Number) {
            bits = Float.floatToRawIntBits(((Number) value).floatValue());
        } else if (component == double.class && value instanceof Number) {
            bits = Double.doubleToRawLongBits(((Number) value).doubleValue());
        } else if (value instanceof Long) {
            bits = (Long) value;
        } else {
            // It was secret.
            bits = 0;
        }
        for (int i = 0; i < size; i++) {
            bytes[index * size + i] = (byte) (bits >> 8 * i);
        }
        return true;
    }

    /** Writes the elements of an array of references. */
    static void fill(Restorer restorer, Object[] values, Object[] array, String className) {
        Class<?> component = array.getClass().getComponentType();
        for (int i = 0; i < array.length; i++) {
            Object element = restorer.get(Restorer.reference(values[i]));
            if (element == null || component.isInstance(element)) {
                array[i] = element;
            } else {
                restorer.note(className, "an element cannot be a " + element.getClass().getName());
            }
        }
    }

    /** The size of an element in bytes; 0 if it is a reference. */
    static int size(Class<?> component) {
        if (component == boolean.class || component == byte.class) {
            return 1;
        } else if (component == char.class || component == short.class) {
            return 2;
        } else if (component == int.class || component == float.class) {
            return 4;
        } else if (component == long.class || component == double.class) {
            return 8;
        }
        return 0;
    }
}
