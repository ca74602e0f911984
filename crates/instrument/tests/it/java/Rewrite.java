import java.io.IOException;
import java.lang.classfile.*;
import java.lang.constant.ClassDesc;
import java.nio.file.*;
import java.util.List;

/**
 * Another agent: rewrites all classes in a directory, with a {@code nop} before each instruction and
 * stack maps of its own making. The second argument is where the probe is.
 */
class Rewrite {
    public static void main(String[] args) throws IOException {
        Path dir = Path.of(args[0]);
        ClassHierarchyResolver hierarchy = ClassHierarchyResolver.ofResourceParsing(
                (ClassDesc type) -> {
                    String descriptor = type.descriptorString();
                    String name = descriptor.substring(1, descriptor.length() - 1);
                    for (String root : args) {
                        try {
                            return Files.newInputStream(Path.of(root, name + ".class"));
                        } catch (IOException e) {
                            // Not in this one.
                        }
                    }
                    return null;
                })
            .orElse(ClassHierarchyResolver.defaultResolver()).cached();
        ClassFile rewriter = ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(hierarchy),
            ClassFile.StackMapsOption.GENERATE_STACK_MAPS);
        ClassTransform transform = ClassTransform.transformingMethodBodies((code, element) -> {
            if (element instanceof Instruction) {
                code.nop();
            }
            code.with(element);
        });
        List<Path> files;
        try (var all = Files.list(dir)) {
            files = all.filter(file -> file.toString().endsWith(".class")).toList();
        }
        for (Path file : files) {
            Files.write(file, rewriter.transformClass(rewriter.parse(file), transform));
        }
    }
}
