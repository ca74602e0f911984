import static java.lang.constant.ConstantDescs.*;

import java.io.IOException;
import java.lang.classfile.*;
import java.lang.classfile.attribute.*;
import java.lang.classfile.constantpool.*;
import java.lang.classfile.instruction.*;
import java.lang.classfile.instruction.DiscontinuedInstruction.*;
import java.lang.constant.*;
import java.nio.file.*;
import java.util.*;
import java.util.function.Consumer;

/**
 * Writes classes that are legal, but that no compiler makes: into the directory that is the first
 * argument. Their public methods are called by {@code Driver}; `run` is what is interesting.
 */
class Strange {
    static final ClassDesc ISE = ClassDesc.of("java.lang.IllegalStateException");
    static final int STATIC = ClassFile.ACC_STATIC;
    static final int JAVA_17 = 61;
    static Path dir;

    static MethodTypeDesc type(String descriptor) {
        return MethodTypeDesc.ofDescriptor(descriptor);
    }

    static void write(String name, int major, Consumer<ClassBuilder> content) throws IOException {
        write(name, major, content, ClassFile.of());
    }

    static void write(String name, int major, Consumer<ClassBuilder> content, ClassFile options)
            throws IOException {
        byte[] bytes = options.build(ClassDesc.of(name), b -> {
            b.withVersion(major, major == 45 ? 3 : 0);
            b.withSuperclass(CD_Object);
            b.withFlags(ClassFile.ACC_SUPER);
            content.accept(b);
        });
        Files.write(dir.resolve(name + ".class"), bytes);
    }

    static void run(ClassBuilder b, String descriptor, Consumer<CodeBuilder> code) {
        b.withMethodBody("run", type(descriptor), STATIC, code);
    }

    /** A public method that loads something, calls `run`, and returns what that returns, boxed. */
    static void call(ClassBuilder b, String name, String self, String descriptor,
            Consumer<CodeBuilder> load) {
        call(b, name, self, "run", descriptor, load);
    }

    static void call(ClassBuilder b, String name, String self, String method, String descriptor,
            Consumer<CodeBuilder> load) {
        b.withMethodBody(name, type("()Ljava/lang/Object;"), STATIC | ClassFile.ACC_PUBLIC, c -> {
            load.accept(c);
            c.invokestatic(ClassDesc.of(self), method, type(descriptor));
            switch (descriptor.charAt(descriptor.length() - 1)) {
                case 'I' -> c.invokestatic(CD_String, "valueOf", type("(I)Ljava/lang/String;"));
                case 'V' -> c.aconst_null();
                default -> { }
            }
            c.areturn();
        });
    }

    static void fail(CodeBuilder c, String message) {
        c.new_(ISE).dup().loadConstant(message)
            .invokespecial(ISE, INIT_NAME, type("(Ljava/lang/String;)V")).athrow();
    }

    static void nops(CodeBuilder c, int count) {
        for (int i = 0; i < count; i++) {
            c.nop();
        }
    }

    public static void main(String[] args) throws IOException {
        dir = Path.of(args[0]);
        subroutines();
        wide();
        switches();
        sizes();
        deltas();
        parameters();
        handlers();
        deadCode();
        uninitialized();
        constructors();
        newBefore();
        dynamic();
        names();
        versions();
        attributes();
    }

