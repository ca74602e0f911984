import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * The trace plan (calls and writes, with all values) as ASM does it, for scripts/bench rewrite.
 *
 * <p>As quick as {@link AsmRewrite}, whose first visit it shares: the entry tells the parameters, returns
 * their value, writes what they wrote and where, calls that write unseen their arguments and result,
 * handlers what they caught, and a handler of everything what leaves the method. What our own code does
 * besides is left out: looking for secrets, names for the records, telling writes of constructors to
 * {@code this} from others by the stack, and casts where a handler may be reached by what is no exception.
 */
final class AsmTrace {
    static final String TRACE = "java/lang/HindsightTrace";
    static final int MOST_REFERENCES = 5;
    static final int MOST_INTS = 4;
    static final int MOST_LONGS = 1;

    private AsmTrace() { }

    static Rewriter rewrite(byte[] bytecode, int firstId) {
        ClassReader reader = new ClassReader(bytecode);
        AsmRewrite.Scanner scanner = new AsmRewrite.Scanner();
        reader.accept(scanner, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        ClassWriter writer = new ClassWriter(reader, 0);
        Rewriter rewriter = new Rewriter(writer, scanner, firstId);
        if (scanner.bodies > 0) {
            reader.accept(rewriter, ClassReader.EXPAND_FRAMES);
            try {
                rewriter.result = writer.toByteArray();
            } catch (MethodTooLargeException e) {
                // Ours tells the calls alone of such a method; here the class is left as it was.
                rewriter.nextId = firstId;
            }
        }
        return rewriter;
    }

    /** A field or method as code names it. */
    record Member(String owner, String name, String descriptor) { }

    /** A value in a variable. */
    record Variable(Type type, int slot) { }

    static final class Rewriter extends ClassVisitor {
        final AsmRewrite.Scanner facts;
        final int firstId;
        int nextId;
        int place;
        byte[] result;
        final Map<Member, Integer> fields = new HashMap<>();
        final Map<Member, Integer> callees = new HashMap<>();

        Rewriter(ClassVisitor next, AsmRewrite.Scanner facts, int firstId) {
            super(Opcodes.ASM9, next);
            this.facts = facts;
            this.firstId = firstId;
            this.nextId = firstId;
        }

        int number(Map<Member, Integer> members, String owner, String name, String descriptor) {
            Integer known = members.get(new Member(owner, name, descriptor));
            if (known == null) {
                known = firstId + members.size();
                members.put(new Member(owner, name, descriptor), known);
            }
            return known;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            AsmRewrite.Facts method = facts.methods.get(place++);
            boolean constructor = name.equals("<init>");
            boolean body = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
            if (!body || method.subroutines || constructor && method.initCall < 0) {
                return next;
            }
            return new MethodRewriter(next, this, method, access, name, descriptor, nextId++);
        }
    }

    static final class MethodRewriter extends MethodVisitor {
        static final Object[] NONE = {};

        final Rewriter owner;
        final AsmRewrite.Facts facts;
        final int id;
        final boolean constructor;
        final boolean isStatic;
        final String descriptor;
        final boolean framed;
        int inits;
        boolean bound;
        int extraStack;
        int entryStack;
        int maxLocals;

        List<Label[]> blocks = new ArrayList<>();
        final List<String> types = new ArrayList<>();
        /** Handlers that tell, with their guards: start, end, handler. */
        final Map<Label, Label[]> guards = new HashMap<>();
        Label[] pendingGuard;
        final Label start = new Label();
        final Label end = new Label();
        final Label beforeCall = new Label();
        final Label afterCall = new Label();

        MethodRewriter(MethodVisitor next, Rewriter owner, AsmRewrite.Facts facts, int access, String name, String descriptor, int id) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
            this.facts = facts;
            this.id = id;
            this.constructor = name.equals("<init>");
            this.isStatic = (access & Opcodes.ACC_STATIC) != 0;
            this.descriptor = descriptor;
            this.framed = owner.facts.version >= 50;
            this.bound = !constructor;
            this.maxLocals = facts.maxLocals;
        }

        private void push(int number) {
            if (number <= 5) {
                mv.visitInsn(Opcodes.ICONST_0 + number);
            } else if (number <= 127) {
                mv.visitIntInsn(Opcodes.BIPUSH, number);
            } else if (number <= 32767) {
                mv.visitIntInsn(Opcodes.SIPUSH, number);
            } else {
                mv.visitLdcInsn(number);
            }
        }

        private void probe(String name, String descriptor) {
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, TRACE, name, descriptor, false);
        }

