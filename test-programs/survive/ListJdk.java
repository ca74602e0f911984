import java.io.BufferedOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Writes all classes of the JDK that runs it into a jar: {@code module/package/Name.class}. */
final class ListJdk {
    public static void main(String[] args) throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (var out = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(Path.of(args[0]))));
                var files = Files.walk(modules)) {
            out.setMethod(ZipOutputStream.STORED);
            for (Path file : (Iterable<Path>) files.sorted()::iterator) {
                if (!file.toString().endsWith(".class") || !Files.isRegularFile(file)) {
                    continue;
                }
                byte[] bytes = Files.readAllBytes(file);
                CRC32 sum = new CRC32();
                sum.update(bytes);
                ZipEntry entry = new ZipEntry(modules.relativize(file).toString());
                entry.setSize(bytes.length);
                entry.setCrc(sum.getValue());
                entry.setTime(0);
                out.putNextEntry(entry);
                out.write(bytes);
            }
        }
    }
}
