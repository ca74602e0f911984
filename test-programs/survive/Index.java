import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * All classes of all jars of the corpus, by name: where classes are looked for that a jar refers to
 * and does not have. The file has a line for each jar, followed by its classes, indented.
 */
final class Index {
    private static final int OPEN = 40;

    /** Scala's libraries come in versions that do not fit each other; jars say which they are for. */
    private static final Pattern SCALA = Pattern.compile(".*_(2\\.\\d+|3)-[^/]*");
    private static final Pattern VERSION = Pattern.compile(".*-(\\d+\\.\\d+)[^/]*");

    private final Map<String, List<String>> jarsOf = new HashMap<>();
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
                jarsOf.computeIfAbsent(line.substring(1), name -> new ArrayList<>(1)).add(jar);
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
        List<String> others = jarsOf.get(name);
        return others == null ? null : read(best(others, jar), name);
    }

    /** The jar of the same version as the one that asks, or else the first. */
    private static String best(List<String> jars, String asking) {
        String version = version(asking);
        for (String jar : jars) {
            if (jars.size() > 1 && version.equals(version(jar))) {
                return jar;
            }
        }
        return jars.get(0);
    }

    /** What others must fit: a version of Scala, or the first two numbers of its own. */
    private static String version(String jar) {
        Matcher scala = SCALA.matcher(jar);
        if (scala.matches()) {
            return scala.group(1).equals("3") ? "2.13" : scala.group(1);
        }
        Matcher own = VERSION.matcher(jar);
        return own.matches() ? own.group(1) : "";
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