        private void stack(int slots) {
            extraStack = Math.max(extraStack, slots);
        }

        private static int sortOf(Type type) {
            return switch (type.getSort()) {
                case Type.ARRAY, Type.OBJECT -> 0;
                case Type.LONG, Type.DOUBLE -> 2;
                default -> 1;
            };
        }

        /** An event with any number of values, in as many calls as it takes; the slots of stack. */
        private int event(String first, List<Variable> values, int number) {
            int[] left = new int[3];
            for (Variable value : values) {
                left[sortOf(value.type)]++;
            }
            int[] most = {MOST_REFERENCES, MOST_INTS, MOST_LONGS};
            int[] done = new int[3];
            int deepest = 0;
            String name = first;
            do {
                int[] count = new int[3];
                for (int sort = 0; sort < 3; sort++) {
                    count[sort] = Math.min(most[sort], left[sort]);
                    int seen = 0;
                    for (Variable value : values) {
                        if (count[sort] == 0 || sortOf(value.type) != sort) {
                            continue;
                        }
                        if (seen >= done[sort] && seen < done[sort] + count[sort]) {
                            mv.visitVarInsn(value.type.getOpcode(Opcodes.ILOAD), value.slot);
                            bits(value.type);
                        }
                        seen++;
                    }
                    done[sort] += count[sort];
                    left[sort] -= count[sort];
                }
                push(number);
                probe(name, SHAPES[count[0]][count[1]][count[2]]);
                deepest = Math.max(deepest, count[0] + count[1] + 2 * count[2] + 1);
                name = "more";
            } while (left[0] + left[1] + left[2] > 0);
            return deepest;
        }

        private void bits(Type type) {
            if (type.getSort() == Type.FLOAT) {
                mv.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Float", "floatToRawIntBits", "(F)I", false);
            } else if (type.getSort() == Type.DOUBLE) {
                mv.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Double", "doubleToRawLongBits", "(D)J", false);
            }
        }

        @Override
        public void visitCode() {
            mv.visitCode();
            List<Variable> values = new ArrayList<>();
            int slot = 0;
            if (!isStatic) {
                if (!constructor) {
                    values.add(new Variable(AsmTrace.OBJECT, 0));
                }
                slot = 1;
            }
            for (Type type : Type.getArgumentTypes(descriptor)) {
                values.add(new Variable(type, slot));
                slot += type.getSize();
            }
            entryStack = event("enter", values, id);
            mv.visitLabel(start);
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
            blocks.add(new Label[] {start, end, handler});
            types.add(type);
        }

        /** The guards of probes come first in the exception table. */
        private void flush() {
            List<Label[]> all = blocks;
            if (all == null) {
                return;
            }
            blocks = null;
            for (int at = 0; at < all.size(); at++) {
                Label place = all.get(at)[2];
                if (!facts.quiet.get(at) && !guards.containsKey(place)) {
                    Label[] guard = {new Label(), new Label(), new Label()};
                    guards.put(place, guard);
                    mv.visitTryCatchBlock(guard[0], guard[1], guard[2], null);
                }
            }
            for (int at = 0; at < all.size(); at++) {
                Label[] block = all.get(at);
                mv.visitTryCatchBlock(block[0], block[1], block[2], types.get(at));
            }
        }

        @Override
        public void visitLabel(Label label) {
            flush();
            mv.visitLabel(label);
            Label[] guard = guards.get(label);
            if (guard != null) {
                pendingGuard = guard;
                if (!framed) {
                    caught(0, NONE, "java/lang/Throwable");
                }
            }
        }

        @Override
        public void visitFrame(int type, int count, Object[] locals, int stackCount, Object[] stack) {
            flush();
            mv.visitFrame(Opcodes.F_NEW, count, locals, stackCount, stack);
            if (pendingGuard != null) {
                caught(count, locals, stack[0]);
            }
        }

