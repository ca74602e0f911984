import java.lang.classfile.Attribute;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.InnerClassesAttribute;
import java.lang.classfile.attribute.LineNumberTableAttribute;
import java.lang.classfile.attribute.LocalVariableTableAttribute;
import java.lang.classfile.attribute.LocalVariableTypeTableAttribute;
import java.lang.classfile.attribute.MethodParametersAttribute;
import java.lang.classfile.attribute.StackMapFrameInfo;
import java.lang.classfile.attribute.StackMapTableAttribute;
import java.lang.classfile.constantpool.*;
import java.lang.classfile.instruction.*;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Everything that can be read in a class file, in one order, as a hash or as text. The driver has
 * the same in {@code src/bin/survive/dump.rs}; here {@code java.lang.classfile} does the reading.
 */
final class Dump {
    private long hash;
    private final StringBuilder text;

    private Dump(StringBuilder text) {
        this.text = text;
    }

    /** Prints the dump of a class file. */
    public static void main(String[] args) throws IOException {
        StringBuilder text = new StringBuilder();
        new Dump(text).dump(ClassFile.of().parse(Files.readAllBytes(Path.of(args[0]))));
        System.out.println(text);
    }

    static long hash(byte[] bytes) {
        Dump dump = new Dump(null);
        dump.dump(ClassFile.of().parse(bytes));
        return dump.hash;
    }

    private Dump tag(char tag) {
        if (text != null) {
            text.append('\n').append(tag);
        }
        mix(tag);
        return this;
    }

    private Dump num(long value) {
        if (text != null) {
            text.append(' ').append(value);
        }
        mix(value);
        return this;
    }

    private Dump str(String value) {
        if (text != null) {
            text.append(' ').append(value.replace("\n", "\\n"));
        }
        long folded = 0xcbf29ce484222325L;
        for (int at = 0; at < value.length(); at++) {
            folded = (folded ^ value.charAt(at)) * 0x100000001b3L;
        }
        mix(folded);
        return this;
    }

    private void mix(long value) {
        hash = (Long.rotateLeft(hash, 5) ^ value) * 0x9e3779b97f4a7c15L;
    }

    private void dump(ClassModel model) {
        tag('C').num(model.minorVersion()).num(model.majorVersion()).num(model.flags().flagsMask());
        str(model.thisClass().asInternalName());
        str(model.superclass().map(ClassEntry::asInternalName).orElse(""));
        model.interfaces().forEach(name -> tag('I').str(name.asInternalName()));
        for (PoolEntry entry : model.constantPool()) {
            constant(entry);
        }
        for (FieldModel field : model.fields()) {
            tag('F').num(field.flags().flagsMask());
            str(field.fieldName().stringValue()).str(field.fieldType().stringValue());
            attributes(field);
        }
        for (MethodModel method : model.methods()) {
            tag('M').num(method.flags().flagsMask());
            str(method.methodName().stringValue()).str(method.methodType().stringValue());
            attributes(method);
        }
        attributes(model);
    }

    private void constant(PoolEntry entry) {
        tag('P').num(entry.index()).num(entry.tag());
        switch (entry) {
            case Utf8Entry utf8 -> str(utf8.stringValue());
            case IntegerEntry number -> num(number.intValue());
            case FloatEntry number -> num(Float.floatToRawIntBits(number.floatValue()));
            case LongEntry number -> num(number.longValue());
            case DoubleEntry number -> num(Double.doubleToRawLongBits(number.doubleValue()));
            case ClassEntry type -> str(type.asInternalName());
            case StringEntry string -> str(string.stringValue());
            case MemberRefEntry member -> {
                str(member.owner().asInternalName());
                str(member.name().stringValue()).str(member.type().stringValue());
            }
            case NameAndTypeEntry pair -> str(pair.name().stringValue()).str(pair.type().stringValue());
            case MethodHandleEntry handle -> num(handle.kind()).num(handle.reference().index());
            case MethodTypeEntry type -> str(type.descriptor().stringValue());
            case DynamicConstantPoolEntry dynamic -> {
                num(dynamic.bootstrap().bsmIndex());
                str(dynamic.name().stringValue()).str(dynamic.type().stringValue());
            }
            case ModuleEntry module -> str(module.name().stringValue());
            case PackageEntry name -> str(name.name().stringValue());
            default -> throw new IllegalStateException(entry.toString());
        }
    }

