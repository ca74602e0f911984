import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

// A path is a name: what changes is the file, and streams that are read or written.
class Placed {
    static boolean exists(Path p) { return Files.exists(p); } // expect p: immutable
    static List<String> lines(Path p) throws IOException { return Files.readAllLines(p); } // expect p: immutable
    static List<String> sorted(Path p) throws IOException { return Files.lines(p).sorted().collect(Collectors.toList()); } // expect p: immutable
    static void write(Path p, byte[] bytes, OpenOption o) throws IOException { Files.write(p, bytes, o); } // expect p: immutable, bytes: immutable, o: immutable
    static void writeLines(Path p, List<String> lines) throws IOException { Files.write(p, lines); } // expect p: immutable, lines: immutable
    static void writeString(Path p) throws IOException { Files.writeString(p, "x"); } // expect p: immutable
    static void delete(Path p) throws IOException { Files.delete(p); } // expect p: immutable
    static Path made(Path p) throws IOException { return Files.createDirectories(p.resolve("d")); } // expect p: immutable
    static void copy(Path p, Path q) throws IOException { Files.copy(p, q); } // expect p: immutable, q: immutable
    static void copyFrom(InputStream in, Path q) throws IOException { Files.copy(in, q); } // expect in: mutable, q: immutable
    static void copyTo(Path p, OutputStream out) throws IOException { Files.copy(p, out); } // expect p: immutable, out: mutable
    static byte[] copied(Path p) throws IOException { ByteArrayOutputStream out = new ByteArrayOutputStream(); Files.copy(p, out); return out.toByteArray(); } // expect p: immutable
    static void opened(Path p) throws IOException { try (OutputStream out = Files.newOutputStream(p)) { out.write(1); } } // expect p: immutable
}
