import java.io.*;
import java.lang.classfile.*;
import java.lang.constant.ClassDesc;
import java.nio.file.*;
import java.util.*;

/**
 * Verifies instrumented classes with the verifier of {@code java.lang.classfile} (JDK 24 and
 * later). The argument is a file of records: name, original bytes, instrumented bytes, each with
 * its length before it; no instrumented bytes if there are none. Errors that the original has too
 * do not count.
 */
class Verify {
    public static void main(String[] args) throws IOException {
        Map<String, byte[]> originals = new HashMap<>();
        Map<String, byte[]> instrumented = new TreeMap<>();
        try (var in = new DataInputStream(new BufferedInputStream(
                Files.newInputStream(Path.of(args[0])), 1 << 16))) {
            while (true) {
                int length;
                try {
                    length = in.readInt();
                } catch (EOFException end) {
                    break;
                }
                String name = new String(in.readNBytes(length), "UTF-8");
                originals.put(name, in.readNBytes(in.readInt()));
                byte[] changed = in.readNBytes(in.readInt());
                if (changed.length > 0) {
                    instrumented.put(name, changed);
                }
            }
        }
        ClassHierarchyResolver hierarchy = ClassHierarchyResolver.ofResourceParsing(
                (ClassDesc type) -> {
                    String descriptor = type.descriptorString();
                    byte[] bytes = originals.get(descriptor.substring(1, descriptor.length() - 1));
                    return bytes == null ? null : new ByteArrayInputStream(bytes);
                })
            .orElse(ClassHierarchyResolver.defaultResolver()).cached();
        ClassFile verifier =
            ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
        int failed = 0;
        int before = 0;
        for (var entry : instrumented.entrySet()) {
            List<VerifyError> errors = verify(verifier, entry.getValue());
            if (errors.isEmpty()) {
                continue;
            }
            if (!verify(verifier, originals.get(entry.getKey())).isEmpty()) {
                before++;
                continue;
            }
            failed++;
            if (failed <= 20) {
                System.out.println("FAIL " + entry.getKey() + ": " + errors.get(0).getMessage());
            }
        }
        System.out.println("verified " + instrumented.size() + " failed " + failed
            + " failed-before " + before);
        System.exit(failed == 0 ? 0 : 1);
    }

    private static List<VerifyError> verify(ClassFile verifier, byte[] bytes) {
        try {
            return verifier.verify(bytes);
        } catch (RuntimeException e) {
            return List.of(new VerifyError(e.toString()));
        }
    }
}
