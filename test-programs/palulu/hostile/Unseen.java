import java.beans.XMLDecoder;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;

/**
 * Does what a program under test should not where no guard sees it: the JDK calls what a document names, and this
 * class has no call of it.
 */
public class Unseen {
    private static final String VICTIM = @VICTIM@;
    private static final String PORT = @PORT@;

    /** What a document describes. */
    private static Object decode(String document) {
        byte[] bytes = ("<java>" + document + "</java>").getBytes(StandardCharsets.UTF_8);
        XMLDecoder decoder = new XMLDecoder(new ByteArrayInputStream(bytes));
        decoder.setExceptionListener(
                problem -> {
                    throw new IllegalStateException("this cannot be decoded", problem);
                });
        return decoder.readObject();
    }

    private static String made(String type, String... arguments) {
        return "<object class=\"" + type + "\">" + String.join("", arguments) + "</object>";
    }

    private static String text(String value) {
        return "<string>" + value + "</string>";
    }

    public int harmless() {
        return ((StringBuilder) decode(made("java.lang.StringBuilder", text("three")))).length();
    }

    /** Where the program may write, whoever does it. */
    public String note() {
        String place = System.getProperty("java.io.tmpdir");
        decode(made("java.io.PrintWriter", text(place + "/note"), "<void method=\"close\"/>"));
        return "there " + new File(place, "note").delete();
    }

    public void overwrite() {
        decode(made("java.io.FileOutputStream", text(VICTIM)));
    }

    public void make() {
        decode(made("java.io.PrintWriter", text(VICTIM + ".touched")));
    }

    public String makeOr() {
        try {
            make();
            return "made";
        } catch (IllegalStateException e) {
            throw new UnsupportedOperationException(e);
        }
    }

    public void remove() {
        String path = "<object class=\"java.nio.file.Path\" method=\"of\">" + text(VICTIM)
                + "<array class=\"java.lang.String\" length=\"0\"/></object>";
        decode("<object class=\"java.nio.file.Files\" method=\"delete\">" + path + "</object>");
    }

    /** Has a class that cannot be initialised, which the JVM says in another way each time but the first. */
    static class Log {
        static final Object FILE = decode(made("java.io.RandomAccessFile", text(VICTIM), text("rw")));
    }

    public String log() {
        return String.valueOf(Log.FILE).substring(0, 1);
    }

    public void connect() {
        decode(made("java.net.Socket", text("127.0.0.1"), "<int>" + PORT + "</int>"));
    }

    /** Nobody hears of it. */
    public String hush() {
        try {
            make();
            return "made";
        } catch (IllegalStateException e) {
            return "not made";
        }
    }

    /** The program itself may say so, and mean something else. */
    public void authorize() throws java.io.IOException {
        throw new java.io.IOException("Permission denied");
    }
}
