import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.*;

/** A body being run. */
final class Frame implements Opcodes {
    private final Oracle oracle;
    private final MethodNode method;
    private final Oracle.Val[] locals;
    private final Deque<Oracle.Val> stack = new ArrayDeque<>();

    Frame(Oracle oracle, MethodNode method, List<Oracle.Val> args) {
        this.oracle = oracle;
        this.method = method;
        locals = new Oracle.Val[method.maxLocals + 1];
        int slot = 0;
        for (Oracle.Val arg : args) {
            locals[slot] = arg;
            slot += arg.value() instanceof Long || arg.value() instanceof Double ? 2 : 1;
        }
    }

    private void push(Object value) {
        stack.push(new Oracle.Val(value));
    }

    private int integer() {
        return stack.pop().integer();
    }

    /** Runs to the end; the result, or nothing. */
    Oracle.Val run() {
        AbstractInsnNode at = method.instructions.getFirst();
        while (true) {
            try {
                while (true) {
                    int opcode = at.getOpcode();
                    if (opcode >= IRETURN && opcode <= ARETURN) {
                        return stack.pop();
                    }
                    if (opcode == RETURN) {
                        return null;
                    }
                    AbstractInsnNode next = opcode < 0 ? null : step(at, opcode);
                    at = next == null ? at.getNext() : next;
                }
            } catch (Oracle.Thrown thrown) {
                at = handler(at, thrown);
            }
        }
    }

