import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * The crash plan (copy=fields) as ASM does it, for scripts/bench rewrite; {@link AsmTrace} has the
 * trace plan.
 *
 * <p>Made to be quick, as ASM goes: visitors and no trees, one visit to look and one to write, the
 * reader's constant pool and unchanged methods copied, frames extended and never computed. What our
 * own code checks besides (parameters that frames leave out, jumps across the call of the other
 * constructor, names for the records) is left out.
 *
 * <p>Arguments: a file of classes, how many rounds, how many classes are the first ones (rising numbers like {@code
 * 100,1000}), and {@code fields} or {@code trace}. Prints a line for each round: nanoseconds of CPU time for each of the
 * first ones, nanoseconds for all, bytes read, bytes written, methods instrumented.
 */
public class AsmRewrite {
    static final String PROBE = "java/lang/HindsightProbe";
    static final int MAX_FIELDS = 24;

    public static void main(String[] args) throws IOException {
        ByteBuffer pack = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0])));
        int rounds = Integer.parseInt(args[1]);
        Set<Integer> first = new HashSet<>();
        for (String number : args[2].split(",")) {
            first.add(Integer.valueOf(number));
        }
        boolean trace = args[3].equals("trace");
        List<byte[]> classes = new ArrayList<>();
        long bytes = 0;
        while (pack.hasRemaining()) {
            byte[] bytecode = new byte[pack.getInt()];
            pack.get(bytecode);
            classes.add(bytecode);
            bytes += bytecode.length;
        }
        var clock = ManagementFactory.getThreadMXBean();
        for (int round = 0; round < rounds; round++) {
            long start = clock.getCurrentThreadCpuTime();
            StringBuilder atFirst = new StringBuilder();
            long written = 0;
            int id = 0;
            for (int at = 0; at < classes.size(); at++) {
                if (first.contains(at)) {
                    atFirst.append(clock.getCurrentThreadCpuTime() - start).append(' ');
                }
                if (trace) {
                    AsmTrace.Rewriter done = AsmTrace.rewrite(classes.get(at), id);
                    id = done.nextId;
                    written += done.result == null ? 0 : done.result.length;
                } else {
                    Rewriter done = rewrite(classes.get(at), id);
                    id = done.nextId;
                    written += done.result == null ? 0 : done.result.length;
                }
            }
            long nanos = clock.getCurrentThreadCpuTime() - start;
            System.out.println(atFirst.toString() + nanos + " " + bytes + " " + written + " " + id);
        }
    }

    static Rewriter rewrite(byte[] bytecode, int firstId) {
        ClassReader reader = new ClassReader(bytecode);
        Scanner scanner = new Scanner();
        reader.accept(scanner, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        ClassWriter writer = new ClassWriter(reader, 0);
        Rewriter rewriter = new Rewriter(writer, scanner, firstId);
        if (scanner.throwing > 0) {
            reader.accept(rewriter, ClassReader.EXPAND_FRAMES);
            rewriter.result = writer.toByteArray();
        }
        return rewriter;
    }

    /** A field that a method uses. */
    static final class Use {
        final String owner;
        final String name;
        final String descriptor;
        /** Slots from which the reference is loaded right before. */
        final List<Integer> loadedFrom = new ArrayList<>();

        Use(String owner, String name, String descriptor) {
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
        }
    }

    /** What the first visit finds out about a method. */
    static final class Facts {
        boolean mayThrow;
        boolean mayThrowBeforeInit;
        boolean mayThrowAfterInit;
        /** Which call of an {@code <init>} is the one of the other constructor; -1 if unknown. */
        int initCall = -1;
        boolean subroutines;
        int maxLocals;
        boolean[] stored = new boolean[256];
        /**
         * For each entry of the exception table whether a trace needs no probe at its handler, which
         * does nothing but rethrow or stands before the call of the other constructor.
         */
        final List<Boolean> quiet = new ArrayList<>();
        final List<Use> uses = new ArrayList<>();
    }

    static final class Scanner extends ClassVisitor {
        String name;
        String superName;
        int version;
        /** Flags of the fields that the class declares. */
        final Map<String, Integer> fields = new HashMap<>();
        final List<Facts> methods = new ArrayList<>();
        int throwing;
        /** How many methods have code. */
        int bodies;

        Scanner() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
            this.version = version & 0xffff;
            this.name = name;
            this.superName = superName;
        }

        @Override
        public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
            fields.put(name + descriptor, access);
            return null;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            Facts facts = new Facts();
            methods.add(facts);
            if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0) {
                return null;
            }
            bodies++;
            return new MethodScanner(this, facts, access, name);
        }
    }

    /** Follows which stack entries are {@code this}, and stops when something may throw. */
    static final class MethodScanner extends MethodVisitor {
        final Scanner owner;
        final Facts facts;
        final boolean constructor;
        final boolean isStatic;
        final boolean[] stack = new boolean[256];
        int depth;
        boolean afterInit;
        int inits;
        final List<String> pending = new ArrayList<>();
        int loaded = -1;
        int loadedBefore = -1;

        MethodScanner(Scanner owner, Facts facts, int access, String name) {
            super(Opcodes.ASM9);
            this.owner = owner;
            this.facts = facts;
            this.constructor = name.equals("<init>");
            this.isStatic = (access & Opcodes.ACC_STATIC) != 0;
        }

        void mayThrow() {
            facts.mayThrow = true;
            if (afterInit) {
                facts.mayThrowAfterInit = true;
            } else {
                facts.mayThrowBeforeInit = true;
            }
        }

        boolean decided() {
            return afterInit || !constructor ? facts.mayThrow && (!constructor || facts.mayThrowAfterInit) : facts.mayThrowBeforeInit;
        }

        void push(int slots, boolean isThis) {
            for (int n = 0; n < slots && depth < stack.length; n++) {
                stack[depth++] = isThis;
            }
        }

        void pop(int slots) {
            depth = Math.max(0, depth - slots);
        }

        boolean popThis() {
            return depth > 0 && stack[--depth];
        }

        /** The handlers by the exception table, and those whose code does nothing so far. */
        final List<Label> handlers = new ArrayList<>();
        final List<Label> idle = new ArrayList<>();

        void next() {
            idle.clear();
            nextOfIdle();
        }

        void nextOfIdle() {
            loadedBefore = loaded;
            loaded = -1;
        }

        void quiet(Label handler) {
            for (int at = 0; at < handlers.size(); at++) {
                if (handlers.get(at) == handler) {
                    facts.quiet.set(at, true);
                }
            }
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
            handlers.add(handler);
            facts.quiet.add(false);
        }

        @Override
        public void visitInsn(int opcode) {
            if (!idle.isEmpty() && opcode == Opcodes.ATHROW) {
                idle.forEach(this::quiet);
            }
            if (opcode == Opcodes.MONITOREXIT) {
                nextOfIdle();
            } else {
                next();
            }
            if (decided()) {
                return;
            }
            switch (opcode) {
                case Opcodes.NOP, Opcodes.INEG, Opcodes.LNEG, Opcodes.FNEG, Opcodes.DNEG, Opcodes.I2F, Opcodes.F2I,
                        Opcodes.L2D, Opcodes.D2L, Opcodes.I2B, Opcodes.I2C, Opcodes.I2S -> { }
                case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> push(2, false);
                case Opcodes.ACONST_NULL, Opcodes.ICONST_M1, Opcodes.ICONST_0, Opcodes.ICONST_1, Opcodes.ICONST_2,
                        Opcodes.ICONST_3, Opcodes.ICONST_4, Opcodes.ICONST_5, Opcodes.FCONST_0, Opcodes.FCONST_1,
                        Opcodes.FCONST_2 -> push(1, false);
                case Opcodes.POP, Opcodes.L2I, Opcodes.L2F, Opcodes.D2I, Opcodes.D2F, Opcodes.ISHL, Opcodes.LSHL,
                        Opcodes.ISHR, Opcodes.LSHR, Opcodes.IUSHR, Opcodes.LUSHR, Opcodes.FCMPL, Opcodes.FCMPG,
                        Opcodes.IAND, Opcodes.IOR, Opcodes.IXOR -> pop(1);
                case Opcodes.POP2, Opcodes.LAND, Opcodes.LOR, Opcodes.LXOR -> pop(2);
                case Opcodes.DUP -> {
                    boolean top = popThis();
                    push(2, top);
                }
                case Opcodes.DUP_X1, Opcodes.DUP_X2, Opcodes.DUP2, Opcodes.DUP2_X1, Opcodes.DUP2_X2, Opcodes.SWAP -> depth = 0;
                case Opcodes.IADD, Opcodes.ISUB, Opcodes.IMUL, Opcodes.FADD, Opcodes.FSUB, Opcodes.FMUL, Opcodes.FDIV,
                        Opcodes.FREM -> {
                    pop(2);
                    push(1, false);
                }
                case Opcodes.LADD, Opcodes.LSUB, Opcodes.LMUL, Opcodes.DADD, Opcodes.DSUB, Opcodes.DMUL, Opcodes.DDIV,
                        Opcodes.DREM -> {
                    pop(4);
                    push(2, false);
                }
                case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D -> {
                    pop(1);
                    push(2, false);
                }
                case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> pop(3);
                case Opcodes.IRETURN, Opcodes.LRETURN, Opcodes.FRETURN, Opcodes.DRETURN, Opcodes.ARETURN,
                        Opcodes.RETURN -> depth = 0;
                default -> mayThrow();
            }
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            next();
            if (opcode == Opcodes.NEWARRAY) {
                mayThrow();
            } else {
                push(1, false);
            }
        }

        @Override
        public void visitVarInsn(int opcode, int slot) {
            if (opcode == Opcodes.ALOAD || opcode == Opcodes.ASTORE) {
                nextOfIdle();
            } else {
                next();
            }
            switch (opcode) {
                case Opcodes.ALOAD -> {
                    loaded = slot;
                    push(1, slot == 0 && !isStatic && !facts.stored[0]);
                }
                case Opcodes.ILOAD, Opcodes.FLOAD -> push(1, false);
                case Opcodes.LLOAD, Opcodes.DLOAD -> push(2, false);
                case Opcodes.RET -> facts.subroutines = true;
                default -> {
                    int width = opcode == Opcodes.LSTORE || opcode == Opcodes.DSTORE ? 2 : 1;
                    pop(width);
                    for (int at = slot; at < slot + width && at < facts.stored.length; at++) {
                        facts.stored[at] = true;
                    }
                }
            }
        }

        @Override
        public void visitIincInsn(int slot, int by) {
            next();
            if (slot < facts.stored.length) {
                facts.stored[slot] = true;
            }
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            next();
            if (opcode == Opcodes.NEW && constructor) {
                pending.add(type);
            }
            mayThrow();
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            next();
            boolean instance = opcode == Opcodes.GETFIELD || opcode == Opcodes.PUTFIELD;
            if (instance) {
                use(opcode, owner, name, descriptor);
            }
            if (decided()) {
                return;
            }
            Integer flags = owner.equals(this.owner.name) ? this.owner.fields.get(name + descriptor) : null;
            boolean write = opcode == Opcodes.PUTFIELD || opcode == Opcodes.PUTSTATIC;
            if (flags == null || ((flags & Opcodes.ACC_STATIC) != 0) == instance
                    || write && (flags & Opcodes.ACC_FINAL) != 0 && !constructor) {
                mayThrow();
                return;
            }
            int slots = descriptor.equals("J") || descriptor.equals("D") ? 2 : 1;
            if (write) {
                pop(slots);
            }
            if (instance && !popThis()) {
                mayThrow();
            }
            if (!write) {
                push(slots, false);
            }
        }

        private void use(int opcode, String owner, String name, String descriptor) {
            for (Use use : facts.uses) {
                if (use.name.equals(name) && use.owner.equals(owner) && use.descriptor.equals(descriptor)) {
                    witness(opcode, use);
                    return;
                }
            }
            if (facts.uses.size() < 256) {
                Use use = new Use(owner, name, descriptor);
                facts.uses.add(use);
                witness(opcode, use);
            }
        }

        private void witness(int opcode, Use use) {
            if (opcode == Opcodes.GETFIELD && loadedBefore >= 0 && !use.loadedFrom.contains(loadedBefore)) {
                use.loadedFrom.add(loadedBefore);
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            next();
            if (constructor && opcode == Opcodes.INVOKESPECIAL && name.equals("<init>")) {
                if (pending.isEmpty()) {
                    boolean harmless = owner.equals("java/lang/Object") && descriptor.equals("()V");
                    if (!harmless) {
                        facts.mayThrow = true;
                    }
                    facts.initCall = inits;
                    afterInit = true;
                    depth = 0;
                    inits++;
                    return;
                }
                pending.remove(pending.size() - 1);
                inits++;
            }
            mayThrow();
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            next();
            mayThrow();
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            next();
            if (opcode == Opcodes.JSR) {
                facts.subroutines = true;
            }
            // Backwards: what the stack is there was decided too early.
            if (label.info == this) {
                mayThrow();
                return;
            }
            pop(opcode == Opcodes.GOTO ? depth : opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE ? 2 : 1);
        }

        @Override
        public void visitLabel(Label label) {
            label.info = this;
            depth = 0;
            if (!handlers.isEmpty() && handlers.contains(label)) {
                idle.add(label);
                if (constructor && !afterInit) {
                    quiet(label);
                }
            }
        }

        @Override
        public void visitLdcInsn(Object value) {
            next();
            if (value instanceof Type || value instanceof Handle || value instanceof ConstantDynamic) {
                mayThrow();
            } else {
                push(value instanceof Long || value instanceof Double ? 2 : 1, false);
            }
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
            next();
            depth = 0;
        }

        @Override
        public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
            next();
            depth = 0;
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            next();
            mayThrow();
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            facts.maxLocals = maxLocals;
            boolean lost = constructor && (facts.initCall < 0 || !facts.mayThrowBeforeInit && !facts.mayThrowAfterInit);
            if (facts.subroutines || lost) {
                facts.mayThrow = false;
            }
            if (facts.mayThrow) {
                owner.throwing++;
            }
        }
    }

    static final class Rewriter extends ClassVisitor {
        final Scanner facts;
        int nextId;
        int place;
        byte[] result;

        Rewriter(ClassVisitor next, Scanner facts, int firstId) {
            super(Opcodes.ASM9, next);
            this.facts = facts;
            this.nextId = firstId;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            Facts method = facts.methods.get(place++);
            return method.mayThrow ? new MethodRewriter(next, facts, method, access, name, descriptor, nextId++) : next;
        }
    }

    /** A value that a handler hands over: from which variable. */
    record Kept(int slot, Type type) { }

    /** A field that is loaded at entry. */
    record Loaded(Use use, int slot, Type type, boolean safe) { }

    static final class MethodRewriter extends MethodVisitor {
        static final Object[] NONE = {};

        final Scanner owner;
        final Facts facts;
        final int id;
        final boolean constructor;
        final boolean isStatic;
        /** The parameters, {@code this} first, and where they stand. */
        final List<Kept> parameters = new ArrayList<>();
        final List<Kept> values = new ArrayList<>();
        /** Fields by parameter. */
        final List<List<Loaded>> loads = new ArrayList<>();
        final List<Object> fresh = new ArrayList<>();
        int nextSlot;
        final int exception;
        int extraStack = 2;

        List<Label[]> blocks = new ArrayList<>();
        List<String> types = new ArrayList<>();
        /** Typed handlers with their guards: start, end, handler. */
        final Map<Label, Label[]> guards = new HashMap<>();
        Label[] pendingGuard;
        final Label start = new Label();
        final Label end = new Label();
        final Label handler = new Label();
        final Label handlerBefore = new Label();
        final Label beforeCall = new Label();
        final Label afterCall = new Label();
        int inits;

        MethodRewriter(MethodVisitor next, Scanner owner, Facts facts, int access, String name, String descriptor, int id) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
            this.facts = facts;
            this.id = id;
            this.constructor = name.equals("<init>");
            this.isStatic = (access & Opcodes.ACC_STATIC) != 0;
            int slot = 0;
            if (!isStatic) {
                parameters.add(new Kept(0, Type.getObjectType(owner.name)));
                slot = 1;
            }
            for (Type type : Type.getArgumentTypes(descriptor)) {
                parameters.add(new Kept(slot, type));
                slot += type.getSize();
            }
            nextSlot = facts.maxLocals;
            for (Kept parameter : parameters) {
                boolean stored = facts.stored[parameter.slot]
                        || parameter.type.getSize() == 2 && facts.stored[parameter.slot + 1];
                if (stored && !(constructor && parameter.slot == 0)) {
                    values.add(new Kept(fresh(parameter.type), parameter.type));
                } else {
                    values.add(parameter);
                }
            }
            pickFields();
            exception = nextSlot;
        }

        private int fresh(Type type) {
            int slot = nextSlot;
            nextSlot += type.getSize();
            fresh.add(verified(type));
            return slot;
        }

        private void pickFields() {
            boolean fieldless = owner.superName == null || switch (owner.superName) {
                case "java/lang/Object", "java/lang/Record", "java/lang/Enum", "java/lang/Throwable",
                        "java/lang/Exception", "java/lang/RuntimeException", "java/lang/Error" -> true;
                default -> false;
            };
            int kept = 0;
            for (int at = 0; at < parameters.size(); at++) {
                List<Loaded> group = new ArrayList<>();
                loads.add(group);
                Kept parameter = parameters.get(at);
                if (parameter.type.getSort() != Type.OBJECT || constructor && parameter.slot == 0) {
                    continue;
                }
                String type = parameter.type.getInternalName();
                boolean own = type.equals(owner.name);
                for (Use use : facts.uses) {
                    if (kept == MAX_FIELDS || !use.owner.equals(type)) {
                        continue;
                    }
                    Integer flags = own ? owner.fields.get(use.name + use.descriptor) : null;
                    if (flags != null && (flags & (Opcodes.ACC_FINAL | Opcodes.ACC_STATIC)) != 0) {
                        continue;
                    }
                    if (!own && !fieldless && !use.loadedFrom.contains(parameter.slot)) {
                        continue;
                    }
                    Type fieldType = Type.getType(use.descriptor);
                    Loaded loaded = new Loaded(use, fresh(fieldType), fieldType, flags != null);
                    group.add(loaded);
                    values.add(new Kept(loaded.slot, fieldType));
                    kept++;
                }
            }
        }

        static Object verified(Type type) {
            return switch (type.getSort()) {
                case Type.LONG -> Opcodes.LONG;
                case Type.DOUBLE -> Opcodes.DOUBLE;
                case Type.FLOAT -> Opcodes.FLOAT;
                case Type.ARRAY -> type.getDescriptor();
                case Type.OBJECT -> type.getInternalName();
                default -> Opcodes.INTEGER;
            };
        }

        /** The locals of a frame, and behind them the fresh variables. */
        private List<Object> extended(int count, Object[] locals) {
            List<Object> all = new ArrayList<>(count + fresh.size() + 4);
            int slots = 0;
            for (int at = 0; at < count; at++) {
                all.add(locals[at]);
                slots += locals[at] == Opcodes.LONG || locals[at] == Opcodes.DOUBLE ? 2 : 1;
            }
            if (!fresh.isEmpty()) {
                for (; slots < facts.maxLocals; slots++) {
                    all.add(Opcodes.TOP);
                }
                all.addAll(fresh);
            }
            return all;
        }

        private Object[] entryLocals() {
            Object[] locals = new Object[parameters.size()];
            for (int at = 0; at < locals.length; at++) {
                boolean raw = constructor && parameters.get(at).slot == 0;
                locals[at] = raw ? Opcodes.UNINITIALIZED_THIS : verified(parameters.get(at).type);
            }
            return locals;
        }

        private void frame(List<Object> locals, Object stack) {
            if (owner.version >= 50) {
                mv.visitFrame(Opcodes.F_NEW, locals.size(), locals.toArray(), 1, new Object[] {stack});
            }
        }

        /** Goes on at the next instruction, with or without an exception since the guard's start. */
        private void guard(Label[] guard, List<Object> locals) {
            Label next = new Label();
            mv.visitLabel(guard[1]);
            mv.visitJumpInsn(Opcodes.GOTO, next);
            mv.visitLabel(guard[2]);
            frame(locals, "java/lang/Throwable");
            mv.visitInsn(Opcodes.POP);
            mv.visitLabel(next);
            if (owner.version >= 50) {
                mv.visitFrame(Opcodes.F_NEW, locals.size(), locals.toArray(), 0, NONE);
            }
        }

        private static Label[] labels() {
            return new Label[] {new Label(), new Label(), new Label()};
        }

        private final List<Label[]> lateGuards = new ArrayList<>();

        @Override
        public void visitCode() {
            mv.visitCode();
            for (int at = 0; at < parameters.size(); at++) {
                Kept parameter = parameters.get(at);
                Kept value = values.get(at);
                if (value.slot != parameter.slot) {
                    mv.visitVarInsn(parameter.type.getOpcode(Opcodes.ILOAD), parameter.slot);
                    mv.visitVarInsn(parameter.type.getOpcode(Opcodes.ISTORE), value.slot);
                }
            }
            boolean hasThis = !isStatic && !constructor;
            // Fields of this that the class declares, then zeros for all others, then the others.
            for (int at = 0; at < loads.size(); at++) {
                for (Loaded load : loads.get(at)) {
                    if (hasThis && at == 0 && load.safe) {
                        mv.visitVarInsn(Opcodes.ALOAD, 0);
                        mv.visitFieldInsn(Opcodes.GETFIELD, load.use.owner, load.use.name, load.use.descriptor);
                    } else {
                        zero(load.type);
                    }
                    mv.visitVarInsn(load.type.getOpcode(Opcodes.ISTORE), load.slot);
                }
            }
            for (int at = 0; at < loads.size(); at++) {
                if (!loads.get(at).isEmpty()) {
                    loadGroup(at, hasThis && at == 0);
                }
            }
            if (extraStack < 3 && !fresh.isEmpty()) {
                extraStack = 3;
            }
            mv.visitLabel(start);
        }

        private void loadGroup(int at, boolean isThis) {
            List<Loaded> group = new ArrayList<>();
            boolean safe = true;
            for (Loaded load : loads.get(at)) {
                if (!(isThis && load.safe)) {
                    group.add(load);
                    safe &= load.safe;
                }
            }
            if (group.isEmpty()) {
                return;
            }
            Label next = new Label();
            Label[] guard = labels();
            mv.visitVarInsn(Opcodes.ALOAD, parameters.get(at).slot);
            if (!isThis) {
                mv.visitInsn(Opcodes.DUP);
                mv.visitJumpInsn(Opcodes.IFNULL, next);
            }
            mv.visitLabel(guard[0]);
            for (Loaded load : group) {
                mv.visitInsn(Opcodes.DUP);
                mv.visitFieldInsn(Opcodes.GETFIELD, load.use.owner, load.use.name, load.use.descriptor);
                mv.visitVarInsn(load.type.getOpcode(Opcodes.ISTORE), load.slot);
            }
            Object[] entry = entryLocals();
            List<Object> locals = extended(entry.length, entry);
            if (safe) {
                mv.visitLabel(next);
                frame(locals, "java/lang/Object");
                mv.visitInsn(Opcodes.POP);
            } else {
                lateGuards.add(guard);
                mv.visitLabel(guard[1]);
                mv.visitJumpInsn(Opcodes.GOTO, next);
                mv.visitLabel(guard[2]);
                frame(locals, "java/lang/Throwable");
                mv.visitInsn(Opcodes.NOP);
                mv.visitLabel(next);
                frame(locals, "java/lang/Object");
                mv.visitInsn(Opcodes.POP);
            }
        }

        private void zero(Type type) {
            mv.visitInsn(switch (type.getSort()) {
                case Type.LONG -> Opcodes.LCONST_0;
                case Type.FLOAT -> Opcodes.FCONST_0;
                case Type.DOUBLE -> Opcodes.DCONST_0;
                case Type.ARRAY, Type.OBJECT -> Opcodes.ACONST_NULL;
                default -> Opcodes.ICONST_0;
            });
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
            if (all.isEmpty()) {
                return;
            }
            for (int at = 0; at < all.size(); at++) {
                Label place = all.get(at)[2];
                boolean typed = types.get(at) != null;
                for (int other = 0; typed && other < all.size(); other++) {
                    typed = all.get(other)[2] != place || types.get(other) != null;
                }
                if (typed && !guards.containsKey(place)) {
                    Label[] guard = labels();
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
                if (owner.version < 50) {
                    caught(0, NONE, "java/lang/Throwable");
                }
            }
        }

        @Override
        public void visitFrame(int type, int count, Object[] locals, int stackCount, Object[] stack) {
            flush();
            Object[] all = locals;
            int total = count;
            if (!fresh.isEmpty()) {
                all = extended(count, locals).toArray();
                total = all.length;
            }
            mv.visitFrame(Opcodes.F_NEW, total, all, stackCount, stack);
            if (pendingGuard != null) {
                caught(count, locals, stack[0]);
            }
        }

        /** The probe at the start of a typed handler. */
        private void caught(int count, Object[] locals, Object type) {
            Label[] guard = pendingGuard;
            pendingGuard = null;
            mv.visitVarInsn(Opcodes.ASTORE, exception);
            mv.visitLabel(guard[0]);
            mv.visitVarInsn(Opcodes.ALOAD, exception);
            pushId();
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "caught", "(Ljava/lang/Throwable;I)V", false);
            List<Object> here = extended(count, locals);
            int slots = 0;
            for (Object local : here) {
                slots += local == Opcodes.LONG || local == Opcodes.DOUBLE ? 2 : 1;
            }
            for (; slots < exception; slots++) {
                here.add(Opcodes.TOP);
            }
            here.add(type);
            guard(guard, here);
            mv.visitVarInsn(Opcodes.ALOAD, exception);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            boolean call = constructor && opcode == Opcodes.INVOKESPECIAL && name.equals("<init>")
                    && inits++ == facts.initCall;
            if (call) {
                mv.visitLabel(beforeCall);
            }
            mv.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if (call) {
                mv.visitLabel(afterCall);
            }
        }

        private void pushId() {
            if (id <= 5) {
                mv.visitInsn(Opcodes.ICONST_0 + id);
            } else if (id <= 127) {
                mv.visitIntInsn(Opcodes.BIPUSH, id);
            } else if (id <= 32767) {
                mv.visitIntInsn(Opcodes.SIPUSH, id);
            } else {
                mv.visitLdcInsn(id);
            }
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            flush();
            mv.visitLabel(end);
            Label[] guardBefore = labels();
            Label[] guardAfter = labels();
            boolean before = constructor && facts.mayThrowBeforeInit;
            boolean after = !constructor || facts.mayThrowAfterInit;
            int deepest = 0;
            if (before) {
                mv.visitTryCatchBlock(start, beforeCall, handlerBefore, null);
            }
            if (after) {
                mv.visitTryCatchBlock(constructor ? afterCall : start, end, handler, null);
            }
            for (Label[] guard : lateGuards) {
                mv.visitTryCatchBlock(guard[0], guard[1], guard[2], null);
            }
            if (before) {
                mv.visitTryCatchBlock(guardBefore[0], guardBefore[1], guardBefore[2], null);
                deepest = handler(handlerBefore, guardBefore, true);
            }
            if (after) {
                mv.visitTryCatchBlock(guardAfter[0], guardAfter[1], guardAfter[2], null);
                deepest = Math.max(deepest, handler(handler, guardAfter, false));
            }
            mv.visitMaxs(Math.max(Math.max(maxStack, deepest), extraStack), Math.max(maxLocals, exception + 1));
        }

        /** Hands everything over and throws on; how deep the stack gets. */
        private int handler(Label place, Label[] guard, boolean raw) {
            mv.visitLabel(place);
            Object[] entry = entryLocals();
            if (constructor && !raw) {
                entry[0] = owner.name;
            }
            // Parameters that the body destroys are in their copies alone.
            for (int at = 0; at < entry.length; at++) {
                if (values.get(at).slot != parameters.get(at).slot) {
                    entry[at] = Opcodes.TOP;
                }
            }
            List<Object> locals = new ArrayList<>(entry.length);
            for (int at = 0; at < entry.length; at++) {
                locals.add(entry[at]);
                if (entry[at] == Opcodes.TOP && parameters.get(at).type.getSize() == 2) {
                    locals.add(Opcodes.TOP);
                }
            }
            frame(extended(locals.size(), locals.toArray()), "java/lang/Throwable");
            mv.visitVarInsn(Opcodes.ASTORE, exception);
            mv.visitLabel(guard[0]);
            mv.visitVarInsn(Opcodes.ALOAD, exception);
            pushId();
            int references = 0;
            int words = 0;
            boolean wordsOpen = true;
            for (Kept value : values) {
                if (isReference(value.type)) {
                    references++;
                } else {
                    wordsOpen &= value.type.getSort() != Type.FLOAT && value.type.getSort() != Type.DOUBLE;
                    words += wordsOpen ? 1 : 0;
                }
            }
            references = Math.min(references, 8);
            words = Math.min(words, 3);
            int given = 0;
            for (Kept value : values) {
                if (isReference(value.type) && given < references) {
                    load(value, raw);
                    given++;
                }
            }
            given = 0;
            for (Kept value : values) {
                if (!isReference(value.type) && given < words) {
                    load(value, raw);
                    if (value.type.getSort() != Type.LONG) {
                        mv.visitInsn(Opcodes.I2L);
                    }
                    given++;
                }
            }
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "frame", FRAMES[words][references], false);
            int seenReferences = 0;
            int seenWords = 0;
            for (Kept value : values) {
                boolean appended = isReference(value.type) ? seenReferences++ >= references : seenWords++ >= words;
                if (appended) {
                    load(value, raw);
                    append(value.type);
                }
            }
            List<Object> rest = new ArrayList<>();
            for (int slot = 0; slot < exception; slot++) {
                rest.add(slot == 0 && raw ? Opcodes.UNINITIALIZED_THIS : Opcodes.TOP);
            }
            rest.add("java/lang/Throwable");
            mv.visitLabel(guard[1]);
            mv.visitInsn(Opcodes.POP);
            mv.visitVarInsn(Opcodes.ALOAD, exception);
            mv.visitInsn(Opcodes.ATHROW);
            mv.visitLabel(guard[2]);
            frame(rest, "java/lang/Throwable");
            mv.visitInsn(Opcodes.POP);
            mv.visitVarInsn(Opcodes.ALOAD, exception);
            mv.visitInsn(Opcodes.ATHROW);
            return 2 + references + 2 * words + 2;
        }

        private void load(Kept value, boolean raw) {
            if (raw && value.slot == 0) {
                mv.visitInsn(Opcodes.ACONST_NULL);
            } else {
                mv.visitVarInsn(value.type.getOpcode(Opcodes.ILOAD), value.slot);
            }
        }

        private void append(Type type) {
            String name;
            String descriptor;
            switch (type.getSort()) {
                case Type.LONG -> {
                    name = "j";
                    descriptor = "(J)Ljava/lang/HindsightProbe;";
                }
                case Type.FLOAT -> {
                    name = "f";
                    descriptor = "(F)Ljava/lang/HindsightProbe;";
                }
                case Type.DOUBLE -> {
                    name = "d";
                    descriptor = "(D)Ljava/lang/HindsightProbe;";
                }
                case Type.ARRAY, Type.OBJECT -> {
                    name = "a";
                    descriptor = "(Ljava/lang/Object;)Ljava/lang/HindsightProbe;";
                }
                default -> {
                    name = "i";
                    descriptor = "(I)Ljava/lang/HindsightProbe;";
                }
            }
            mv.visitMethodInsn(Opcodes.INVOKEVIRTUAL, PROBE, name, descriptor, false);
        }

        private static boolean isReference(Type type) {
            return type.getSort() >= Type.ARRAY;
        }

        static final String[][] FRAMES = new String[4][9];

        static {
            for (int words = 0; words < 4; words++) {
                for (int references = 0; references < 9; references++) {
                    FRAMES[words][references] = "(Ljava/lang/Throwable;I" + "Ljava/lang/Object;".repeat(references)
                            + "J".repeat(words) + ")Ljava/lang/HindsightProbe;";
                }
            }
        }
    }
}
