package dev.hindsight.replay;

import dev.hindsight.replay.MessagePack.Malformed;

/**
 * What a crash file holds, as decoded; the classes mirror {@code tracelog::crash}.
 *
 * <p>Values are left untyped: null, Boolean, Long, Float or Double. A Long in a place whose
 * descriptor starts with {@code L} or {@code [} is an object number.
 */
final class Recorded {
    private Recorded() {}

    /** Whether values of this descriptor are object numbers. */
    static boolean isReference(String descriptor) {
        return descriptor.startsWith("L") || descriptor.startsWith("[");
    }

    /** The class of an object of the graph. */
    static final class ClassInfo {
        static final int CLASS = 0;
        static final int ENUM = 3;
        static final int PROXY = 5;
        static final int HIDDEN = 6;

        final int id;
        final String name;
        final int kind;
        /** Superclasses, nearest first, without Object. */
        final String[] supers;
        final String[] interfaces;
        /** The fields, in the order of an instance's values. */
        final FieldInfo[] fields;
        /** The class of its loader; empty for the boot loader. */
        final String loader;
        /**
         * The SHA-256 of the class file as it was loaded, in hexadecimal; null if the recorder did
         * not see it.
         */
        final String sha256;

        ClassInfo(Object raw) throws Malformed {
            Row row = new Row(raw, "a class");
            id = row.number(0);
            name = row.text(1);
            kind = row.number(2);
            supers = row.texts(3);
            interfaces = row.texts(4);
            Object[] list = row.list(5);
            fields = new FieldInfo[list.length];
            for (int i = 0; i < list.length; i++) {
                fields[i] = new FieldInfo(list[i]);
            }
            loader = row.text(6);
            sha256 = row.at(7) instanceof String ? (String) row.at(7) : null;
        }

        /** The reason why it may be missing here. */
        String missing() {
            boolean plain = loader.isEmpty() || loader.startsWith("jdk.internal.loader.")
                    || loader.equals("java.net.URLClassLoader");
            return plain ? Classes.DIFFERS
                    : "its loader, " + loader + ", has made it at run time or found it elsewhere";
        }

        /** Whether the boot loader or the platform loader has defined it. */
        boolean isOfJdk() {
            return loader.isEmpty()
                    || loader.equals("jdk.internal.loader.ClassLoaders$PlatformClassLoader");
        }

        /** The index of a field among an instance's values, or -1. */
        int index(String owner, String field) {
            for (int i = 0; i < fields.length; i++) {
                if (fields[i].name.equals(field) && fields[i].owner.equals(owner)) {
                    return i;
                }
            }
            return -1;
        }

        /** As above, for the field of this type if several have the name. */
        int index(String owner, String field, String descriptor) {
            int named = index(owner, field);
            for (int i = Math.max(named, 0); i < fields.length; i++) {
                if (fields[i].name.equals(field) && fields[i].owner.equals(owner)
                        && fields[i].descriptor.equals(descriptor)) {
                    return i;
                }
            }
            return named;
        }
    }

    /** An instance field. */
    static final class FieldInfo {
        final String owner;
        final String name;
        final String descriptor;

        FieldInfo(Object raw) throws Malformed {
            Row row = new Row(raw, "a field");
            owner = row.text(0);
            name = row.text(1);
            descriptor = row.text(2);
        }
    }

    /** An object of the graph. */
    static final class Stored {
        static final int INSTANCE = 0;
        static final int PRIMITIVES = 1;
        static final int REFERENCES = 2;
        static final int STRING = 3;
        static final int CLASS = 4;
        static final int ENUM = 5;
        static final int HOLE = 6;
        static final int LAMBDA = 7;

        private static final Object[] NO_FIELDS = {};

        final int kind;
        final int classId;
        /** {@code Object[]}, {@code byte[]}, {@code String} or {@link Lambda}, by kind. */
        final Object body;
        /** The mutable fields of an enum constant. */
        private final Object[] fields;

        Stored(Object raw) throws Malformed {
            Row row = new Row(raw, "an object");
            kind = row.number(0);
            classId = row.number(1);
            fields = kind == ENUM && row.at(3) != null ? row.list(3) : NO_FIELDS;
            switch (kind) {
                case INSTANCE:
                case REFERENCES:
                    body = row.list(2);
                    break;
                case PRIMITIVES:
                    body = row.bytes(2);
                    break;
                case STRING:
                    body = row.at(2) instanceof byte[] ? utf16(row.bytes(2)) : row.text(2);
                    break;
                case CLASS:
                case ENUM:
                case HOLE:
                    body = row.text(2);
                    break;
                case LAMBDA:
                    body = new Lambda(row.at(2));
                    break;
                default:
                    throw new Malformed("an object of kind " + kind);
            }
        }

        /**
         * Decodes a string with lone surrogates, which is stored as code units because UTF-8 cannot
         * encode them.
         */
        private static String utf16(byte[] bytes) {
            char[] units = new char[bytes.length / 2];
            for (int i = 0; i < units.length; i++) {
                units[i] = (char) (bytes[2 * i] & 0xff | bytes[2 * i + 1] << 8);
            }
            return new String(units);
        }

        private Stored(Stored like, Object body, Object[] fields) {
            kind = like.kind;
            classId = like.classId;
            this.body = body;
            this.fields = fields;
        }

        /** A copy with fields or elements of its own. */
        Stored copy() {
            switch (kind) {
                case PRIMITIVES:
                    return new Stored(this, ((byte[]) body).clone(), fields);
                case ENUM:
                    return new Stored(this, body, fields.clone());
                default:
                    return new Stored(this, values().clone(), fields);
            }
        }

        /** The fields of an instance or an enum constant, or elements that are references. */
        Object[] values() {
            return kind == ENUM ? fields : (Object[]) body;
        }

