import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.stream.Stream;

/** Prints the compiler's verdicts and the hashes of class files. */
public class Driver {
    private static final String GOOD = """
            package demo
            sealed trait Expr; case class Num(n: Int) extends Expr; case class Add(a: Expr, b: Expr) extends Expr; case class Mul(a: Expr, b: Expr) extends Expr
            trait Show[A] { def show(a: A): String }
            object Show { implicit val int: Show[Int] = _.toString; implicit def list[A](implicit s: Show[A]): Show[List[A]] = _.map(s.show).mkString("[", ",", "]") }
            class Stack[@specialized(Int) A] { private var all = List.empty[A]; def push(a: A): this.type = { all ::= a; this }; def pop(): Option[A] = all match { case h :: t => all = t; Some(h); case Nil => None } }
            object Main {
              def eval(e: Expr): Int = e match { case Num(n) => n; case Add(Num(0), b) => eval(b); case Add(a, b) => eval(a) + eval(b); case Mul(a, b) if eval(a) == 0 => 0; case Mul(a, b) => eval(a) * eval(b) }
              def show[A: Show](a: A) = implicitly[Show[A]].show(a)
              lazy val fibs: LazyList[BigInt] = BigInt(0) #:: fibs.scanLeft(BigInt(1))(_ + _)
              def main(args: Array[String]): Unit = {
                val xs = for { x <- 1 to 5; y <- x to 5 if (x + y) % 2 == 0 } yield (x, y)
                try println(show(List(1, 2)) + eval(Add(Num(1), Mul(Num(2), Num(3)))) + xs + fibs.take(5).toList) catch { case e: ArithmeticException => throw e } finally println("end")
              }
            }
            """;
    private static final String BAD = """
            package demo
            object Bad { val x: Int = "text"; def f(n: Nowhere) = n.y; def g[A](a: A)(implicit s: Ordering[A]) = a; g(new Object) }
            """;

    public static void main(String[] args) throws Exception {
        Path work = Path.of(args[0]);
        for (String text : new String[] {GOOD, BAD}) {
            Path file = work.resolve(text == GOOD ? "Good.scala" : "Bad.scala");
            Path out = work.resolve("out");
            Files.createDirectories(out);
            Files.writeString(file, text);
            java.io.PrintStream stdout = System.out;
            java.io.ByteArrayOutputStream messages = new java.io.ByteArrayOutputStream();
            boolean done = scala.Console.withOut(messages, () -> scala.Console.withErr(messages, () -> scala.tools.nsc.Main.process(new String[] {
                "-usejavacp", "-Ybackend-parallelism", "1", "-d", out.toString(), file.toString()
            })));
            stdout.println(done);
            stdout.println(messages.toString().replace(work.toString(), "."));
            try (Stream<Path> files = Files.walk(out)) {
                for (Path one : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
                    byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(one));
                    stdout.println(out.relativize(one) + " " + HexFormat.of().formatHex(digest));
                }
            }
        }
    }
}
