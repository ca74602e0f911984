import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** Compiles a source tree with ecj or javac; prints the hash of every class file, and all messages. */
public class Driver {
    public static void main(String[] args) throws Exception {
        Path sources = Path.of(args[1]);
        Path out = Path.of(args[2]);
        List<String> arguments = new ArrayList<>(List.of(
                "-proc:none", "-nowarn", "-encoding", "UTF-8", "-g", "--release", "17", "-d", out.toString()));
        try (Stream<Path> files = Files.walk(sources)) {
            files.map(Path::toString).filter(name -> name.endsWith(".java")).sorted().forEach(arguments::add);
        }
        StringWriter messages = new StringWriter();
        System.out.println(compile(args[0], arguments.toArray(new String[0]), new PrintWriter(messages)));
        System.out.println(messages.toString().replace(out.getParent().toString(), "."));
        MessageDigest all = MessageDigest.getInstance("SHA-256");
        long count = 0;
        try (Stream<Path> files = Files.walk(out)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
                all.update(digest);
                if (count++ % 50 == 0) {
                    System.out.println(out.relativize(file) + " " + HexFormat.of().formatHex(digest, 0, 8));
                }
            }
        }
        System.out.println(count + " class files " + HexFormat.of().formatHex(all.digest()));
    }

    private static boolean compile(String compiler, String[] arguments, PrintWriter messages) throws Exception {
        if (compiler.equals("javac")) {
            Class<?> main = Class.forName("com.sun.tools.javac.Main");
            return (int) main.getMethod("compile", String[].class, PrintWriter.class)
                    .invoke(null, arguments, messages) == 0;
        }
        Class<?> batch = Class.forName("org.eclipse.jdt.core.compiler.batch.BatchCompiler");
        Class<?> progress = Class.forName("org.eclipse.jdt.core.compiler.CompilationProgress");
        return (boolean) batch.getMethod("compile", String[].class, PrintWriter.class, PrintWriter.class, progress)
                .invoke(null, arguments, messages, messages, null);
    }
}
