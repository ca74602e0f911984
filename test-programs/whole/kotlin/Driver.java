import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

/** Prints messages and the hashes of class files. */
public class Driver {
    private static final String GOOD = """
            package demo
            sealed class Shape { data class Box(val w: Int, val h: Int) : Shape(); data class Disc(val r: Double) : Shape(); object Dot : Shape() }
            fun area(s: Shape): Double = when (s) { is Shape.Box -> (s.w * s.h).toDouble(); is Shape.Disc -> 3.14 * s.r * s.r; Shape.Dot -> 0.0 }
            inline fun <reified T> pick(all: List<Any>): List<T> = all.filterIsInstance<T>()
            fun primes() = sequence { var n = 2; while (true) { if ((2 until n).none { n % it == 0 }) yield(n); n++ } }
            suspend fun later(x: Int, f: suspend (Int) -> Int): Int { val a = f(x); val b = f(a + 1); return a + b }
            class Counter(private var n: Int = 0) { val next: Int by lazy { n + 1 }; operator fun plusAssign(o: Int) { n += o }; companion object { @JvmStatic fun of(n: Int) = Counter(n) } }
            enum class Op(val f: (Int, Int) -> Int) { ADD({ a, b -> a + b }), MUL({ a, b -> a * b }) }
            fun main() { println(pick<String>(listOf(1, "a", 2.0, "b")) + primes().take(5).map { "$it" } + area(Shape.Box(2, 3))) ; try { Op.ADD.f(1, 2) } finally { println("end") } }
            """;
    private static final String BAD = """
            package demo
            fun broken(x: Int?): Int = x + 1
            val missing: Nowhere = when (3) { 1 -> "one" }
            class Twice : Twice()
            """;

    public static void main(String[] args) throws Exception {
        Path work = Path.of(args[0]);
        for (String text : new String[] {GOOD, BAD}) {
            Path file = work.resolve(text == GOOD ? "Good.kt" : "Bad.kt");
            Path out = work.resolve("out");
            Files.writeString(file, text);
            String library = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(path -> path.contains("kotlin-stdlib")).findFirst().orElseThrow();
            ByteArrayOutputStream messages = new ByteArrayOutputStream();
            System.out.println(new K2JVMCompiler().exec(new PrintStream(messages), "-no-stdlib", "-no-reflect", "-jvm-target", "17",
                    "-classpath", library, "-d", out.toString(), file.toString()));
            System.out.println(messages.toString().replace(work.toString(), "."));
            try (Stream<Path> files = Files.walk(out)) {
                for (Path one : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
                    byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(one));
                    System.out.println(out.relativize(one) + " " + HexFormat.of().formatHex(digest));
                }
            }
        }
    }
}