    /** The hazard "old class files with jsr/ret": left alone, and still verified and run. */
    static void subroutines() throws IOException {
        write("Subroutines", 49, b -> {
            for (Opcode jsr : List.of(Opcode.JSR, Opcode.JSR_W)) {
                String name = jsr == Opcode.JSR ? "near" : "far";
                b.withMethodBody(name, type("(I)I"), STATIC, c -> {
                    Label sub = c.newLabel();
                    c.with(JsrInstruction.of(jsr, sub));
                    c.with(JsrInstruction.of(jsr, sub));
                    c.bipush(100).iload(0).iconst_5().isub().idiv().ireturn();
                    c.labelBinding(sub).astore(1).iinc(0, 1);
                    c.with(RetInstruction.of(1));
                });
                call(b, name + "Returns", "Subroutines", name, "(I)I", c -> c.iconst_4());
                call(b, name + "Throws", "Subroutines", name, "(I)I", c -> c.iconst_3());
            }
            // Beside them, another method is instrumented.
            run(b, "(I)I", c -> c.iconst_1().iload(0).idiv().ireturn());
            call(b, "other", "Subroutines", "(I)I", c -> c.iconst_0());
            b.withMethodBody("wideRet", type("(I)I"), STATIC, c -> {
                Label sub = c.newLabel();
                c.with(JsrInstruction.of(sub)).iload(0).ireturn();
                c.labelBinding(sub).astore(300).iinc(0, 300);
                c.with(RetInstruction.of(Opcode.RET_W, 300));
            });
            call(b, "wideReturns", "Subroutines", "wideRet", "(I)I", c -> c.iconst_0());
        });
    }

    /** All wide forms, of variables that need them and of one that does not; goto_w. */
    static void wide() throws IOException {
        write("Wide", JAVA_17, b -> {
            run(b, "(IJFDLjava/lang/Object;)I", c -> {
                c.with(LoadInstruction.of(Opcode.ILOAD_W, 0)).istore(300);
                c.lload(1).lstore(301).fload(3).fstore(303).dload(4).dstore(304);
                c.aload(6).astore(306);
                Label far = c.newLabel();
                Label back = c.newBoundLabel();
                c.iinc(300, -1000);
                c.iload(300).ifne(far).aload(306).invokevirtual(CD_Object, "hashCode", type("()I"))
                    .ireturn();
                c.labelBinding(far).iload(300).sipush(-2000).if_icmpgt(back);
                c.iinc(0, 1);
                Label next = c.newLabel();
                c.goto_w(next);
                c.labelBinding(next).lload(301).l2i().fload(303).f2i().iadd().dload(304).d2i()
                    .iadd().ireturn();
            });
            call(b, "returns", "Wide", "(IJFDLjava/lang/Object;)I", c -> c.sipush(-5)
                .ldc(7L).fconst_2().loadConstant(3.5).aconst_null());
            call(b, "throwsNull", "Wide", "(IJFDLjava/lang/Object;)I", c -> c.sipush(1000)
                .ldc(7L).fconst_2().loadConstant(3.5).aconst_null());
        });
    }

    /** Switches of both kinds at all four alignments, moved by the entry code. */
    static void switches() throws IOException {
        write("Switches", JAVA_17, b -> {
            for (int padding = 0; padding < 4; padding++) {
                for (boolean table : List.of(true, false)) {
                    String name = (table ? "table" : "lookup") + padding;
                    int before = padding;
                    b.withMethodBody(name, type("(I)I"), STATIC, c -> {
                        nops(c, before);
                        c.iload(0);
                        Label one = c.newLabel();
                        Label two = c.newLabel();
                        Label other = c.newLabel();
                        var cases = List.of(SwitchCase.of(1, one), SwitchCase.of(2, two));
                        if (table) {
                            c.tableswitch(1, 2, other, cases);
                        } else {
                            c.lookupswitch(other, cases);
                        }
                        c.labelBinding(one).bipush(10).ireturn();
                        c.labelBinding(two).iinc(0, 5).iload(0).ireturn();
                        c.labelBinding(other).iinc(0, 1);
                        fail(c, name);
                    });
                    for (int value = 1; value <= 3; value++) {
                        int argument = value;
                        call(b, name + "of" + value, "Switches", name, "(I)I",
                            c -> c.loadConstant(argument));
                    }
                }
            }
        });
    }

    /** The hazard "beyond 65,535 bytes": the largest method, and one with some room. */
    static void sizes() throws IOException {
        for (int free : List.of(0, 40, 400)) {
            String name = "Size" + (65535 - free);
            write(name, JAVA_17, b -> {
                run(b, "(I)I", c -> {
                    c.iinc(0, 1);
                    nops(c, 65535 - free - 7);
                    c.iconst_1().iload(0).idiv().ireturn();
                });
                call(b, "call", name, "(I)I", c -> c.iconst_m1());
            });
        }
    }

