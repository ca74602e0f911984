import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.net.httpserver.HttpServer;
import java.awt.image.BufferedImage;
import java.beans.Expression;
import java.beans.Statement;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.rmi.registry.LocateRegistry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.jar.JarFile;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.logging.SocketHandler;
import java.util.prefs.Preferences;
import java.util.spi.ToolProvider;
import java.util.zip.ZipFile;
import javax.imageio.ImageIO;
import javax.net.SocketFactory;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/**
 * Does what a program under test should not by detours: subclasses, handles, providers, factories, what the
 * JDK's libraries do for it, and classes that it defines itself.
 */
public class Sly {
    private static final String VICTIM = @VICTIM@;
    private static final String CLASSES = @CLASSES@;
    private static final String TOUCHED = VICTIM + ".touched";
    private static final Set<StandardOpenOption> WRITES =
            Set.of(StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);

    /** A file that has all from its superclass. */
    static class Document extends File {
        Document(String name) {
            super(name);
        }
    }

    /** One that deletes as its superclass does. */
    static class Paper extends Document {
        Paper(String name) {
            super(name);
        }

        @Override
        public boolean delete() {
            return super.delete();
        }
    }

    public boolean deleteDocument() {
        return new Document(VICTIM).delete();
    }

    public boolean deletePaper() {
        return new Paper(VICTIM).delete();
    }

    public boolean deleteByReference() {
        Predicate<Document> delete = Document::delete;
        return delete.test(new Document(VICTIM));
    }

    public Object deleteByHandle() throws Throwable {
        MethodHandle delete =
                MethodHandles.lookup()
                        .findVirtual(File.class, "delete", MethodType.methodType(boolean.class));
        return delete.invoke(new File(VICTIM));
    }

    public Object deleteByUnreflectedHandle() throws Throwable {
        return MethodHandles.lookup()
                .unreflect(File.class.getMethod("delete"))
                .invoke((File) new Document(VICTIM));
    }

    public void deleteByProvider() throws IOException {
        Path path = Paths.get(VICTIM);
        path.getFileSystem().provider().delete(path);
    }

    public void pipe() throws IOException {
        ProcessBuilder.startPipeline(List.of(new ProcessBuilder("touch", TOUCHED)));
    }

    public void reach() throws IOException {
        SocketFactory.getDefault().createSocket("127.0.0.1", 9).close();
    }

    /** Deletes where it is made. */
    static class Remover {
        Remover() {
            new File(VICTIM).delete();
        }
    }

    /** Defines classes that nobody has looked at. */
    static class Definer extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    private static byte[] remover() throws IOException {
        return Files.readAllBytes(Paths.get(CLASSES, "Sly$Remover.class"));
    }

    private static void make(Class<?> remover) throws ReflectiveOperationException {
        Constructor<?> constructor = remover.getDeclaredConstructor();
        constructor.setAccessible(true);
        constructor.newInstance();
    }

    public void deleteInOwnLoader() throws Exception {
        URL[] urls = {new File(CLASSES).toURI().toURL()};
        try (URLClassLoader loader = new URLClassLoader(urls, null)) {
            make(loader.loadClass("Sly$Remover"));
        }
    }

    public void deleteInNewLoader() throws Exception {
        URL[] urls = {new File(CLASSES).toURI().toURL()};
        make(URLClassLoader.newInstance(urls, null).loadClass("Sly$Remover"));
    }

    public void deleteInDefined() throws Exception {
        make(new Definer().define(remover()));
    }

    public Object deleteInLookup() throws Exception {
        return MethodHandles.lookup().defineClass(remover());
    }

    public void deleteByBean() throws Exception {
        new Statement(new File(VICTIM), "delete", new Object[0]).execute();
    }

    public Object deleteByExpression() throws Exception {
        return new Expression(new File(VICTIM), "delete", new Object[0]).getValue();
    }

    public void deleteByZip() throws IOException {
        new ZipFile(new File(VICTIM), ZipFile.OPEN_READ | ZipFile.OPEN_DELETE).close();
    }

    public void deleteByJar() throws IOException {
        new JarFile(new File(VICTIM), false, ZipFile.OPEN_READ | ZipFile.OPEN_DELETE).close();
    }

