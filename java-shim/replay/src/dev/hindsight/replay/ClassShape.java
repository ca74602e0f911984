package dev.hindsight.replay;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * A class file, as far as it distinguishes what compilers name by numbers: members, inner classes,
 * and what the code of a method does.
 *
 * <p>A digest stands for code without the parts that change with other parts of the file: it has
 * constants as text, names without generated numbers, and no offsets, lines or indices. Code that
 * refers to numbered methods of the same class, or makes objects of numbered classes, includes
 * their digests: without these, two lambdas that differ only in an inner one would seem to be the
 * same.
 */
final class ClassShape {
    /** A method. */
    static final class Method {
        final String name;
        final String descriptor;
        final int access;
        /** The offset of its {@code Code}'s contents; -1 if it has none. */
        private int code = -1;
        private String digest;

        Method(int access, String name, String descriptor) {
            this.access = access;
            this.name = name;
            this.descriptor = descriptor;
        }
    }

    private static final int UTF8 = 1;
    private static final int INTEGER = 3;
    private static final int FLOAT = 4;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int FIELD = 9;
    private static final int METHOD = 10;
    private static final int INTERFACE_METHOD = 11;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int DYNAMIC = 17;
    private static final int INVOKE_DYNAMIC = 18;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;

    private static final int STATIC = 8;
    private static final int LDC = 18;
    private static final int LDC2_W = 20;
    private static final int TABLESWITCH = 170;
    private static final int LOOKUPSWITCH = 171;
    private static final int MULTIANEWARRAY = 197;
    private static final int NEW = 187;
    private static final int WIDE = 196;
    private static final int IINC = 132;
    private static final int GOTO = 167;
    private static final int GOTO_W = 200;
    /**
     * The bytes of the operands of each instruction, from {@code nop} to {@code jsr_w}; switches
     * vary in length.
     */
    private static final String OPERANDS =
            "0000000000000000121221111100000000000000000000000000001111100000"
            + "0000000000000000000000000000000000000000000000000000000000000000"
            + "0000200000000000000000000222222222222222210000000022222224421200"
            + "2200032244";
    /** The depth to which digests of other code are included in one. */
    private static final int MOST_NESTED = 4;

    final String name;
    /**
     * Its superclass and interfaces, the name of its enclosing method without numbers, and the
     * captured values.
     */
    final String kind;
    final List<Method> methods = new ArrayList<>();
    /** The names in its {@code InnerClasses}: its own inner classes, and those that it uses. */
    final List<String> inner = new ArrayList<>();
    private final byte[] bytes;
    private final ByteBuffer in;
    private final int[] constants;
    private final List<Integer> bootstraps = new ArrayList<>();
    private final Function<String, ClassShape> others;

