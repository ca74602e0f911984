import java.io.File;
import java.io.FileOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.function.IntConsumer;

/**
 * Does all that a program under test should not, each time to the file that the property names or to
 * all of the machine. Only {@link #harmless} is.
 */
public class Harm {
    private static final String VICTIM = @VICTIM@;

    public int harmless(int a, int b) {
        return a + b;
    }

    public int readInput() throws IOException {
        return System.in.read();
    }

    public String readInputOrNot() {
        try {
            return new Scanner(System.in).nextLine();
        } catch (RuntimeException e) {
            return "nobody there";
        }
    }

    public void exit() {
        System.exit(0);
    }

    public void exitByReference() {
        IntConsumer exit = System::exit;
        exit.accept(0);
    }

    public void exitByReflection() throws Exception {
        System.class.getMethod("exit", int.class).invoke(null, 0);
    }

    public void halt() {
        Runtime.getRuntime().halt(0);
    }

    public String exitAndHide() {
        try {
            System.exit(0);
        } catch (RuntimeException e) {
            // as programs do
        }
        return "hidden";
    }

    public boolean delete() {
        return new File(VICTIM).delete();
    }

    public void deletePath() throws IOException {
        Files.delete(Paths.get(VICTIM));
    }

    public void overwrite() throws IOException {
        try (FileOutputStream out = new FileOutputStream(VICTIM)) {
            out.write(1);
        }
    }

    public boolean deleteHere() {
        return new File("pom.xml").delete();
    }

    public void overwriteHere() throws IOException {
        Files.write(Paths.get("README.md"), new byte[] {1});
    }

    public void overwriteByWriter() throws IOException {
        try (PrintWriter out = new PrintWriter(new FileWriter(new File(VICTIM), true))) {
            out.println("more");
        }
    }

    public void overwriteByPath() throws IOException {
        Path path = Paths.get(VICTIM);
        Files.write(path, new byte[] {1});
    }

    public void overwriteBySubclass() throws IOException {
        new Mine(VICTIM).close();
    }

    static class Mine extends FileOutputStream {
        Mine(String name) throws IOException {
            super(name);
        }
    }

    public void process() throws IOException {
        new ProcessBuilder("touch", VICTIM + ".touched").start();
    }

    public void processByRuntime() throws IOException {
        Runtime.getRuntime().exec(new String[] {"touch", VICTIM + ".touched"});
    }

    public void connect() throws IOException {
        new Socket("127.0.0.1", 9).close();
    }

    public int babble() throws IOException {
        try (FileOutputStream out = new FileOutputStream(java.io.FileDescriptor.out)) {
            out.write("REEEEEE".getBytes());
        }
        try (java.io.FileInputStream in = new java.io.FileInputStream(java.io.FileDescriptor.in)) {
            return in.read();
        }
    }

    public void moveScratch() throws IOException {
        System.setProperty("hindsight.scratch", "/");
        overwrite();
    }

    public void forever() {
        while (true) {
            Thread.onSpinWait();
        }
    }

    public void deadlock() throws InterruptedException {
        synchronized (this) {
            wait();
        }
    }

    public int recursion(int depth) {
        return recursion(depth + 1) + 1;
    }

    public int memory() {
        List<long[]> all = new ArrayList<>();
        while (true) {
            all.add(new long[1 << 22]);
        }
    }

    public String scratch() throws IOException {
        Path file = Files.createTempFile("a", "b");
        Files.write(file, new byte[] {1, 2});
        String size = "size " + Files.size(file);
        Files.delete(file);
        System.out.println(size);
        return size;
    }

    public long time() {
        return System.nanoTime();
    }

    public String name() {
        return new Object().toString();
    }

    public void formatInCharset() throws IOException {
        new java.util.Formatter(VICTIM, "UTF-8", java.util.Locale.ROOT).close();
    }

    public void formatFile() throws IOException {
        new java.util.Formatter(new File(VICTIM)).close();
    }

    public String scratchFormat() throws IOException {
        File file = File.createTempFile("out", "txt");
        try (java.util.Formatter formatter = new java.util.Formatter(file, "UTF-8")) {
            formatter.format("%d and %s", 1, "two");
        }
        return new String(Files.readAllBytes(file.toPath()), "UTF-8");
    }

    public String resolve() throws IOException {
        return java.net.InetAddress.getByName("example.invalid").toString();
    }

    public boolean resolveSocket() {
        return new java.net.InetSocketAddress("example.invalid", 80).isUnresolved();
    }

    public String figures() throws IOException {
        return java.net.InetAddress.getByName("127.0.0.1").getHostAddress();
    }

    public long tick() {
        return java.time.Clock.tickSeconds(java.time.ZoneOffset.UTC).millis();
    }

    public void format() throws IOException {
        try (java.util.Formatter formatter = new java.util.Formatter(VICTIM)) {
            formatter.format("gone");
        }
    }

    public void log() throws IOException {
        new java.util.logging.FileHandler(VICTIM).close();
    }

    public int leaveLocale() {
        java.util.Locale.setDefault(new java.util.Locale("tr", "TR"));
        return 1;
    }

    public int leaveZone() {
        java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone("Pacific/Apia"));
        return 2;
    }

    public int leaveProperty() {
        System.setProperty("line.separator", "|");
        return 3;
    }

    public int leaveOutput() {
        System.setOut(new java.io.PrintStream(new java.io.ByteArrayOutputStream()));
        return 4;
    }

    public int leaveInterrupted() {
        Thread.currentThread().interrupt();
        return 5;
    }

    public int leaveHandler() {
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {});
        return 6;
    }

    public String property() {
        return System.setProperty("com.acme.mode", "quick") + System.getProperty("com.acme.mode");
    }

    public int afterAll() {
        Runtime.getRuntime().addShutdownHook(new Thread(Harm::remove));
        return 7;
    }

    public int afterwards() {
        java.util.concurrent.CompletableFuture.delayedExecutor(500, java.util.concurrent.TimeUnit.MILLISECONDS)
                .execute(Harm::remove);
        return 8;
    }

    private static void remove() {
        new java.io.File(@VICTIM@).delete();
    }

    public int spin() {
        new Thread(Harm::spinForEver).start();
        return 1;
    }

    private static void spinForEver() {
        while (true) {
            Thread.onSpinWait();
        }
    }
}