    private AbstractInsnNode handler(AbstractInsnNode at, Oracle.Thrown thrown) {
        int place = method.instructions.indexOf(at);
        String type = ((Oracle.Obj) thrown.exception.value()).type;
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            if (place >= method.instructions.indexOf(block.start)
                    && place < method.instructions.indexOf(block.end)
                    && (block.type == null || oracle.isA(type, block.type))) {
                stack.clear();
                stack.push(thrown.exception);
                return block.handler;
            }
        }
        throw thrown;
    }

    private Oracle.Obj target(Oracle.Val reference) {
        if (reference.value() == null) {
            throw new Oracle.Thrown(new Oracle.Val(new Oracle.Obj("java/lang/NullPointerException")));
        }
        return (Oracle.Obj) reference.value();
    }

    /** Does one instruction; where to go on, if not at the next. */
    private AbstractInsnNode step(AbstractInsnNode at, int opcode) {
        switch (opcode) {
            case NOP, MONITORENTER, MONITOREXIT -> {
                if (opcode != NOP) {
                    stack.pop();
                }
            }
            case ACONST_NULL -> push(null);
            case ICONST_M1, ICONST_0, ICONST_1, ICONST_2, ICONST_3, ICONST_4, ICONST_5 -> push(opcode - ICONST_0);
            case LCONST_0, LCONST_1 -> push((long) (opcode - LCONST_0));
            case BIPUSH, SIPUSH -> push(((IntInsnNode) at).operand);
            case LDC -> push(((LdcInsnNode) at).cst);
            case ILOAD, LLOAD, FLOAD, DLOAD, ALOAD -> stack.push(locals[((VarInsnNode) at).var]);
            case ISTORE, LSTORE, FSTORE, DSTORE, ASTORE -> locals[((VarInsnNode) at).var] = stack.pop();
            case IINC -> {
                IincInsnNode inc = (IincInsnNode) at;
                locals[inc.var] = new Oracle.Val(locals[inc.var].integer() + inc.incr);
            }
            case POP -> stack.pop();
            case DUP -> stack.push(stack.peek());
            case DUP_X1 -> {
                Oracle.Val top = stack.pop();
                Oracle.Val below = stack.pop();
                stack.push(top);
                stack.push(below);
                stack.push(top);
            }
            case DUP2 -> {
                Oracle.Val top = stack.pop();
                Oracle.Val below = stack.peek();
                stack.push(top);
                stack.push(below);
                stack.push(top);
            }
            case IADD, ISUB, IMUL, IDIV, IREM -> {
                int right = integer();
                int left = integer();
                push(switch (opcode) {
                    case IADD -> left + right;
                    case ISUB -> left - right;
                    case IMUL -> left * right;
                    case IDIV -> left / right;
                    default -> left % right;
                });
            }
            case I2L -> push((long) integer());
            case IFEQ, IFNE, IFLT, IFGE, IFGT, IFLE -> {
                return jump(at, integer(), 0, opcode - IFEQ);
            }
            case IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE -> {
                int right = integer();
                return jump(at, integer(), right, opcode - IF_ICMPEQ);
            }
            case IF_ACMPEQ, IF_ACMPNE -> {
                boolean same = stack.pop().value() == stack.pop().value();
                return same == (opcode == IF_ACMPEQ) ? ((JumpInsnNode) at).label : null;
            }
            case IFNULL, IFNONNULL -> {
                boolean isNull = stack.pop().value() == null;
                return isNull == (opcode == IFNULL) ? ((JumpInsnNode) at).label : null;
            }
            case GOTO -> {
                return ((JumpInsnNode) at).label;
            }
            case NEW -> {
                oracle.initialize(((TypeInsnNode) at).desc);
                push(new Oracle.Obj(((TypeInsnNode) at).desc));
            }
            case NEWARRAY -> push(new Oracle.Arr("[I", integer(), 0));
            case ANEWARRAY -> push(new Oracle.Arr("[L" + ((TypeInsnNode) at).desc + ";", integer(), null));
            case MULTIANEWARRAY -> {
                int inner = integer();
                Oracle.Arr outer = new Oracle.Arr("[[I", integer(), null);
                for (int i = 0; i < outer.elements.length; i++) {
                    outer.elements[i] = new Oracle.Val(new Oracle.Arr("[I", inner, 0));
                }
                push(outer);
            }
            case ARRAYLENGTH -> push(((Oracle.Arr) target(stack.pop())).elements.length);
            case IALOAD, AALOAD -> {
                int index = integer();
                Oracle.Val array = stack.pop();
                stack.push(array.read(((Oracle.Arr) target(array)).elements[index]));
            }
            case IASTORE, AASTORE -> {
                Oracle.Val value = stack.pop();
                int index = integer();
                Oracle.Val array = stack.pop();
                ((Oracle.Arr) target(array)).elements[index] = value;
                oracle.write(array);
            }
            case GETFIELD -> {
                FieldInsnNode field = (FieldInsnNode) at;
                Oracle.Val base = stack.pop();
                Oracle.Val held = target(base).fields.get(field.name);
                stack.push(base.read(held == null ? new Oracle.Val(Oracle.zero(field.desc)) : held));
            }
            case PUTFIELD -> {
                Oracle.Val value = stack.pop();
                Oracle.Val base = stack.pop();
                target(base).fields.put(((FieldInsnNode) at).name, value);
                oracle.write(base);
            }
            case GETSTATIC -> {
                FieldInsnNode field = (FieldInsnNode) at;
                oracle.initialize(field.owner);
                Oracle.Val held = oracle.statics.get(field.owner + "." + field.name);
                boolean own = oracle.classes.containsKey(field.owner);
                Object initial = own ? Oracle.zero(field.desc) : new Oracle.Obj(Type.getType(field.desc).getInternalName());
                stack.push(new Oracle.Val(null).read(held == null ? new Oracle.Val(initial) : held));
            }
            case PUTSTATIC -> {
                FieldInsnNode field = (FieldInsnNode) at;
                oracle.initialize(field.owner);
                oracle.statics.put(field.owner + "." + field.name, stack.pop());
            }
            case INVOKEVIRTUAL, INVOKESPECIAL, INVOKESTATIC, INVOKEINTERFACE -> invoke((MethodInsnNode) at);
            case INVOKEDYNAMIC -> dynamic((InvokeDynamicInsnNode) at);
            case CHECKCAST -> { }
            case INSTANCEOF -> {
                Object value = stack.pop().value();
                push(value instanceof Oracle.Obj object && oracle.isA(object.type, ((TypeInsnNode) at).desc) ? 1 : 0);
            }
            case ATHROW -> {
                Oracle.Val exception = stack.pop();
                target(exception);
                throw new Oracle.Thrown(exception);
            }
            default -> throw new IllegalStateException("opcode " + opcode + " in " + method.name);
        }
        return null;
    }

    private AbstractInsnNode jump(AbstractInsnNode at, int left, int right, int condition) {
        boolean taken = switch (condition) {
            case 0 -> left == right;
            case 1 -> left != right;
            case 2 -> left < right;
            case 3 -> left >= right;
            case 4 -> left > right;
            default -> left <= right;
        };
        return taken ? ((JumpInsnNode) at).label : null;
    }

    private List<Oracle.Val> arguments(String descriptor, boolean receiver) {
        List<Oracle.Val> args = new ArrayList<>();
        int count = Type.getArgumentTypes(descriptor).length + (receiver ? 1 : 0);
        for (int i = 0; i < count; i++) {
            args.add(0, stack.pop());
        }
        return args;
    }

    private void finish(String descriptor, Oracle.Val result) {
        if (Type.getReturnType(descriptor) != Type.VOID_TYPE) {
            stack.push(result);
        }
    }

    private void invoke(MethodInsnNode insn) {
        boolean isStatic = insn.getOpcode() == INVOKESTATIC;
        List<Oracle.Val> args = arguments(insn.desc, !isStatic);
        if (isStatic) {
            oracle.initialize(insn.owner);
        }
        Oracle.Val result = switch (insn.getOpcode()) {
            case INVOKESTATIC, INVOKESPECIAL -> oracle.call(insn.owner, insn.name, insn.desc, args);
            default -> oracle.dispatch(insn.owner, insn.name, insn.desc, args);
        };
        finish(insn.desc, result);
    }

    private void dynamic(InvokeDynamicInsnNode insn) {
        List<Oracle.Val> args = arguments(insn.desc, false);
        switch (insn.bsm.getOwner()) {
            case "java/lang/invoke/LambdaMetafactory" -> push(new Oracle.Lambda((Handle) insn.bsmArgs[1], args));
            // Concatenation, and a record's methods: nobody can change the text.
            case "java/lang/invoke/StringConcatFactory", "java/lang/runtime/ObjectMethods" ->
                    push(Type.getReturnType(insn.desc) == Type.INT_TYPE ? (Object) 0 : "text");
            default -> throw new IllegalStateException("dynamic call by " + insn.bsm.getOwner());
        }
    }
}
