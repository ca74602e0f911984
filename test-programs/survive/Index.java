import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * All classes of all jars of the corpus, by name: where classes are looked for that a jar refers to
 * and does not have. The file has a line for each jar, followed by its classes, indented.
 */
final class Index {
    private static final int OPEN = 40;

    private final Map<String, String> jarOf = new HashMap<>();
    private final Map<String, ZipFile> open = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ZipFile> eldest) {
            if (size() <= OPEN) {
                return false;
            }
            try {
                eldest.getValue().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return true;
        }
    };

    Index(Path file) throws IOException {
        String jar = null;
        for (String line : (Iterable<String>) Files.lines(file)::iterator) {
            if (line.startsWith(" ")) {
                jarOf.putIfAbsent(line.substring(1), jar);
            } else {
                jar = line;
            }
        }
    }

    /** The class file of this name, from `jar` if that has it; null if there is none. */
    byte[] find(String name, String jar) {
        byte[] own = jar.isEmpty() ? null : read(jar, name);
        if (own != null) {
            return own;
        }
        String other = jarOf.get(name);
        return other == null ? null : read(other, name);
    }

    private byte[] read(String jar, String name) {
        try {
            ZipFile zip = open.get(jar);
            if (zip == null) {
                zip = new ZipFile(jar);
                open.put(jar, zip);
            }
            ZipEntry entry = zip.getEntry(name + ".class");
            if (entry == null) {
                return null;
            }
            try (InputStream in = zip.getInputStream(entry)) {
                return in.readAllBytes();
            }
        } catch (IOException e) {
            return null;
        }
    }
}
