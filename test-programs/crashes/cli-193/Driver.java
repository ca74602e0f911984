package crashes.cli193;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.apache.commons.cli.HelpFormatter;
import org.apache.commons.cli.Options;

/**
 * CLI-193: a help text whose last word is wider than the line.
 *
 * <p>Having found no blank to break the line at, the formatter searches forward for one, and reads
 * the char behind the end of the text.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        Options options = new Options();
        options.addOption("l", "list", false, "list all files");
        System.out.println(help("ls", options, "See https://example.org/manual/ls", 24).length());
    }

    static String help(String command, Options options, String footer, int width) { // expect: reproduces, green when fixed
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        new HelpFormatter().printHelp(writer, width, command, "", options, 1, 3, footer);
        writer.flush();
        return out.toString();
    }
}