        /** The probe at the start of a handler. */
        private void caught(int count, Object[] locals, Object type) {
            Label[] guard = pendingGuard;
            pendingGuard = null;
            int exception = facts.maxLocals;
            maxLocals = Math.max(maxLocals, exception + 1);
            mv.visitVarInsn(Opcodes.ASTORE, exception);
            mv.visitLabel(guard[0]);
            mv.visitVarInsn(Opcodes.ALOAD, exception);
            push(id);
            probe("caught", "(Ljava/lang/Throwable;I)V");
            stack(2);
            Label next = new Label();
            mv.visitLabel(guard[1]);
            mv.visitJumpInsn(Opcodes.GOTO, next);
            mv.visitLabel(guard[2]);
            List<Object> all = new ArrayList<>(Arrays.asList(locals).subList(0, count));
            int slots = 0;
            for (Object local : all) {
                slots += local == Opcodes.LONG || local == Opcodes.DOUBLE ? 2 : 1;
            }
            for (; slots < exception; slots++) {
                all.add(Opcodes.TOP);
            }
            all.add(type);
            Object[] here = all.toArray();
            if (framed) {
                mv.visitFrame(Opcodes.F_NEW, here.length, here, 1, THROWABLE);
            }
            mv.visitInsn(Opcodes.POP);
            overflow();
            mv.visitLabel(next);
            if (framed) {
                mv.visitFrame(Opcodes.F_NEW, here.length, here, 0, NONE);
            }
            mv.visitVarInsn(Opcodes.ALOAD, exception);
        }

        private void overflow() {
            mv.visitFieldInsn(Opcodes.GETSTATIC, TRACE, "overflows", "I");
            mv.visitInsn(Opcodes.ICONST_1);
            mv.visitInsn(Opcodes.IADD);
            mv.visitFieldInsn(Opcodes.PUTSTATIC, TRACE, "overflows", "I");
        }

        private void insns(int... opcodes) {
            for (int opcode : opcodes) {
                mv.visitInsn(opcode);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            flush();
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                if (opcode != Opcodes.RETURN) {
                    mv.visitInsn(opcode == Opcodes.LRETURN || opcode == Opcodes.DRETURN ? Opcodes.DUP2 : Opcodes.DUP);
                }
                push(id);
                probe("exit", EXITS[opcode - Opcodes.IRETURN]);
                stack(3);
                mv.visitInsn(opcode);
            } else if (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE) {
                if (opcode == Opcodes.LASTORE || opcode == Opcodes.DASTORE) {
                    insns(Opcodes.DUP2_X2, Opcodes.POP2, Opcodes.DUP2_X2, Opcodes.DUP2_X2, Opcodes.POP2, Opcodes.DUP2_X2);
                } else {
                    insns(Opcodes.DUP_X2, Opcodes.POP, Opcodes.DUP2_X1, Opcodes.DUP2_X1, Opcodes.POP2, Opcodes.DUP_X2);
                }
                mv.visitInsn(opcode);
                probe("store", STORES[opcode - Opcodes.IASTORE]);
                stack(4);
            } else {
                mv.visitInsn(opcode);
            }
        }

        @Override
        public void visitFieldInsn(int opcode, String of, String name, String descriptor) {
            flush();
            if (opcode != Opcodes.PUTFIELD && opcode != Opcodes.PUTSTATIC) {
                mv.visitFieldInsn(opcode, of, name, descriptor);
                return;
            }
            int number = owner.number(owner.fields, of, name, descriptor);
            char kind = kind(descriptor);
            boolean wide = kind == 'J' || kind == 'D';
            String value = kind == 'L' ? "Ljava/lang/Object;" : String.valueOf(kind);
            if (opcode == Opcodes.PUTSTATIC) {
                mv.visitInsn(wide ? Opcodes.DUP2 : Opcodes.DUP);
                mv.visitFieldInsn(opcode, of, name, descriptor);
                push(number);
                probe("putStatic", "(" + value + "I)V");
            } else if (!bound && of.equals(owner.facts.name)) {
                mv.visitInsn(wide ? Opcodes.DUP2_X1 : Opcodes.DUP_X1);
                mv.visitFieldInsn(opcode, of, name, descriptor);
                push(number);
                probe("putEarly", "(" + value + "I)V");
            } else {
                if (wide) {
                    insns(Opcodes.DUP2_X1, Opcodes.POP2, Opcodes.DUP_X2, Opcodes.DUP_X2, Opcodes.POP, Opcodes.DUP2_X1);
                } else {
                    mv.visitInsn(Opcodes.DUP2);
                }
                mv.visitFieldInsn(opcode, of, name, descriptor);
                push(number);
                probe("put", "(Ljava/lang/Object;" + value + "I)V");
            }
            stack(4);
        }

