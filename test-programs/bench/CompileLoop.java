import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Compiles one source tree over and over in one JVM and prints, per round, process CPU time, wall
 * time, and how much of the CPU time the JIT has taken, in milliseconds, and {@code ok} or {@code
 * failed}.
 *
 * <p>Arguments: {@code ecj} or {@code javac}, the source directory, the output directory, rounds, and
 * the class path if there is one.
 */
public class CompileLoop {
    public static void main(String[] args) throws Exception {
        List<String> options = new ArrayList<>(List.of("-nowarn", "-d", args[2], "-encoding", "UTF-8"));
        if (args[0].equals("ecj")) {
            options.addAll(List.of("-source", "11", "-target", "11", "-proc:none"));
        } else {
            options.addAll(List.of("-source", "11", "-target", "11", "-proc:none", "-Xlint:none", "-Xmaxwarns", "1"));
        }
        if (args.length > 4) {
            options.addAll(List.of("-cp", args[4]));
        }
        try (Stream<Path> files = Files.walk(Path.of(args[1]))) {
            options.addAll(
                    files.map(Path::toString)
                            .filter(name -> name.endsWith(".java") && !name.endsWith("module-info.java"))
                            .filter(name -> !name.contains("META-INF" + File.separator))
                            .sorted()
                            .collect(Collectors.toList()));
        }
        String[] arguments = options.toArray(new String[0]);
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        PrintStream discard = new PrintStream(PrintStream.nullOutputStream());
        for (int round = 0; round < Integer.parseInt(args[3]); round++) {
            long cpu = system.getProcessCpuTime();
            long jit = jitMillis();
            long wall = System.nanoTime();
            boolean done;
            if (args[0].equals("ecj")) {
                done =
                        (Boolean)
                                Class.forName("org.eclipse.jdt.core.compiler.batch.BatchCompiler")
                                        .getMethod(
                                                "compile",
                                                String[].class,
                                                PrintWriter.class,
                                                PrintWriter.class,
                                                Class.forName("org.eclipse.jdt.core.compiler.CompilationProgress"))
                                        .invoke(
                                                null,
                                                arguments,
                                                new PrintWriter(discard),
                                                new PrintWriter(System.err),
                                                null);
            } else {
                JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
                done = javac.run(null, discard, discard, arguments) == 0;
            }
            System.out.println(
                    (system.getProcessCpuTime() - cpu) / 1_000_000
                            + " "
                            + (System.nanoTime() - wall) / 1_000_000
                            + " "
                            + (jitMillis() - jit)
                            + " "
                            + (done ? "ok" : "failed"));
        }
    }

    /** CPU time of the JIT's threads so far, which Linux counts in hundredths of seconds. */
    private static long jitMillis() throws IOException {
        long ticks = 0;
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            for (Path thread : threads.collect(Collectors.toList())) {
                String stat = Files.readString(thread.resolve("stat"));
                int end = stat.lastIndexOf(')');
                if (stat.substring(0, end).matches("[0-9]+ \\(C[12] CompilerThre.*")) {
                    // The state comes first; utime and stime are the twelfth and thirteenth.
                    String[] fields = stat.substring(end + 2).split(" ");
                    ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
                }
            }
        }
        return 10 * ticks;
    }
}