    /**
     * Reads a class file, or returns null if it is not one; {@code others} finds further ones by
     * name.
     */
    static ClassShape read(byte[] bytes, Function<String, ClassShape> others) {
        try {
            return new ClassShape(bytes, others);
        } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException
                | BufferUnderflowException e) {
            return null;
        }
    }

    private ClassShape(byte[] bytes, Function<String, ClassShape> others) throws IOException {
        this.bytes = bytes;
        this.others = others;
        in = ByteBuffer.wrap(bytes);
        if (in.getInt() != 0xcafebabe) {
            throw new IOException("no class file");
        }
        in.getInt();
        constants = new int[u2()];
        for (int i = 1; i < constants.length; i++) {
            constants[i] = in.position();
            int tag = u1();
            skip(size(tag));
            i += tag == LONG || tag == DOUBLE ? 1 : 0;
        }
        u2();
        name = className(u2());
        StringBuilder kind = new StringBuilder();
        kind.append(plain(className(u2())));
        for (int i = u2(); i > 0; i--) {
            kind.append(',').append(plain(className(u2())));
        }
        List<String> captured = new ArrayList<>();
        for (int i = u2(); i > 0; i--) {
            field(captured);
        }
        for (int i = u2(); i > 0; i--) {
            method();
        }
        String enclosing = attributes();
        Collections.sort(captured);
        this.kind = kind + ";" + enclosing + ";" + captured;
    }

    private static int size(int tag) throws IOException {
        switch (tag) {
            case UTF8:
                return -1;
            case CLASS:
            case STRING:
            case METHOD_TYPE:
            case MODULE:
            case PACKAGE:
                return 2;
            case METHOD_HANDLE:
                return 3;
            case INTEGER:
            case FLOAT:
            case FIELD:
            case METHOD:
            case INTERFACE_METHOD:
            case NAME_AND_TYPE:
            case DYNAMIC:
            case INVOKE_DYNAMIC:
                return 4;
            case LONG:
            case DOUBLE:
                return 8;
            default:
                throw new IOException("unknown constant " + tag);
        }
    }

    /**
     * Adds a synthetic field to the kind, except the outer object, which javac adds only where it
     * is used.
     */
    private void field(List<String> captured) throws IOException {
        boolean isStatic = (u2() & STATIC) != 0;
        String field = utf8(u2());
        String descriptor = utf8(u2());
        boolean outer = field.startsWith("this$") || field.equals("$outer");
        if (field.startsWith("$SwitchMap$") || !isStatic && field.indexOf('$') >= 0 && !outer) {
            captured.add(plain(field) + plain(descriptor));
        }
        for (int i = u2(); i > 0; i--) {
            u2();
            skip(in.getInt());
        }
    }

    private void method() throws IOException {
        Method method = new Method(u2(), utf8(u2()), utf8(u2()));
        for (int i = u2(); i > 0; i--) {
            String attribute = utf8(u2());
            int length = in.getInt();
            if (attribute.equals("Code")) {
                method.code = in.position();
            }
            skip(length);
        }
        methods.add(method);
    }

    /** Reads the attributes of the class and returns its enclosing method. */
    private String attributes() throws IOException {
        String enclosing = "";
        for (int i = u2(); i > 0; i--) {
            String attribute = utf8(u2());
            int length = in.getInt();
            int end = in.position() + length;
            if (attribute.equals("InnerClasses")) {
                for (int k = u2(); k > 0; k--) {
                    inner.add(className(u2()));
                    skip(6);
                }
            } else if (attribute.equals("EnclosingMethod")) {
                u2();
                int method = u2();
                enclosing = method == 0 ? "" : utf8(u2(constants[method] + 1));
                // Some compilers name the lambda that encloses the class, others the method around
                // that.
                enclosing = plain(enclosing).replaceAll("^lambda\\$(.*)\\$#$", "$1");
            } else if (attribute.equals("BootstrapMethods")) {
                for (int k = u2(); k > 0; k--) {
                    bootstraps.add(in.position());
                    u2();
                    skip(2 * u2());
                }
            }
            in.position(end);
        }
        return enclosing;
    }

    /** A name or descriptor without its numbers. */
    private static String plain(String name) {
        return Numbered.strip(name);
    }

    private int u1() {
        return in.get() & 0xff;
    }

    private int u2() {
        return in.getShort() & 0xffff;
    }

    private int u1(int at) {
        return in.get(at) & 0xff;
    }

    private int u2(int at) {
        return in.getShort(at) & 0xffff;
    }

    /** Skips some bytes; if the length is negative, a text that is preceded by its length. */
    private void skip(int length) {
        int all = length < 0 ? u2() : length;
        in.position(in.position() + all);
    }

    private String utf8(int index) throws IOException {
        int at = constants[index] + 1;
        return new DataInputStream(new ByteArrayInputStream(bytes, at, 2 + u2(at))).readUTF();
    }

    private String className(int index) throws IOException {
        return index == 0 ? "" : utf8(u2(constants[index] + 1)).replace('/', '.');
    }

    /**
     * The digest of what a method's code does, in eight digits; null if the class file is damaged.
     */
    String digest(Method method) {
        if (method.digest == null) {
            method.digest = digest(method, new HashSet<>());
        }
        return method.digest;
    }

    /** The digest of what the methods of the class do, likewise. */
    String digest() {
        return digest(new HashSet<>());
    }

    private String digest(Set<String> open) {
        open.add(name);
        List<String> all = new ArrayList<>();
        for (Method method : methods) {
            all.add(plain(method.name) + plain(method.descriptor) + digest(method, open));
        }
        open.remove(name);
        // Their order means nothing.
        Collections.sort(all);
        return hash(String.join("\n", all));
    }

    private String digest(Method method, Set<String> open) {
        String key = name + "." + method.name + method.descriptor;
        boolean added = open.add(key);
        try {
            return method.code < 0 ? "" : hash(code(method.code, open));
        } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return null;
        } finally {
            if (added) {
                open.remove(key);
            }
        }
    }

    /** The first eight digits of a text's SHA-256. */
    static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(text.getBytes(StandardCharsets.UTF_8));
            return String.format("%08x", ByteBuffer.wrap(digest).getInt());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private String code(int start, Set<String> open) throws IOException {
        StringBuilder out = new StringBuilder();
        int first = start + 8;
        int end = first + in.getInt(start + 4);
        int at = first;
        while (at < end) {
            at += instruction(at, first, out, open);
        }
        int handlers = u2(end);
        for (int i = 0; i < handlers; i++) {
            out.append("catch ").append(plain(className(u2(end + 2 + 8 * i + 6)))).append('\n');
        }
        return out.toString();
    }

    /** Appends an instruction and returns its length. */
    private int instruction(int at, int first, StringBuilder out, Set<String> open)
            throws IOException {
        int code = u1(at);
        if (code == TABLESWITCH || code == LOOKUPSWITCH) {
            int operands = at + 4 - (at - first) % 4;
            int length = operands - at;
            out.append(code);
            if (code == TABLESWITCH) {
                int low = in.getInt(operands + 4);
                int high = in.getInt(operands + 8);
                out.append(' ').append(low).append(' ').append(high).append('\n');
                return length + 12 + 4 * Math.subtractExact(high + 1, low);
            }
            int pairs = in.getInt(operands + 4);
            for (int i = 0; i < pairs; i++) {
                out.append(' ').append(in.getInt(operands + 8 + 8 * i));
            }
            out.append('\n');
            return length + 8 + Math.multiplyExact(8, pairs);
        }
        if (code == WIDE) {
            int of = u1(at + 1);
            out.append(of).append(' ').append(u2(at + 2));
            if (of == IINC) {
                out.append(' ').append(in.getShort(at + 4));
            }
            out.append('\n');
            return of == IINC ? 6 : 4;
        }
        if (code >= OPERANDS.length()) {
            throw new IOException("unknown instruction " + code);
        }
        int length = 1 + OPERANDS.charAt(code) - '0';
        if (code >= LDC && code <= LDC2_W) {
            int index = code == LDC ? u1(at + 1) : u2(at + 1);
            out.append("ldc ").append(constant(index, open));
        } else if (code >= 178 && code <= 189 && code != 188 || code == 192 || code == 193
                || code == MULTIANEWARRAY) {
            int index = u2(at + 1);
            out.append(code).append(' ').append(constant(index, open));
            if (code == NEW) {
                out.append(ofClass(className(index), open));
            } else if (code == MULTIANEWARRAY) {
                out.append(' ').append(u1(at + 3));
            }
        } else if (code >= 153 && code <= 168 || code == 198 || code == 199) {
            // The target of a jump depends on the lengths of other instructions.
            out.append(code);
        } else if (code == GOTO_W || code == GOTO_W + 1) {
            out.append(GOTO + code - GOTO_W);
        } else if (code == IINC) {
            out.append(code).append(' ').append(u1(at + 1)).append(' ').append(in.get(at + 2));
        } else {
            out.append(code);
            if (length == 2) {
                // Slots, signed values and types of arrays.
                out.append(' ').append(code == 16 ? in.get(at + 1) : u1(at + 1));
            } else if (length == 3) {
                out.append(' ').append(in.getShort(at + 1));
            }
        }
        out.append('\n');
        return length;
    }

    private String constant(int index, Set<String> open) throws IOException {
        int at = constants[index];
        switch (u1(at)) {
            case INTEGER:
                return "int " + in.getInt(at + 1);
            case FLOAT:
                return "float " + in.getInt(at + 1);
            case LONG:
                return "long " + in.getLong(at + 1);
            case DOUBLE:
                return "double " + in.getLong(at + 1);
            case CLASS:
                return "class " + plain(className(index));
            case STRING:
                return "text " + utf8(u2(at + 1));
            case FIELD:
            case METHOD:
            case INTERFACE_METHOD:
                String owner = className(u2(at + 1));
                int member = constants[u2(at + 3)];
                String called = utf8(u2(member + 1));
                String type = utf8(u2(member + 3));
                String code = owner.equals(name) && Numbered.isMethod(called)
                        ? ofMethod(called, type, open) : "";
                return plain(owner) + "." + plain(called) + plain(type) + code;
            case NAME_AND_TYPE:
                return plain(utf8(u2(at + 1))) + plain(utf8(u2(at + 3)));
            case METHOD_HANDLE:
                return "handle " + u1(at + 1) + " " + constant(u2(at + 2), open);
            case METHOD_TYPE:
                return "type " + plain(utf8(u2(at + 1)));
            case DYNAMIC:
            case INVOKE_DYNAMIC:
                int bootstrap = bootstraps.get(u2(at + 1));
                StringBuilder all = new StringBuilder("dynamic ")
                        .append(constant(u2(at + 3), open))
                        .append(' ').append(constant(u2(bootstrap), open));
                for (int i = 0; i < u2(bootstrap + 2); i++) {
                    all.append(", ").append(constant(u2(bootstrap + 4 + 2 * i), open));
                }
                return all.toString();
            default:
                throw new IOException("no constant to be loaded");
        }
    }

    /** The digest of a numbered method of this class, as part of code that refers to it. */
    private String ofMethod(String called, String type, Set<String> open) {
        for (Method method : methods) {
            if (method.name.equals(called) && method.descriptor.equals(type)) {
                boolean again = open.contains(name + "." + called + type);
                return again || open.size() >= MOST_NESTED ? "" : "{" + digest(method, open) + "}";
            }
        }
        return "";
    }

    /** The digest of a numbered class, as part of the code that makes objects of it. */
    private String ofClass(String made, Set<String> open) {
        if (!Numbered.isClass(made) || open.contains(made) || open.size() >= MOST_NESTED) {
            return "";
        }
        ClassShape shape = others.apply(made);
        return shape == null ? "" : "{" + shape.digest(open) + "}";
    }
}