    private void attributes(AttributedElement element) {
        for (Attribute<?> attribute : element.attributes()) {
            tag('A').str(attribute.attributeName().stringValue());
            switch (attribute) {
                case CodeAttribute code -> code(code);
                case MethodParametersAttribute names -> names.parameters().forEach(parameter ->
                    tag('p').num(index(parameter.name().orElse(null))).num(parameter.flagsMask()));
                case InnerClassesAttribute inner -> inner.classes().forEach(entry -> {
                    tag('i').num(entry.innerClass().index()).num(index(entry.outerClass().orElse(null)));
                    num(index(entry.innerName().orElse(null))).num(entry.flagsMask());
                });
                default -> {}
            }
        }
    }

    private static int index(PoolEntry entry) {
        return entry == null ? 0 : entry.index();
    }

    private void code(CodeAttribute code) {
        tag('K').num(code.maxStack()).num(code.maxLocals()).num(code.codeLength());
        for (ExceptionCatch entry : code.exceptionHandlers()) {
            tag('H').num(code.labelToBci(entry.tryStart())).num(code.labelToBci(entry.tryEnd()));
            num(code.labelToBci(entry.handler())).num(index(entry.catchType().orElse(null)));
        }
        int bci = 0;
        for (var element : code) {
            if (element instanceof Instruction instruction) {
                instruction(code, instruction, bci);
                bci += instruction.sizeInBytes();
            }
        }
        for (Attribute<?> attribute : code.attributes()) {
            tag('A').str(attribute.attributeName().stringValue());
            switch (attribute) {
                case StackMapTableAttribute table -> table.entries().forEach(frame -> frame(code, frame));
                case LineNumberTableAttribute table -> table.lineNumbers().forEach(
                    line -> tag('L').num(line.startPc()).num(line.lineNumber()));
                case LocalVariableTableAttribute table -> table.localVariables().forEach(
                    variable -> tag('V').num(variable.startPc()).num(variable.length())
                        .num(variable.name().index()).num(variable.type().index()).num(variable.slot()));
                case LocalVariableTypeTableAttribute table -> table.localVariableTypes().forEach(
                    variable -> tag('V').num(variable.startPc()).num(variable.length())
                        .num(variable.name().index()).num(variable.signature().index()).num(variable.slot()));
                default -> {}
            }
        }
    }

    private void instruction(CodeAttribute code, Instruction instruction, int bci) {
        tag('N').num(bci).num(instruction.opcode().bytecode() & 0xff);
        switch (instruction) {
            case LoadInstruction load -> num(load.slot());
            case StoreInstruction store -> num(store.slot());
            case IncrementInstruction increment -> num(increment.slot()).num(increment.constant());
            case DiscontinuedInstruction.RetInstruction ret -> num(ret.slot());
            case BranchInstruction branch -> num(code.labelToBci(branch.target()));
            case DiscontinuedInstruction.JsrInstruction jsr -> num(code.labelToBci(jsr.target()));
            case TableSwitchInstruction table -> {
                num(code.labelToBci(table.defaultTarget())).num(table.lowValue()).num(table.highValue());
                cases(code, table.cases());
            }
            case LookupSwitchInstruction lookup -> {
                num(code.labelToBci(lookup.defaultTarget()));
                cases(code, lookup.cases());
            }
            case FieldInstruction field -> num(field.field().index());
            case InvokeInstruction invoke -> num(invoke.method().index());
            case InvokeDynamicInstruction invoke -> num(invoke.invokedynamic().index());
            case NewObjectInstruction made -> num(made.className().index());
            case NewReferenceArrayInstruction made -> num(made.componentType().index());
            case NewPrimitiveArrayInstruction made -> num(made.typeKind().newarrayCode());
            case NewMultiArrayInstruction made -> num(made.arrayType().index()).num(made.dimensions());
            case TypeCheckInstruction check -> num(check.type().index());
            case ConstantInstruction.ArgumentConstantInstruction constant -> num(constant.constantValue());
            case ConstantInstruction.LoadConstantInstruction constant -> num(constant.constantEntry().index());
            default -> {}
        }
    }

    private void cases(CodeAttribute code, List<SwitchCase> cases) {
        for (SwitchCase one : cases) {
            num(one.caseValue()).num(code.labelToBci(one.target()));
        }
    }

    private void frame(CodeAttribute code, StackMapFrameInfo frame) {
        tag('S').num(code.labelToBci(frame.target()));
        for (var types : List.of(frame.locals(), frame.stack())) {
            num(types.size());
            for (var type : types) {
                num(type.tag());
                switch (type) {
                    case StackMapFrameInfo.ObjectVerificationTypeInfo object ->
                        str(object.className().asInternalName());
                    case StackMapFrameInfo.UninitializedVerificationTypeInfo made ->
                        num(code.labelToBci(made.newTarget()));
                    default -> {}
                }
            }
        }
    }
}
