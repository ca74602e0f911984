package crashes.ecj2817;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/**
 * Eclipse's compiler, issue #2817: an array as the argument of a wildcard type.
 *
 * <p>Inference compares the bounds of two type arguments and expects a parameterized type where
 * there is an array.
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