    /** The hazard "SAME_FRAME past offset delta 63": what is inserted pushes frames past it. */
    static void deltas() throws IOException {
        ClassDesc arithmetic = ClassDesc.of("java.lang.ArithmeticException");
        write("Deltas", JAVA_17, b -> {
            for (int delta = 50; delta <= 64; delta++) {
                String name = "delta" + delta;
                int count = delta;
                b.withMethodBody(name, type("(I)I"), STATIC, c -> {
                    Label first = c.newLabel();
                    Label second = c.newLabel();
                    // The entry code stands before the first frame.
                    c.iinc(0, -1).iload(0).ifgt(first);
                    nops(c, count - 7);
                    c.labelBinding(first);
                    Label start = c.newBoundLabel();
                    c.iconst_1().iload(0).idiv().istore(0).goto_(second);
                    Label end = c.newBoundLabel();
                    // A probe stands between this frame and the next.
                    Label handler = c.newBoundLabel();
                    c.pop();
                    nops(c, count);
                    c.labelBinding(second).iconst_1().iload(0).idiv().ireturn();
                    c.exceptionCatch(start, end, handler, arithmetic);
                });
                call(b, name + "Throws", "Deltas", name, "(I)I", c -> c.iconst_1());
                call(b, name + "Returns", "Deltas", name, "(I)I", c -> c.iconst_2());
            }
        });
    }

    /** 255 parameters; a long at the very end of the variables; all 65,535 variables. */
    static void parameters() throws IOException {
        String many = "(" + "I".repeat(255) + ")I";
        String wide = "(" + "J".repeat(127) + "Ljava/lang/String;)I";
        write("Parameters", JAVA_17, b -> {
            b.withMethodBody("many", type(many), STATIC, c -> {
                c.iconst_1().istore(254).iload(0).iload(0).iload(254).isub().idiv().ireturn();
            });
            call(b, "callMany", "Parameters", "many", many, c -> {
                for (int i = 0; i < 255; i++) {
                    c.iconst_1();
                }
            });
            b.withMethodBody("wide", type(wide), STATIC, c -> {
                c.lconst_0().lstore(0).aload(254)
                    .invokevirtual(CD_String, "length", type("()I")).ireturn();
            });
            call(b, "callWide", "Parameters", "wide", wide, c -> {
                for (int i = 0; i < 127; i++) {
                    c.lconst_1();
                }
                c.aconst_null();
            });
            b.withMethodBody("atTheEnd", type("(DJ)J"), STATIC, c -> {
                Label loop = c.newBoundLabel();
                c.lload(2).lconst_1().lsub().lstore(2);
                c.lload(2).lconst_0().lcmp().ifgt(loop);
                c.lconst_1().lload(2).ldiv().lreturn();
            });
            b.withMethodBody("callAtTheEnd", type("()Ljava/lang/Object;"),
                STATIC | ClassFile.ACC_PUBLIC, c -> c.dconst_1().ldc(5L)
                    .invokestatic(ClassDesc.of("Parameters"), "atTheEnd", type("(DJ)J"))
                    .l2i().invokestatic(CD_String, "valueOf", type("(I)Ljava/lang/String;"))
                    .areturn());
            b.withMethodBody("all", type("(I)I"), STATIC, c -> {
                c.iconst_0().istore(65534).iinc(0, 1).iload(0).iload(65534).idiv().ireturn();
            });
            call(b, "callAll", "Parameters", "all", "(I)I", c -> c.iconst_1());
            b.withMethodBody("allInPlace", type("(I)I"), STATIC, c -> {
                c.iconst_0().istore(65534).iload(0).iload(65534).idiv().ireturn();
            });
            call(b, "callAllInPlace", "Parameters", "allInPlace", "(I)I", c -> c.iconst_1());
        });
    }