        String text() {
            return (String) body;
        }
    }

    /** The method behind a lambda expression or method reference. */
    static final class Lambda {
        /** The class of the implementing method; empty if it could not be named. */
        final String owner;
        final String method;
        final String descriptor;
        final boolean isStatic;
        final String[] types;
        final Object[] captured;

        Lambda(Object raw) throws Malformed {
            Row row = new Row(raw, "a lambda");
            owner = row.text(0);
            method = row.text(1);
            descriptor = row.text(2);
            isStatic = Boolean.TRUE.equals(row.at(3));
            Object[] list = row.list(4);
            types = new String[list.length];
            captured = new Object[list.length];
            for (int i = 0; i < list.length; i++) {
                Row pair = new Row(list[i], "a captured value");
                types[i] = pair.text(0);
                captured[i] = pair.at(1);
            }
        }
    }

    /** The value of a static field at the failure. */
    static final class StaticField {
        final String owner;
        final String name;
        final String descriptor;
        final Object value;

        StaticField(Object raw) throws Malformed {
            Row row = new Row(raw, "a static field");
            owner = row.text(0);
            name = row.text(1);
            descriptor = row.text(2);
            value = row.at(4);
        }
    }

    /** An object that a static final field of the program held. */
    static final class Constant {
        final int object;
        final String owner;
        final String name;

        Constant(Object raw) throws Malformed {
            Row row = new Row(raw, "a constant");
            object = (int) row.integer(0);
            owner = row.text(1);
            name = row.text(2);
        }
    }

    /** A frame of the failure. */
    static final class FrameInfo {
        final String owner;
        final String method;
        final String descriptor;
        final String reason;
        final Argument[] arguments;
        final Patch[] patch;

        FrameInfo(Object raw) throws Malformed {
            Row row = new Row(raw, "a frame");
            owner = row.text(0);
            method = row.text(1);
            descriptor = row.text(2);
            reason = row.text(7);
            Object[] list = row.list(9);
            arguments = new Argument[list.length];
            for (int i = 0; i < list.length; i++) {
                arguments[i] = new Argument(list[i]);
            }
            list = row.list(10);
            patch = new Patch[list.length];
            for (int i = 0; i < list.length; i++) {
                patch[i] = new Patch(list[i]);
            }
        }
    }

    /** A receiver (index 0) or parameter at entry. */
    static final class Argument {
        final int index;
        final String descriptor;
        final Object value;

        Argument(Object raw) throws Malformed {
            Row row = new Row(raw, "an argument");
            index = row.number(0);
            descriptor = row.text(2);
            value = row.at(3);
        }
    }

    /** A field or an element that had another value at a frame's entry. */
    static final class Patch {
        final int object;
        final String owner;
        final String field;
        final String descriptor;
        final Object value;
        /** The index of the element; -1 for a field. */
        final int index;

        Patch(Object raw) throws Malformed {
            Row row = new Row(raw, "a patch");
            object = row.number(0);
            owner = row.text(1);
            field = row.text(2);
            descriptor = row.text(3);
            value = row.at(4);
            index = row.at(5) == null ? -1 : row.number(5);
        }
    }

    /** The stack trace of an exception that is in the graph. */
    static final class Trace {
        /** The exception's object number, or -1. */
        final int object;
        final StackTraceElement[] stack;

        Trace(Object raw) throws Malformed {
            Row row = new Row(raw, "an exception");
            object = row.at(2) == null ? -1 : row.number(2);
            Object[] list = row.list(3);
            stack = new StackTraceElement[list.length];
            for (int i = 0; i < list.length; i++) {
                Row element = new Row(list[i], "a stack trace element");
                stack[i] = new StackTraceElement(element.text(0), element.text(1),
                        element.at(2) instanceof String ? element.text(2) : null,
                        (int) element.integer(3));
            }
        }
    }

    /**
     * A structure: values in the order of its fields. Later versions may append some but omit none;
     * what is missing at the end reads as null.
     */
    static final class Row {
        private final Object[] values;
        private final String what;

        Row(Object raw, String what) throws Malformed {
            if (!(raw instanceof Object[])) {
                throw new Malformed(what + " that is no list");
            }
            this.values = (Object[]) raw;
            this.what = what;
        }

        Object at(int index) {
            return index < values.length ? values[index] : null;
        }

        String text(int index) throws Malformed {
            Object value = at(index);
            if (!(value instanceof String)) {
                throw bad(index, "a string");
            }
            return (String) value;
        }

        byte[] bytes(int index) throws Malformed {
            Object value = at(index);
            if (!(value instanceof byte[])) {
                throw bad(index, "bytes");
            }
            return (byte[]) value;
        }

        long integer(int index) throws Malformed {
            Object value = at(index);
            if (!(value instanceof Long)) {
                throw bad(index, "an integer");
            }
            return (Long) value;
        }

        int number(int index) throws Malformed {
            long value = integer(index);
            if (value < 0 || value > Integer.MAX_VALUE) {
                throw bad(index, "a number in range");
            }
            return (int) value;
        }

        Object[] list(int index) throws Malformed {
            Object value = at(index);
            if (!(value instanceof Object[])) {
                throw bad(index, "a list");
            }
            return (Object[]) value;
        }

        String[] texts(int index) throws Malformed {
            Object[] list = list(index);
            String[] texts = new String[list.length];
            for (int i = 0; i < list.length; i++) {
                if (!(list[i] instanceof String)) {
                    throw bad(index, "a list of strings");
                }
                texts[i] = (String) list[i];
            }
            return texts;
        }

        private Malformed bad(int index, String expected) {
            return new Malformed(what + " whose part " + index + " is not " + expected);
        }
    }
}