    public void deleteInDirectory() throws IOException {
        Path path = Paths.get(VICTIM);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path.getParent())) {
            ((SecureDirectoryStream<Path>) files).deleteFile(path.getFileName());
        }
    }

    public void overwriteInDirectory() throws IOException {
        Path path = Paths.get(VICTIM);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path.getParent())) {
            ((SecureDirectoryStream<Path>) files).newByteChannel(path.getFileName(), WRITES).close();
        }
    }

    public void overwriteAsynchronously() throws IOException {
        Path path = Paths.get(VICTIM);
        path.getFileSystem().provider().newAsynchronousFileChannel(path, WRITES, null).close();
    }

    public void overwriteByImage() throws IOException {
        ImageIO.write(new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB), "png", new File(VICTIM));
    }

    public void overwriteByTransformer() throws Exception {
        TransformerFactory.newInstance()
                .newTransformer()
                .transform(new StreamSource(new StringReader("<a/>")), new StreamResult(new File(VICTIM)));
    }

    public void touchAttributes() throws IOException {
        Files.getFileAttributeView(Paths.get(VICTIM), PosixFileAttributeView.class)
                .setTimes(FileTime.fromMillis(0), null, null);
    }

    public Object touchAttributesByReflection() throws Exception {
        return PosixFileAttributeView.class
                .getMethod("setTimes", FileTime.class, FileTime.class, FileTime.class)
                .invoke(
                        Files.getFileAttributeView(Paths.get(VICTIM), PosixFileAttributeView.class),
                        FileTime.fromMillis(0),
                        null,
                        null);
    }

    public void touchArchive() throws IOException {
        URI uri = URI.create("jar:" + Paths.get(TOUCHED).toUri());
        FileSystems.newFileSystem(uri, Map.of("create", "true")).close();
    }

    public void touchThroughLink() throws IOException {
        Path link = Files.createTempDirectory("links").resolve("out");
        Files.createSymbolicLink(link, Paths.get(TOUCHED));
        Files.writeString(link, "touched");
    }

    /** What is above the place that a link leads to is not what is above the link. */
    public boolean touchAboveLink() throws IOException {
        Path link = Files.createTempDirectory("links").resolve("up");
        Files.createSymbolicLink(link, Paths.get(".."));
        return new File(link + "/../touched").createNewFile();
    }

    public int touchByTool() {
        return ToolProvider.findFirst("jar")
                .get()
                .run(System.out, System.err, "--create", "--file", TOUCHED, "-C", CLASSES, ".");
    }

    public void touchHeap() throws IOException {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpHeap(TOUCHED + ".hprof", true);
    }

    public void touchLog() throws IOException {
        String text = "handlers=java.util.logging.FileHandler\n"
                + "java.util.logging.FileHandler.pattern=" + TOUCHED + "\n";
        LogManager.getLogManager().readConfiguration(new ByteArrayInputStream(text.getBytes()));
        Logger.getLogger("sly").severe("touched");
    }

    public boolean likePreferences() {
        return Preferences.userRoot().getBoolean("sly", true);
    }

    public boolean likeCompiler() {
        return javax.tools.ToolProvider.getSystemJavaCompiler()
                .getTask(null, null, null, null, List.of("java.lang.Object"), null) != null;
    }

    public boolean reachServer() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.stop(0);
        return true;
    }

    public boolean reachRegistry() throws IOException {
        return LocateRegistry.createRegistry(0) != null;
    }

    public String reachDocument() throws Exception {
        try {
            DocumentBuilderFactory.newInstance().newDocumentBuilder().parse("http://127.0.0.1:9/");
            return "read";
        } catch (IOException e) {
            return "tried";
        }
    }

    public String reachArchive() throws IOException {
        try {
            new URL("jar:http://127.0.0.1:9/a.jar!/").openStream().close();
            return "read";
        } catch (IOException e) {
            return "tried";
        }
    }

    public String reachLog() throws IOException {
        try {
            new SocketHandler("127.0.0.1", 9).close();
            return "logged";
        } catch (IOException e) {
            return "tried";
        }
    }

    public String archive() throws IOException {
        Path path = Files.createTempFile("sly", ".zip");
        Files.delete(path);
        URI uri = URI.create("jar:" + path.toUri());
        try (FileSystem archive = FileSystems.newFileSystem(uri, Map.of("create", "true"))) {
            Files.writeString(archive.getPath("a"), "within");
        }
        try (ZipFile file = new ZipFile(path.toFile(), ZipFile.OPEN_READ | ZipFile.OPEN_DELETE)) {
            return "archive of " + file.size();
        }
    }

    public String harmless() throws IOException {
        File file = File.createTempFile("sly", ".txt");
        boolean deleted = new Paper(file.getPath()).delete();
        return "deleted " + deleted + ", exists " + file.exists();
    }
}
