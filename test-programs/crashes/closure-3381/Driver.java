package crashes.closure3381;

import com.google.javascript.jscomp.CompilationLevel;
import com.google.javascript.jscomp.Compiler;
import com.google.javascript.jscomp.CompilerOptions;
import com.google.javascript.jscomp.SourceFile;
import java.io.OutputStream;
import java.io.PrintStream;

/**
 * closure-compiler #3381: a function in a catch block is named like the exception.
 *
 * <p>The compiler makes the program smaller, looks up what refers to the exception's name, and
 * finds nothing. It wraps the NullPointerException once with the place in the script.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(
                minify("() => { for(;;){ try { break } catch (a) { { function a(){ } } } } }"));
    }

    static String minify(String script) { // expect: reproduces, green when fixed
        Compiler compiler = new Compiler(new PrintStream(OutputStream.nullOutputStream()));
        // By default the compiler works in a thread of its own, which hides its callers.
        compiler.disableThreads();
        CompilerOptions options = new CompilerOptions();
        CompilationLevel.SIMPLE_OPTIMIZATIONS.setOptionsForCompilationLevel(options);
        compiler.compile(
                SourceFile.fromCode("externs.js", ""),
                SourceFile.fromCode("input.js", script),
                options);
        return compiler.toSource();
    }
}
