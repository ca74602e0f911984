package dev.hindsight.worker;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The pipe to the analyzer: the encoding of texts, numbers and classes. A thread that writes holds
 * {@link #out}.
 */
final class Pipe {
    final DataInputStream in;
    final DataOutputStream out;

    /** The numbers of classes; those of dropped loaders may be collected. */
    private final Map<Class<?>, Integer> classes = new WeakHashMap<>();

    private int numbers;

    /** The number of method references so far in the sequence that is being read. */
    int references;

    /** Opens the pipe on the standard input and output. */
    Pipe() {
        in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16));
        out = new DataOutputStream(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
    }

    String text() throws IOException {
        int length = in.readInt();
        char[] units = new char[length];
        for (int i = 0; i < length; i++) {
            units[i] = in.readChar();
        }
        return new String(units);
    }

    void write(String text) throws IOException {
        out.writeInt(text.length());
        for (int i = 0; i < text.length(); i++) {
            out.writeChar(text.charAt(i));
        }
    }

    /** The number of a class, which is declared first if it is new. */
    int number(Class<?> type) throws IOException {
        Integer known = classes.get(type);
        if (known != null) {
            return known;
        }
        int number = numbers++;
        classes.put(type, number);
        Set<String> supers = new LinkedHashSet<>();
        above(type, supers);
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        boolean accessible = element.isPrimitive() || Values.isAccessible(element);
        if (!accessible && Throwable.class.isAssignableFrom(type)) {
            // A source declares that it throws this.
            number(type.getSuperclass());
        }
        out.writeByte('C');
        out.writeInt(number);
        write(type.getName());
        out.writeByte((accessible ? 1 : 0)
                | (type.isInterface() ? 2 : 0)
                | (Modifier.isAbstract(type.getModifiers()) ? 4 : 0));
        out.writeInt(supers.size());
        for (String name : supers) {
            write(name);
        }
        return number;
    }

    private static void above(Class<?> type, Set<String> supers) {
        Class<?> parent = type.getSuperclass();
        if (parent != null && supers.add(parent.getName())) {
            above(parent, supers);
        }
        for (Class<?> one : type.getInterfaces()) {
            if (supers.add(one.getName())) {
                above(one, supers);
            }
        }
        supers.add("java.lang.Object");
    }

    Object primitive(int kind) throws IOException {
        long bits = in.readLong();
        switch (kind) {
            case 'Z':
                return bits != 0;
            case 'B':
                return (byte) bits;
            case 'C':
                return (char) bits;
            case 'S':
                return (short) bits;
            case 'I':
                return (int) bits;
            case 'J':
                return bits;
            case 'F':
                return Float.intBitsToFloat((int) bits);
            case 'D':
                return Double.longBitsToDouble(bits);
            default:
                throw new IOException("no argument " + kind);
        }
    }

    void literal(Object value) throws IOException {
        if (value instanceof String) {
            out.writeByte('s');
            write((String) value);
        } else if (value instanceof Enum) {
            out.writeByte('e');
            write(((Enum<?>) value).getDeclaringClass().getName());
            write(((Enum<?>) value).name());
        } else if (value instanceof Class) {
            out.writeByte('c');
            write(((Class<?>) value).getName());
        } else if (value instanceof Boolean) {
            bits('Z', (Boolean) value ? 1 : 0);
        } else if (value instanceof Character) {
            bits('C', (Character) value);
        } else if (value instanceof Float) {
            bits('F', Float.floatToIntBits((Float) value));
        } else if (value instanceof Double) {
            bits('D', Double.doubleToLongBits((Double) value));
        } else {
            char kind = value.getClass().getSimpleName().charAt(0);
            bits(kind == 'L' ? 'J' : kind, ((Number) value).longValue());
        }
    }

    private void bits(int kind, long bits) throws IOException {
        out.writeByte(kind);
        out.writeLong(bits);
    }
}