    /**
     * Handlers that cover themselves, start within others' ranges, overlap, or share a start. (None
     * can be at offset 0: the method begins there with an empty stack.)
     */
    static void handlers() throws IOException {
        write("Handlers", JAVA_17, b -> {
            b.withMethodBody("itself", type("(I)I"), STATIC, c -> {
                Label start = c.newBoundLabel();
                c.iconst_1().iload(0).idiv().ireturn();
                Label handler = c.newBoundLabel();
                Label end = c.newLabel();
                // At the second exception the handler catches its own.
                c.pop().iinc(0, 1).iconst_1().iload(0).idiv().ireturn();
                c.labelBinding(end);
                c.exceptionCatch(start, end, handler, ClassDesc.of("java.lang.ArithmeticException"));
            });
            call(b, "itselfReturns", "Handlers", "itself", "(I)I", c -> c.iconst_0());
            b.withMethodBody("overlapping", type("(II)I"), STATIC, c -> {
                Label first = c.newBoundLabel();
                c.iconst_1().iload(0).idiv().istore(0);
                Label second = c.newBoundLabel();
                c.iconst_1().iload(1).idiv().istore(1);
                Label firstEnd = c.newBoundLabel();
                c.iload(0).iload(1).iadd().ireturn();
                Label inner = c.newBoundLabel();
                c.pop().bipush(-7).ireturn();
                Label secondEnd = c.newBoundLabel();
                Label outer = c.newBoundLabel();
                c.pop();
                fail(c, "outer");
                Label end = c.newBoundLabel();
                c.exceptionCatch(first, firstEnd, inner,
                    ClassDesc.of("java.lang.ArithmeticException"));
                c.exceptionCatch(second, secondEnd, outer, CD_Throwable);
                c.exceptionCatchAll(inner, end, outer);
                c.exceptionCatch(first, firstEnd, inner,
                    ClassDesc.of("java.lang.ArithmeticException"));
            });
            call(b, "overlapping1", "Handlers", "overlapping", "(II)I",
                c -> c.iconst_0().iconst_0());
            call(b, "overlapping2", "Handlers", "overlapping", "(II)I",
                c -> c.iconst_1().iconst_0());
            call(b, "overlapping3", "Handlers", "overlapping", "(II)I",
                c -> c.iconst_1().iconst_1());
            // A range that ends at the end of the code, and a handler that is a loop's head.
            b.withMethodBody("loop", type("(I)I"), STATIC, c -> {
                Label start = c.newBoundLabel();
                c.iconst_3().iload(0).idiv().pop();
                fail(c, "loop");
                Label handler = c.newBoundLabel();
                c.pop().iinc(0, -1).iload(0).ifgt(start).iconst_1().iload(0).idiv().ireturn();
                Label end = c.newBoundLabel();
                c.exceptionCatch(start, handler, handler, ISE);
            });
            call(b, "loopThrows", "Handlers", "loop", "(I)I", c -> c.iconst_3());
        });
    }

    /** Code that is never reached: with a frame of its own, and in old versions without. */
    static void deadCode() throws IOException {
        var keep = ClassFile.of(ClassFile.DeadCodeOption.KEEP_DEAD_CODE,
            ClassFile.StackMapsOption.DROP_STACK_MAPS);
        for (int major : List.of(49, 50, JAVA_17)) {
            write("Dead" + major, major, b -> {
                run(b, "(I)I", c -> {
                    c.iinc(0, 1).iconst_1().iload(0).idiv().ireturn();
                    Label dead = c.newBoundLabel();
                    c.iload(0).ireturn();
                    if (major > 50) {
                        var int1 = StackMapFrameInfo.SimpleVerificationTypeInfo.INTEGER;
                        c.with(StackMapTableAttribute.of(List.of(
                            StackMapFrameInfo.of(dead, List.of(int1), List.of()))));
                    }
                });
                call(b, "call", "Dead" + major, "(I)I", c -> c.iconst_m1());
            }, keep);
        }
    }

