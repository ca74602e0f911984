package crashes.ecj3042;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/**
 * Eclipse's compiler, issue #3042: calling a static method on a conditional that may be null.
 *
 * <p>The value of the conditional is dropped twice from the simulated operand stack.
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
