import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassHierarchyResolver.ClassHierarchyInfo;
import java.lang.constant.ClassDesc;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Verifies classes with the verifier of {@code java.lang.classfile}, and compares what it reads in
 * them with what the driver has read. That verifier reports every method that fails; it does not
 * look at class files of versions before 50, which have no stack maps.
 *
 * <p>Answers as {@link LoadAll}'s, and {@code differs CLASS REASON}.
 */
final class VerifyAll implements Batches.Harness {
    /** The first version with stack maps. */
    private static final int STACK_MAPS = 50;
    private static final Pattern METHOD = Pattern.compile("\\S+::[^(]+\\([^)]*\\)");
    private static final String OBJECT = "java/lang/Object";

    private final Index index;
    private final java.io.PrintStream answers = System.out;
    private final Map<String, ClassHierarchyInfo> jdk = new HashMap<>();
    private final ClassHierarchyResolver system = ClassHierarchyResolver.defaultResolver();
    private ClassFile verifier;
    /** Whether something had to be made up for the class at hand. */
    private boolean lenient;

    private VerifyAll(Index index) {
        this.index = index;
    }

    public static void main(String[] args) throws IOException {
        Batches.serve(new VerifyAll(new Index(Path.of(args[0]))));
    }

    @Override
    public void begin(Batches.Group group) {
        Map<String, ClassHierarchyInfo> known = new HashMap<>();
        Set<String> madeUp = new HashSet<>();
        verifier = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(type -> {
            String descriptor = type.descriptorString();
            String name = descriptor.substring(1, descriptor.length() - 1);
            ClassHierarchyInfo info = known.get(name);
            if (info == null) {
                info = resolve(group, type, name, madeUp);
                known.put(name, info);
            }
            lenient |= madeUp.contains(name);
            return info;
        }));
        int agreed = 0;
        for (Batches.Original original : group.classes) {
            if (!original.check) {
                continue;
            }
            try {
                if (Dump.hash(original.bytes) == original.dump) {
                    agreed++;
                } else {
                    answers.println("differs\t" + original.name + "\tanother reading");
                }
            } catch (RuntimeException e) {
                answers.println("differs\t" + original.name + "\t" + Batches.oneLine(e.toString()));
            }
        }
        answers.println("count\toriginal\tagreed\t" + agreed);
    }

    private ClassHierarchyInfo resolve(
            Batches.Group group, ClassDesc type, String name, Set<String> madeUp) {
        Batches.Original own = group.byName.get(name);
        if (own != null) {
            return info(own.bytes);
        }
        ClassHierarchyInfo info = jdk.computeIfAbsent(name, n -> system.getClassInfo(type));
        if (info != null) {
            return info;
        }
        byte[] bytes = index.find(name, group.jar);
        if (bytes != null) {
            return info(bytes);
        }
        madeUp.add(name);
        return switch (Stubs.kind(name, group.uses.get(name))) {
            case Stubs.THROWN -> ClassHierarchyInfo.ofClass(ClassDesc.ofInternalName("java/lang/RuntimeException"));
            case Stubs.SUPERCLASS -> ClassHierarchyInfo.ofClass(ClassDesc.ofInternalName(OBJECT));
            default -> ClassHierarchyInfo.ofInterface();
        };
    }

    private static ClassHierarchyInfo info(byte[] bytes) {
        Header header = Header.read(bytes);
        if (header.isInterface) {
            return ClassHierarchyInfo.ofInterface();
        }
        return ClassHierarchyInfo.ofClass(
            header.superName == null ? null : ClassDesc.ofInternalName(header.superName));
    }

    @Override
    public void plan(Batches.Group group, String plan, Map<String, byte[]> rewritten) {
        Map<String, Integer> counts = new HashMap<>();
        for (Batches.Original original : group.classes) {
            byte[] bytes = rewritten.get(original.name);
            if (original.check && bytes != null) {
                counts.merge(outcome(plan, original, bytes), 1, Integer::sum);
            }
        }
        counts.forEach((key, count) -> answers.println("count\t" + plan + "\t" + key + "\t" + count));
    }

    private String outcome(String plan, Batches.Original original, byte[] bytes) {
        int major = Header.read(bytes).major;
        if (major < STACK_MAPS) {
            return "too old";
        }
        lenient = false;
        if (major == STACK_MAPS) {
            // A class whose stack maps are wrong would be passed on to the old verifier, which this
            // one does not have: no errors. The next version has no such way out.
            List<String> before = errors(younger(original.bytes));
            if (!before.isEmpty()) {
                return "too old";
            }
            bytes = younger(bytes);
        }
        List<String> now = errors(bytes);
        boolean guessed = lenient;
        if (now.isEmpty()) {
            return guessed ? "verified leniently" : "verified";
        }
        Set<String> before = new HashSet<>();
        errors(original.bytes).forEach(error -> before.add(where(error)));
        for (String error : now) {
            if (!before.contains(where(error))) {
                answers.println("fail\t" + plan + "\t" + original.name + "\t" + error);
                return "failed";
            }
        }
        answers.println("before\t" + plan + "\t" + original.name + "\t" + now.get(0));
        return "before";
    }

    private static byte[] younger(byte[] bytes) {
        byte[] younger = bytes.clone();
        younger[7]++;
        return younger;
    }

    private List<String> errors(byte[] bytes) {
        try {
            return verifier.verify(bytes).stream()
                .map(error -> Batches.oneLine(error.getMessage())).toList();
        } catch (RuntimeException e) {
            return List.of(Batches.oneLine(e.toString()));
        }
    }

    /** The method that an error is about; the error itself if it does not tell. */
    private static String where(String error) {
        Matcher found = METHOD.matcher(error);
        return found.find() ? found.group() : error;
    }
}
