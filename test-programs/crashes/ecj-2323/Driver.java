package crashes.ecj2323;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/**
 * Eclipse's compiler, issue #2323: an element of an array that is assigned in the same expression.
 *
 * <p>The simulated operand stack, needed for a switch expression that yields from a try block,
 * holds an int where the array should be.
 *
 * <p>The caller compiles one legal source file. The batch compiler catches the exception itself,
 * prints it and reports failure, so the program ends normally.
 */
public final class Driver {
    static {
        // By default the compiler generates code in a thread of its own, which hides its callers.
        System.setProperty("jdt.compiler.useSingleThread", "true");
    }

    private Driver() {}

    public static void main(String[] args) throws Exception {
        Path classes = Files.createTempDirectory("ecj");
        String[] command = {"-17", "-proc:none", "-nowarn", "-d", classes.toString(), args[0]};
        System.out.println(compile(command) ? "compiled" : "failed");
    }

    static boolean compile(String[] command) { // expect: reproduces, green when fixed
        StringWriter messages = new StringWriter();
        PrintWriter writer = new PrintWriter(messages);
        boolean compiled = BatchCompiler.compile(command, writer, writer, null);
        writer.flush();
        System.err.print(messages);
        return compiled;
    }
}
