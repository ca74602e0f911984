package dev.hindsight.replay;

import java.lang.invoke.MethodType;

/** Conversions of boxed primitive values. */
final class Primitives {
    private Primitives() {}

    /** The primitive type of a descriptor's first character, or null for references and arrays. */
    static Class<?> type(String descriptor) {
        if (descriptor.length() != 1) {
            return null;
        }
        switch (descriptor.charAt(0)) {
            case 'Z': return boolean.class;
            case 'B': return byte.class;
            case 'S': return short.class;
            case 'C': return char.class;
            case 'I': return int.class;
            case 'J': return long.class;
            case 'F': return float.class;
            case 'D': return double.class;
            case 'V': return void.class;
            default: return null;
        }
    }

    /** The primitive type of this name ({@code int}), or null. */
    static Class<?> named(String name) {
        switch (name) {
            case "boolean": return boolean.class;
            case "byte": return byte.class;
            case "short": return short.class;
            case "char": return char.class;
            case "int": return int.class;
            case "long": return long.class;
            case "float": return float.class;
            case "double": return double.class;
            case "void": return void.class;
            default: return null;
        }
    }

    /** The primitive type that {@code type} is or boxes, or null. */
    static Class<?> unboxed(Class<?> type) {
        Class<?> primitive = MethodType.methodType(type).unwrap().returnType();
        return primitive.isPrimitive() ? primitive : null;
    }

    /** Whether Java assigns a value of one primitive type to another. */
    static boolean isWidened(Class<?> from, Class<?> to) {
        String order = "BSIJFD";
        int target = order.indexOf(Layout.descriptor(to));
        // A char is as wide as a short, but unsigned.
        int source = from == char.class ? 1 : order.indexOf(Layout.descriptor(from));
        return from == to
                || source >= 0 && (from == char.class ? source < target : source <= target);
    }

    /** As {@link #convert}, but null if {@code type} cannot hold the value. */
    static Object fitting(Object value, Class<?> type) {
        Object converted = convert(value, type);
        boolean real = value instanceof Float || value instanceof Double;
        // Java itself converts integers to floating point, perhaps with a loss of precision.
        if (converted == null || !real && (type == float.class || type == double.class)) {
            return converted;
        }
        return value.equals(convert(converted, unboxed(value.getClass()))) ? converted : null;
    }

    /**
     * Boxes a value as {@code type}; null if it is not a number, boolean or character. Integers
     * wrap around.
     */
    static Object convert(Object value, Class<?> type) {
        if (value instanceof Boolean) {
            return type == boolean.class ? value : null;
        }
        if (value instanceof Character) {
            return type == char.class ? value : convert((int) (Character) value, type);
        }
        if (!(value instanceof Number) || type == boolean.class) {
            return null;
        }
        Number number = (Number) value;
        if (type == float.class) {
            return number.floatValue();
        } else if (type == double.class) {
            return number.doubleValue();
        }
        if (value instanceof Float || value instanceof Double) {
            return null;
        }
        long bits = number.longValue();
        if (type == int.class) {
            return (int) bits;
        } else if (type == long.class) {
            return bits;
        } else if (type == byte.class) {
            return (byte) bits;
        } else if (type == short.class) {
            return (short) bits;
        } else if (type == char.class) {
            return (char) bits;
        }
        return null;
    }

    /** The zero of {@code type}. */
    static Object zero(Class<?> type) {
        return type == boolean.class ? Boolean.FALSE : convert(0, type);
    }
}