    /** The hazard "Uninitialized(offset) frames": on the stack and in variables, across jumps. */
    static void uninitialized() throws IOException {
        write("Uninitialized", JAVA_17, b -> {
            MethodTypeDesc make = type("(Ljava/lang/String;)V");
            b.withMethodBody("onStack", type("(I)Ljava/lang/Object;"), STATIC, c -> {
                c.iinc(0, 1).new_(ISE).dup();
                Label other = c.newLabel();
                Label end = c.newLabel();
                c.iload(0).ifeq(other).ldc("a").goto_(end);
                c.labelBinding(other).ldc("b");
                c.labelBinding(end).invokespecial(ISE, INIT_NAME, make).athrow();
            });
            b.withMethodBody("inVariable", type("(I)Ljava/lang/Object;"), STATIC, c -> {
                c.new_(ISE).astore(1);
                Label start = c.newBoundLabel();
                c.iinc(0, -1).iload(0).ifgt(start);
                c.iconst_1().iload(0).idiv().pop();
                Label end = c.newBoundLabel();
                c.aload(1).dup().ldc("c").invokespecial(ISE, INIT_NAME, make).astore(2);
                c.aload(2).athrow();
                Label handler = c.newBoundLabel();
                // The object is still not initialized here.
                c.pop().aload(1).dup().astore(2).ldc("d").invokespecial(ISE, INIT_NAME, make)
                    .aload(2).athrow();
                c.exceptionCatch(start, end, handler,
                    ClassDesc.of("java.lang.ArithmeticException"));
            });
            for (String name : List.of("onStack", "inVariable")) {
                for (int value : List.of(-1, 1, 2)) {
                    call(b, name + (value + 1), "Uninitialized", name, "(I)Ljava/lang/Object;",
                        c -> c.loadConstant(value));
                }
            }
        });
    }

