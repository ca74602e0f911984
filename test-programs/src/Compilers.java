import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.spi.ToolProvider;

/**
 * Compiles again and again in one JVM, which is warm after the first time. A request is a number of
 * arguments, then each with its length in front; an answer is javac's exit status and what it said.
 * All of it big-endian, text in UTF-8.
 */
class Compilers {
    public static void main(String[] none) throws IOException {
        ToolProvider javac = ToolProvider.findFirst("javac").orElseThrow();
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        while (true) {
            String[] arguments;
            try {
                arguments = new String[in.readInt()];
            } catch (EOFException e) {
                return;
            }
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = new String(in.readNBytes(in.readInt()), "UTF-8");
            }
            StringWriter said = new StringWriter();
            PrintWriter writer = new PrintWriter(said, true);
            int status = javac.run(writer, writer, arguments);
            byte[] text = said.toString().getBytes("UTF-8");
            out.writeInt(status);
            out.writeInt(text.length);
            out.write(text);
            out.flush();
        }
    }
}
