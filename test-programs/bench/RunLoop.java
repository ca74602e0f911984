import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;

/**
 * Runs the main method of a program over and over in one JVM, without what it prints, and tells of each
 * round the CPU time of the process and the wall time in milliseconds.
 *
 * <p>{@code RunLoop ROUNDS CLASS ARGUMENTS...}; {@code @ROUND@} in an argument is the round's number.
 */
public class RunLoop {
    public static void main(String[] args) throws Exception {
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Method main = Class.forName(args[1]).getMethod("main", String[].class);
        PrintStream out = System.out;
        PrintStream discard = new PrintStream(PrintStream.nullOutputStream());
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            String[] rest = new String[args.length - 2];
            for (int i = 0; i < rest.length; i++) {
                rest[i] = args[i + 2].replace("@ROUND@", Integer.toString(round));
            }
            System.setOut(discard);
            long cpu = system.getProcessCpuTime();
            long wall = System.nanoTime();
            main.invoke(null, (Object) rest);
            wall = System.nanoTime() - wall;
            cpu = system.getProcessCpuTime() - cpu;
            System.setOut(out);
            System.out.println(cpu / 1_000_000 + " " + wall / 1_000_000 + " ok");
        }
    }
}