    /** The hazard "constructors": calls of super in two branches, and code before one. */
    static void constructors() throws IOException {
        ClassDesc base = ClassDesc.of("java.lang.RuntimeException");
        ClassDesc self = ClassDesc.of("Constructors");
        write("Constructors", JAVA_17, b -> {
            b.withSuperclass(base);
            b.withField("early", CD_int, 0);
            MethodTypeDesc make = type("(Ljava/lang/String;)V");
            // One call on each of two paths.
            b.withMethodBody(INIT_NAME, type("(I)V"), 0, c -> {
                Label other = c.newLabel();
                Label end = c.newLabel();
                c.iload(1).ifeq(other).aload(0).invokespecial(base, INIT_NAME, type("()V"));
                c.goto_(end);
                c.labelBinding(other).aload(0).ldc("x").invokespecial(base, INIT_NAME, make);
                c.labelBinding(end).iconst_1().iload(1).idiv().pop().return_();
            });
            // The same behind a switch, as Groovy's compiler makes it, and a path that throws
            // before any call.
            b.withMethodBody(INIT_NAME, type("(IIJ)V"), 0, c -> {
                Label one = c.newLabel();
                Label two = c.newLabel();
                Label none = c.newLabel();
                Label end = c.newLabel();
                c.aload(0).iload(1).tableswitch(1, 2, none,
                    List.of(SwitchCase.of(1, one), SwitchCase.of(2, two)));
                c.labelBinding(one).invokespecial(base, INIT_NAME, type("()V")).goto_(end);
                c.labelBinding(two).ldc("y").invokespecial(base, INIT_NAME, make).goto_(end);
                c.labelBinding(none);
                fail(c, "no such constructor");
                c.labelBinding(end).iconst_1().iload(2).idiv().pop().return_();
            });
            // Two calls, with an object of the superclass that either might construct: left alone.
            b.withMethodBody(INIT_NAME, type("(J)V"), 0, c -> {
                Label other = c.newLabel();
                Label end = c.newLabel();
                c.new_(base).dup().invokespecial(base, INIT_NAME, type("()V")).pop();
                c.lload(1).lconst_0().lcmp().ifeq(other);
                c.aload(0).invokespecial(base, INIT_NAME, type("()V")).goto_(end);
                c.labelBinding(other).aload(0).ldc("z").invokespecial(base, INIT_NAME, make);
                c.labelBinding(end).iconst_1().lload(1).l2i().idiv().pop().return_();
            });
            // A field is set and a loop run before the call; what throws is before it.
            b.withMethodBody(INIT_NAME, type("(II)V"), 0, c -> {
                c.aload(0).iload(1).putfield(self, "early", CD_int);
                Label loop = c.newBoundLabel();
                c.iinc(1, -1).iload(1).ifgt(loop);
                c.iload(2).iload(1).idiv().pop();
                c.aload(0).invokespecial(base, INIT_NAME, type("()V"));
                c.iload(1).iload(2).idiv().pop().return_();
            });
            for (int value = 0; value < 2; value++) {
                int argument = value;
                b.withMethodBody("branch" + value, type("()Ljava/lang/Object;"),
                    STATIC | ClassFile.ACC_PUBLIC, c -> c.new_(self).dup().loadConstant(argument)
                        .invokespecial(self, INIT_NAME, type("(I)V")).aconst_null().nop()
                        .areturn());
                b.withMethodBody("rival" + value, type("()Ljava/lang/Object;"),
                    STATIC | ClassFile.ACC_PUBLIC, c -> c.new_(self).dup()
                        .loadConstant((long) argument)
                        .invokespecial(self, INIT_NAME, type("(J)V")).pop().aconst_null()
                        .areturn());
                for (int path = 0; path <= 2; path++) {
                    int taken = path;
                    b.withMethodBody("path" + path + "with" + value, type("()Ljava/lang/Object;"),
                        STATIC | ClassFile.ACC_PUBLIC, c -> c.new_(self).dup().loadConstant(taken)
                            .loadConstant(argument).lconst_0()
                            .invokespecial(self, INIT_NAME, type("(IIJ)V")).pop().aconst_null()
                            .areturn());
                }
                b.withMethodBody("early" + value, type("()Ljava/lang/Object;"),
                    STATIC | ClassFile.ACC_PUBLIC, c -> c.new_(self).dup()
                        .loadConstant(2 * argument - 1).loadConstant(0)
                        .invokespecial(self, INIT_NAME, type("(II)V")).pop().aconst_null()
                        .areturn());
            }
        });
    }

    /**
     * Objects of the own class and its superclass are made around the call of the other constructor:
     * it is not the one that is left when each `new` has taken the next call.
     */
    static void newBefore() throws IOException {
        String name = "NewBefore";
        ClassDesc self = ClassDesc.of(name);
        MethodTypeDesc empty = type("()V");
        write(name, JAVA_17, b -> {
            // On the stack, over it; what is thrown then is behind the call.
            b.withMethodBody(INIT_NAME, empty, 0, c -> {
                c.new_(CD_Object).dup().aload(0).invokespecial(CD_Object, INIT_NAME, empty);
                c.invokespecial(CD_Object, INIT_NAME, empty).pop().return_();
            });
            b.withMethodBody(INIT_NAME, type("(I)V"), 0, c -> {
                c.new_(CD_Object).dup().aload(0).invokespecial(CD_Object, INIT_NAME, empty);
                c.invokespecial(CD_Object, INIT_NAME, empty).pop();
                c.iconst_1().iload(1).idiv().pop().return_();
            });
            // In a variable.
            b.withMethodBody(INIT_NAME, type("(II)V"), 0, c -> {
                c.new_(CD_Object).astore(3);
                c.aload(0).invokespecial(CD_Object, INIT_NAME, empty);
                c.aload(3).invokespecial(CD_Object, INIT_NAME, empty);
                c.iconst_1().iload(2).idiv().pop().return_();
            });
            // Of the own class, as javac orders them and not.
            b.withMethodBody(INIT_NAME, type("(III)V"), 0, c -> {
                c.new_(self).dup().iload(1).invokespecial(self, INIT_NAME, type("(I)V")).pop();
                c.aload(0).iload(2).invokespecial(self, INIT_NAME, type("(I)V"));
                c.iconst_1().iload(3).idiv().pop().return_();
            });
            b.withMethodBody(INIT_NAME, type("(IIII)V"), 0, c -> {
                c.new_(self).dup().iload(1).aload(0).iload(2);
                c.invokespecial(self, INIT_NAME, type("(I)V"));
                c.invokespecial(self, INIT_NAME, type("(I)V")).pop();
                c.iconst_1().iload(4).idiv().pop().return_();
            });
            String descriptor = "(";
            for (int ints = 0; ints <= 4; ints++) {
                MethodTypeDesc make = type(descriptor + ")V");
                int last = ints;
                for (int failing = 0; failing <= ints; failing++) {
                    int zero = failing;
                    b.withMethodBody("make" + ints + "with" + failing, type("()Ljava/lang/Object;"),
                        STATIC | ClassFile.ACC_PUBLIC, c -> {
                            c.new_(self).dup();
                            for (int at = 1; at <= last; at++) {
                                c.loadConstant(at == zero ? 0 : at);
                            }
                            c.invokespecial(self, INIT_NAME, make).pop().aconst_null().areturn();
                        });
                }
                descriptor += "I";
            }
        });
    }

