package crashes.javac8286895;

import com.sun.tools.javac.api.JavacTool;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/**
 * JDK-8286895: a negated pattern test without parentheses.
 *
 * <p>An editor asks javac to analyse a file in spite of its errors. The binding of the pattern was
 * never declared, and flow analysis excludes it from a set of bits. JDK 25 reports the error in the
 * source instead.
 *
 * <p>The caller compiles one source file with the JDK's own compiler. javac catches the exception
 * itself and reports failure, so the program ends normally.
 */
public final class Driver {
    private Driver() {}

    /** Options of javac, then the file to compile. */
    public static void main(String[] args) throws IOException {
        List<String> options = Arrays.asList(args).subList(0, args.length - 1);
        System.out.println(compile(options, args[args.length - 1]) ? "compiled" : "failed");
    }

    static boolean compile(List<String> options, String file) throws IOException { // expect: reproduces
        Path classes = Files.createTempDirectory("javac");
        JavaCompiler javac = JavacTool.create();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, null)) {
            files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
            return javac.getTask(
                            messages, files, null, options, null, files.getJavaFileObjects(file))
                    .call();
        } finally {
            System.err.print(messages);
        }
    }
}