        private static char kind(String descriptor) {
            return switch (descriptor.charAt(0)) {
                case 'J' -> 'J';
                case 'F' -> 'F';
                case 'D' -> 'D';
                case 'L', '[' -> 'L';
                default -> 'I';
            };
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            flush();
            mv.visitMultiANewArrayInsn(descriptor, dimensions);
            mv.visitInsn(Opcodes.DUP);
            probe("made", "(Ljava/lang/Object;)V");
            stack(1);
        }

        @Override
        public void visitMethodInsn(int opcode, String of, String name, String descriptor, boolean isInterface) {
            flush();
            boolean call = constructor && opcode == Opcodes.INVOKESPECIAL && name.equals("<init>") && inits++ == facts.initCall;
            if (call) {
                mv.visitLabel(beforeCall);
                mv.visitMethodInsn(opcode, of, name, descriptor, isInterface);
                bound = true;
                if (facts.stored[0]) {
                    mv.visitInsn(Opcodes.ACONST_NULL);
                } else {
                    mv.visitVarInsn(Opcodes.ALOAD, 0);
                }
                push(id);
                probe("bind", "(Ljava/lang/Object;I)V");
                mv.visitLabel(afterCall);
                stack(2);
            } else if (opcode != Opcodes.INVOKEINTERFACE && writesUnseen(opcode, of, name, descriptor)) {
                called(opcode, of, name, descriptor, isInterface);
            } else {
                mv.visitMethodInsn(opcode, of, name, descriptor, isInterface);
            }
        }

        private void called(int opcode, String of, String name, String descriptor, boolean isInterface) {
            int number = owner.number(owner.callees, of, name, descriptor);
            boolean receiver = opcode != Opcodes.INVOKESTATIC;
            Type[] arguments = Type.getArgumentTypes(descriptor);
            Type result = Type.getReturnType(descriptor);
            if (receiver && arguments.length == 0 && result.getSort() == Type.OBJECT) {
                mv.visitInsn(Opcodes.DUP);
                mv.visitMethodInsn(opcode, of, name, descriptor, isInterface);
                mv.visitInsn(Opcodes.DUP_X1);
                push(number);
                probe("called", SHAPES[2][0][0]);
                stack(3);
                return;
            }
            List<Variable> values = new ArrayList<>();
            int slot = facts.maxLocals;
            if (receiver) {
                values.add(new Variable(OBJECT, slot++));
            }
            for (Type argument : arguments) {
                values.add(new Variable(argument, slot));
                slot += argument.getSize();
            }
            for (int at = values.size() - 1; at >= 0; at--) {
                if (receiver && at == 0) {
                    mv.visitInsn(Opcodes.DUP);
                }
                mv.visitVarInsn(values.get(at).type.getOpcode(Opcodes.ISTORE), values.get(at).slot);
            }
            for (Variable value : values.subList(receiver ? 1 : 0, values.size())) {
                mv.visitVarInsn(value.type.getOpcode(Opcodes.ILOAD), value.slot);
            }
            mv.visitMethodInsn(opcode, of, name, descriptor, isInterface);
            boolean returns = result.getSort() != Type.VOID;
            if (returns) {
                mv.visitVarInsn(result.getOpcode(Opcodes.ISTORE), slot);
                values.add(new Variable(result, slot));
                slot += result.getSize();
            }
            stack(Math.max(3, event("called", values, number)));
            if (returns) {
                Variable value = values.get(values.size() - 1);
                mv.visitVarInsn(result.getOpcode(Opcodes.ILOAD), value.slot);
            }
            for (Variable value : values) {
                if (sortOf(value.type) == 0) {
                    mv.visitInsn(Opcodes.ACONST_NULL);
                    mv.visitVarInsn(Opcodes.ASTORE, value.slot);
                }
            }
            maxLocals = Math.max(maxLocals, slot);
        }

