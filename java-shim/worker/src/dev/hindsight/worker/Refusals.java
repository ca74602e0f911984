package dev.hindsight.worker;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The kernel's refusals that the program has not passed on: the JVM is told to log each exception
 * that is thrown, even if it is caught. That takes time, so only one of the JVMs does it.
 */
final class Refusals {
    /** The most bytes of the log that are read for one sequence. */
    private static final int MAX_READ = 8 << 20;
    /**
     * The class and the address of an exception; then its message, or that native code has thrown
     * it.
     */
    private static final Pattern THROWN =
            Pattern.compile("Exception <a '([^']+)'\\{(0x[0-9a-f]+)\\}(: .*>|> \\(.*|>)");
    private static final String DENIED = "java/nio/file/AccessDeniedException";
    private static final String OF_FILES = "java/nio/file/";
    /** The origin of {@link #OF_FILES}, in the line that follows. */
    private static final String BY_FILES = "in 'sun/nio/fs/";

    private final FileChannel log;

    private Refusals(FileChannel log) {
        this.log = log;
    }

    /** The log of this JVM; it is empty if the JVM logs nothing. */
    static Refusals open() throws IOException {
        String name = System.getProperty("hindsight.thrown");
        return new Refusals(name == null ? null : new RandomAccessFile(name, "rw").getChannel());
    }

    /** Forgets the refusals so far. */
    void forget() throws IOException {
        if (log != null && log.size() > 0) {
            log.truncate(0); // the JVM appends
        }
    }

    /** Whether there has been a refusal since. */
    boolean isAny() throws IOException {
        if (log == null || log.size() == 0) {
            return false;
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(log.size(), MAX_READ));
        while (bytes.hasRemaining() && log.read(bytes, bytes.position()) > 0) {
            // The log is read in parts.
        }
        return isIn(new String(bytes.array(), 0, bytes.position(), StandardCharsets.ISO_8859_1));
    }

    private static boolean isIn(String text) {
        if (!text.contains(DENIED) && !Denied.isRefusal(text)) {
            return false;
        }
        Set<String> byNative = new HashSet<>();
        String[] lines = text.split("\n");
        for (int i = 0; i + 1 < lines.length; i++) {
            Matcher thrown = THROWN.matcher(lines[i]);
            if (!thrown.matches()) {
                continue;
            }
            String type = thrown.group(1);
            boolean isRefusal = type.equals(DENIED) || Denied.isRefusal(thrown.group(3));
            if (thrown.group(3).startsWith("> (")) {
                byNative.add(thrown.group(2));
            } else if (isRefusal && type.startsWith(OF_FILES) && lines[i + 1].contains(BY_FILES)) {
                return true;
            } else if (isRefusal && type.startsWith("java/") && byNative.contains(thrown.group(2))) {
                return true;
            }
        }
        return false;
    }
}