    /** Dynamic constants, one as another's bootstrap argument, and in a call's. */
    static void dynamic() throws IOException {
        ClassDesc self = ClassDesc.of("Dynamic");
        String lookup = "Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;";
        DirectMethodHandleDesc constant = MethodHandleDesc.ofMethod(
            DirectMethodHandleDesc.Kind.STATIC, self, "constant",
            type("(" + lookup + "Ljava/lang/Class;[Ljava/lang/Object;)Ljava/lang/Object;"));
        DirectMethodHandleDesc site = MethodHandleDesc.ofMethod(
            DirectMethodHandleDesc.Kind.STATIC, self, "site",
            type("(" + lookup + "Ljava/lang/invoke/MethodType;Ljava/lang/Object;)"
                + "Ljava/lang/invoke/CallSite;"));
        var inner = DynamicConstantDesc.ofNamed(constant, "inner", CD_Object);
        var outer = DynamicConstantDesc.ofNamed(constant, "outer", CD_Object, inner, 5);
        write("Dynamic", JAVA_17, b -> {
            b.withMethodBody("constant", constant.invocationType(), STATIC | ClassFile.ACC_VARARGS, c -> {
                c.aload(1).astore(3).aload(1).aload(1)
                    .invokevirtual(CD_String, "concat", type("(Ljava/lang/String;)Ljava/lang/String;"))
                    .areturn();
            });
            b.withMethodBody("site", site.invocationType(), STATIC, c -> {
                ClassDesc constantSite = ClassDesc.of("java.lang.invoke.ConstantCallSite");
                c.new_(constantSite).dup().ldc(CD_Object).aload(3)
                    .invokestatic(CD_MethodHandles, "constant",
                        type("(Ljava/lang/Class;Ljava/lang/Object;)Ljava/lang/invoke/MethodHandle;"))
                    .invokespecial(constantSite, INIT_NAME,
                        type("(Ljava/lang/invoke/MethodHandle;)V")).areturn();
            });
            run(b, "(I)Ljava/lang/Object;", c -> {
                c.iinc(0, -1).ldc(outer).pop();
                c.invokedynamic(DynamicCallSiteDesc.of(site, "call",
                    type("()Ljava/lang/Object;"), outer));
                c.iconst_1().iload(0).idiv().pop().areturn();
            });
            call(b, "returns", "Dynamic", "(I)Ljava/lang/Object;", c -> c.iconst_2());
            call(b, "throwsLate", "Dynamic", "(I)Ljava/lang/Object;", c -> c.iconst_1());
        });
    }