        private static boolean writesUnseen(int opcode, String of, String name, String descriptor) {
            if (of.startsWith("[")) {
                return name.equals("clone");
            }
            if (opcode == Opcodes.INVOKESPECIAL) {
                return name.equals("clone") && descriptor.equals("()Ljava/lang/Object;");
            }
            return switch (of) {
                case "java/lang/System" -> name.equals("arraycopy");
                case "java/util/Arrays" -> starts(name, "fill", "setAll", "sort", "parallel", "copyOf");
                case "java/lang/reflect/Field", "java/lang/reflect/Array" ->
                    name.startsWith("set") && !name.equals("setAccessible");
                case "java/lang/invoke/VarHandle" -> starts(name, "set", "compareAnd", "weakCompareAnd", "getAnd");
                case "sun/misc/Unsafe", "jdk/internal/misc/Unsafe" -> starts(name, "put", "compareAnd",
                    "weakCompareAnd", "getAnd", "copyMemory", "copySwapMemory", "setMemory");
                default -> of.startsWith("java/util/concurrent/atomic/") && starts(name, "set", "lazySet",
                    "compareAnd", "weakCompareAnd", "getAnd", "incrementAnd", "decrementAnd", "addAnd", "updateAnd",
                    "accumulate", "attempt", "add", "increment", "decrement", "reset", "sumThenReset", "getThenReset");
            };
        }

        private static boolean starts(String name, String... words) {
            for (String word : words) {
                if (name.startsWith(word)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void visitMaxs(int maxStack, int ignored) {
            flush();
            mv.visitLabel(end);
            boolean before = constructor && framed && facts.mayThrowBeforeInit && !facts.stored[0];
            boolean after = constructor ? facts.mayThrowAfterInit : facts.mayThrow;
            Label[] first = before ? region(start, beforeCall) : null;
            Label[] second = after ? region(constructor ? afterCall : start, end) : null;
            if (before) {
                unwind(first, true);
            }
            if (after) {
                unwind(second, false);
            }
            mv.visitMaxs(Math.max(maxStack + extraStack, Math.max(entryStack, 2)), Math.max(maxLocals, 2));
        }

        /** A part of the body with a handler of its own: the handler, and its guard. */
        private Label[] region(Label from, Label to) {
            Label[] labels = {new Label(), new Label(), new Label(), new Label()};
            mv.visitTryCatchBlock(from, to, labels[0], null);
            mv.visitTryCatchBlock(labels[1], labels[2], labels[3], null);
            return labels;
        }

        /** Tells of what leaves the method and throws on. */
        private void unwind(Label[] labels, boolean raw) {
            int slot = raw ? 1 : 0;
            Object[] locals = raw ? new Object[] {Opcodes.UNINITIALIZED_THIS} : NONE;
            Object[] guarded = raw ? new Object[] {Opcodes.UNINITIALIZED_THIS, "java/lang/Throwable"} : THROWABLE;
            mv.visitLabel(labels[0]);
            if (framed) {
                mv.visitFrame(Opcodes.F_NEW, locals.length, locals, 1, THROWABLE);
            }
            mv.visitVarInsn(Opcodes.ASTORE, slot);
            mv.visitLabel(labels[1]);
            mv.visitVarInsn(Opcodes.ALOAD, slot);
            push(id);
            probe("unwind", "(Ljava/lang/Throwable;I)V");
            mv.visitLabel(labels[2]);
            mv.visitVarInsn(Opcodes.ALOAD, slot);
            mv.visitInsn(Opcodes.ATHROW);
            mv.visitLabel(labels[3]);
            if (framed) {
                mv.visitFrame(Opcodes.F_NEW, guarded.length, guarded, 1, THROWABLE);
            }
            mv.visitInsn(Opcodes.POP);
            overflow();
            mv.visitVarInsn(Opcodes.ALOAD, slot);
            mv.visitInsn(Opcodes.ATHROW);
        }
    }

    static final Type OBJECT = Type.getObjectType("java/lang/Object");
    static final Object[] THROWABLE = {"java/lang/Throwable"};
    static final String[] EXITS = {"(II)V", "(JI)V", "(FI)V", "(DI)V", "(Ljava/lang/Object;I)V", "(I)V"};
    static final String[] STORES = new String[8];
    static final String[][][] SHAPES = new String[MOST_REFERENCES + 1][MOST_INTS + 1][MOST_LONGS + 1];

    static {
        String[] values = {"I", "J", "F", "D", "Ljava/lang/Object;", "I", "I", "I"};
        for (int at = 0; at < values.length; at++) {
            STORES[at] = "(Ljava/lang/Object;I" + values[at] + ")V";
        }
        for (int references = 0; references <= MOST_REFERENCES; references++) {
            for (int ints = 0; ints <= MOST_INTS; ints++) {
                for (int longs = 0; longs <= MOST_LONGS; longs++) {
                    SHAPES[references][ints][longs] = "(" + "Ljava/lang/Object;".repeat(references) + "I".repeat(ints)
                            + "J".repeat(longs) + "I)V";
                }
            }
        }
    }
}