    /** Names that the format allows (JVMS 4.2.2), a lone surrogate and lone punctuation among them. */
    static void names() throws IOException {
        String self = "a b-c(){}";
        write(self, JAVA_17, b -> {
            b.withField("<f>", CD_int, STATIC);
            for (String name : List.of("a b", "(", ")", "-", "1", "if", "\ud835\udcb3", "\ud800",
                    "\0", "clinit", "$", "'\"\\", "Escape Caught")) {
                b.withMethodBody(name, type("(I)I"), STATIC, c -> {
                    c.iinc(0, -1).iload(0).putstatic(ClassDesc.of(self), "<f>", CD_int);
                    c.ldc("\udc00 alone \0").pop();
                    c.iconst_1().iload(0).idiv().ireturn();
                });
                call(b, "call" + (int) name.charAt(0), self, name, "(I)I", c -> c.iconst_1());
            }
        });
    }

    /** Every version of the format: the same class, with a jump and a handler. */
    static void versions() throws IOException {
        for (int major = 45; major <= 69; major++) {
            String self = "Version" + major;
            write(self, major, b -> {
                run(b, "(I)I", c -> {
                    Label start = c.newBoundLabel();
                    Label zero = c.newLabel();
                    c.iinc(0, -1).iload(0).ifeq(zero).iconst_1().iload(0).iconst_2().isub()
                        .idiv().ireturn();
                    c.labelBinding(zero);
                    fail(c, "zero");
                    Label handler = c.newBoundLabel();
                    c.pop().iload(0).ireturn();
                    c.exceptionCatch(start, handler, handler,
                        ClassDesc.of("java.lang.ArithmeticException"));
                });
                call(b, "caught", self, "(I)I", c -> c.iconst_3());
                call(b, "thrown", self, "(I)I", c -> c.iconst_1());
            });
        }
    }

    /** An attribute as plain bytes. */
    static class Raw extends CustomAttribute<Raw> {
        final byte[] content;

        Raw(String name, int... content) {
            super(mapper(name));
            this.content = new byte[content.length];
            for (int i = 0; i < content.length; i++) {
                this.content[i] = (byte) content[i];
            }
        }

        static AttributeMapper<Raw> mapper(String name) {
            return new AttributeMapper<>() {
                public String name() { return name; }
                public Raw readAttribute(AttributedElement e, ClassReader r, int at) {
                    throw new UnsupportedOperationException();
                }
                public void writeAttribute(BufWriter out, Raw attribute) {
                    out.writeIndex(out.constantPool().utf8Entry(name));
                    out.writeInt(attribute.content.length);
                    out.writeBytes(attribute.content);
                }
                public boolean allowMultiple() { return true; }
                public AttributeStability stability() { return AttributeStability.STATELESS; }
            };
        }

        static Raw unknown() {
            return new Raw("dev.hindsight.Unknown", 1, 0xff, 0xff);
        }
    }

    /** Attributes that nobody knows, wherever they can be, and several tables of lines. */
    static void attributes() throws IOException {
        write("Attributes", JAVA_17, b -> {
            b.with(Raw.unknown()).with(Raw.unknown());
            b.withField("field", CD_int, f -> f.withFlags(STATIC).with(Raw.unknown()));
            b.withMethod("run", type("(I)I"), STATIC, m -> m.with(Raw.unknown()).withCode(c -> {
                Label start = c.newBoundLabel();
                c.iinc(0, -1);
                Label middle = c.newBoundLabel();
                c.iconst_1().iload(0).idiv().ireturn();
                Label end = c.newBoundLabel();
                // Two tables of lines, one of them not in order.
                c.with(Raw.unknown());
                c.with(new Raw("LineNumberTable", 0, 2, 0, 3, 0, 20, 0, 0, 0, 10));
                c.with(new Raw("LineNumberTable", 0, 1, 0, 5, 0, 30));
                c.localVariable(0, "first", CD_int, start, middle);
                c.localVariable(0, "second", CD_int, middle, end);
            }));
            call(b, "call", "Attributes", "(I)I", c -> c.iconst_1());
        });
    }
}
