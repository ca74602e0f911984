package dev.hindsight.worker;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.File;
import java.io.FileDescriptor;
import java.io.Flushable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URL;
import java.net.URLConnection;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.Charset;
import java.nio.file.CopyOption;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Formatter;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TimeZone;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands in for methods that the program must not call as it likes.
 *
 * <p>Each method has the name of what it stands in for, and its receiver as the first parameter; the
 * analyzer finds them by that. What may be done is done, within the directory for temporary files; all else throws
 * {@link Blocked} and is counted, since the program may catch it.
 */
public final class Guard {
    private static final Path SCRATCH =
            real(Paths.get(System.getProperty("hindsight.scratch", ".")));
    private static final AtomicInteger COUNT = new AtomicInteger();
    /** Milliseconds by which all clocks are wrong, where tests are tried that must not depend on them. */
    private static final long SHIFT = Long.getLong("hindsight.shift", 0) * 3_600_000;
    private static final AtomicInteger ASKED = new AtomicInteger();

    private Guard() {}

    /** How often something was blocked since the start. */
    static int count() {
        return COUNT.get();
    }

    private static Blocked blocked(String what) {
        COUNT.incrementAndGet();
        return new Blocked(what);
    }

    /** The path without links, as far as it exists. */
    private static Path real(Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        for (Path at = absolute; at != null; at = at.getParent()) {
            try {
                Path found = at.toRealPath();
                return found.resolve(at.relativize(absolute)).normalize();
            } catch (IOException e) {
                // The part above it may exist.
            }
        }
        return absolute;
    }

    /** Gives back a path that may be written. */
    static Path check(Path path) {
        if (path != null
                && path.getFileSystem() == FileSystems.getDefault()
                && !real(path).startsWith(SCRATCH)) {
            throw blocked("writing " + path);
        }
        return path;
    }

    /** Gives back a file that may be written. */
    static File check(File file) {
        if (file != null) {
            check(file.toPath());
        }
        return file;
    }

    /** Gives back the name of a file that may be written. */
    static String check(String name) {
        if (name != null) {
            check(new File(name));
        }
        return name;
    }

    /** Gives back a descriptor that is none of the pipes to the analyzer, and counts one that is. */
    static FileDescriptor check(FileDescriptor descriptor) {
        boolean isOurs = descriptor == FileDescriptor.in
                || descriptor == FileDescriptor.out
                || descriptor == FileDescriptor.err;
        if (isOurs) {
            COUNT.incrementAndGet();
            return nowhere();
        }
        return descriptor;
    }

    /** Where nothing comes from and all goes. */
    private static FileDescriptor nowhere() {
        try {
            return new RandomAccessFile("/dev/null", "rw").getFD();
        } catch (IOException e) {
            return new FileDescriptor(); // which can neither be read nor written
        }
    }

    /** A link itself is deleted, not what it leads to. */
    private static void checkDelete(Path path) {
        Path parent = path == null ? null : path.toAbsolutePath().normalize().getParent();
        boolean isScratch = path != null && real(path).equals(SCRATCH);
        if (parent != null
                && path.getFileSystem() == FileSystems.getDefault()
                && (isScratch || !real(parent).startsWith(SCRATCH))) {
            throw blocked("deleting " + path);
        }
    }

    private static boolean writes(Iterable<? extends OpenOption> options) {
        for (OpenOption option : options) {
            if (option != StandardOpenOption.READ && !(option instanceof LinkOption)) {
                return true;
            }
        }
        return false;
    }

    // The JVM.

    public static void exit(int status) {
        throw blocked("System.exit(" + status + ")");
    }

    public static void exit(Runtime runtime, int status) {
        throw blocked("Runtime.exit(" + status + ")");
    }

    public static void halt(Runtime runtime, int status) {
        throw blocked("Runtime.halt(" + status + ")");
    }

    public static void addShutdownHook(Runtime runtime, Thread hook) {
        // The JVM ends without running it.
    }

    public static Process exec(Runtime runtime, String command) {
        throw blocked("starting " + command);
    }

    public static Process exec(Runtime runtime, String command, String[] environment) {
        throw blocked("starting " + command);
    }

    public static Process exec(Runtime runtime, String command, String[] environment, File dir) {
        throw blocked("starting " + command);
    }

    public static Process exec(Runtime runtime, String[] command) {
        throw blocked("starting a process");
    }

    public static Process exec(Runtime runtime, String[] command, String[] environment) {
        throw blocked("starting a process");
    }

    public static Process exec(Runtime runtime, String[] command, String[] environment, File dir) {
        throw blocked("starting a process");
    }

    public static Process start(ProcessBuilder builder) {
        throw blocked("starting " + builder.command());
    }

    public static boolean destroy(ProcessHandle process) {
        throw blocked("ending a process");
    }

    public static boolean destroyForcibly(ProcessHandle process) {
        throw blocked("ending a process");
    }

    // Reflection reaches what calls cannot.

    public static Object invoke(Method method, Object on, Object[] arguments)
            throws IllegalAccessException, InvocationTargetException {
        Class<?>[] types = method.getParameterTypes();
        boolean isStatic = java.lang.reflect.Modifier.isStatic(method.getModifiers());
        Class<?>[] all = new Class<?>[types.length + (isStatic ? 0 : 1)];
        Object[] values = new Object[all.length];
        int at = 0;
        if (!isStatic) {
            all[0] = method.getDeclaringClass();
            values[0] = on;
            at = 1;
        }
        System.arraycopy(types, 0, all, at, types.length);
        Class<?> owner = method.getDeclaringClass();
        if (owner.getName().startsWith("java.")) {
            Method guard;
            try {
                guard = Guard.class.getMethod(method.getName(), all);
            } catch (NoSuchMethodException e) {
                return method.invoke(on, arguments);
            }
            // Others have static methods of the same name.
            boolean isIt = guard.getReturnType() == method.getReturnType();
            if (isIt && (arguments == null ? types.length == 0 : arguments.length == types.length)) {
                if (arguments != null) {
                    System.arraycopy(arguments, 0, values, at, arguments.length);
                }
                return guard.invoke(null, values);
            }
        }
        return method.invoke(on, arguments);
    }

    public static Object newInstance(Constructor<?> constructor, Object[] arguments)
            throws InstantiationException, IllegalAccessException, InvocationTargetException {
        String name = constructor.getDeclaringClass().getName();
        if (Guarded.isGuarded(name)) {
            throw blocked("new " + name + " by reflection");
        }
        return constructor.newInstance(arguments);
    }

    // Files by java.io.

    public static boolean delete(File file) {
        checkDelete(file.toPath());
        return file.delete();
    }

    public static void deleteOnExit(File file) {
        // The directory goes as a whole.
        checkDelete(file.toPath());
    }

    public static boolean renameTo(File file, File to) {
        checkDelete(file.toPath());
        return file.renameTo(check(to));
    }

    public static boolean createNewFile(File file) throws IOException {
        return check(file).createNewFile();
    }

    public static boolean mkdir(File file) {
        return check(file).mkdir();
    }

    public static boolean mkdirs(File file) {
        return check(file).mkdirs();
    }

    public static boolean setReadOnly(File file) {
        return check(file).setReadOnly();
    }

    public static boolean setWritable(File file, boolean on) {
        return check(file).setWritable(on);
    }

    public static boolean setWritable(File file, boolean on, boolean owner) {
        return check(file).setWritable(on, owner);
    }

    public static boolean setReadable(File file, boolean on) {
        return check(file).setReadable(on);
    }

    public static boolean setReadable(File file, boolean on, boolean owner) {
        return check(file).setReadable(on, owner);
    }

    public static boolean setExecutable(File file, boolean on) {
        return check(file).setExecutable(on);
    }

    public static boolean setExecutable(File file, boolean on, boolean owner) {
        return check(file).setExecutable(on, owner);
    }

    public static boolean setLastModified(File file, long time) {
        return check(file).setLastModified(time);
    }

    public static File createTempFile(String prefix, String suffix, File dir) throws IOException {
        return File.createTempFile(prefix, suffix, check(dir));
    }

    // A formatter opens its file by itself, and has no subclasses: it is made first, and then told where it
    // writes to.

    private static final class Late implements Appendable, Closeable, Flushable {
        Appendable to = new StringBuilder();

        @Override
        public Appendable append(CharSequence text) throws IOException {
            to.append(text);
            return this;
        }

        @Override
        public Appendable append(CharSequence text, int start, int end) throws IOException {
            to.append(text, start, end);
            return this;
        }

        @Override
        public Appendable append(char c) throws IOException {
            to.append(c);
            return this;
        }

        @Override
        public void close() throws IOException {
            if (to instanceof Closeable) {
                ((Closeable) to).close();
            }
        }

        @Override
        public void flush() throws IOException {
            if (to instanceof Flushable) {
                ((Flushable) to).flush();
            }
        }

        @Override
        public String toString() {
            return to.toString();
        }
    }

    public static Formatter newFormatter() {
        return new Formatter(new Late());
    }

    private static void init(Formatter made, Formatter as) {
        if (!Objects.equals(made.locale(), as.locale())) {
            throw blocked("formatting for " + as.locale());
        }
        ((Late) made.out()).to = as.out();
    }

    public static void initFormatter(Formatter made) {
        init(made, new Formatter());
    }

    public static void initFormatter(Formatter made, Appendable out) {
        init(made, new Formatter(out));
    }

    public static void initFormatter(Formatter made, Locale locale) {
        init(made, new Formatter(locale));
    }

    public static void initFormatter(Formatter made, Appendable out, Locale locale) {
        init(made, new Formatter(out, locale));
    }

    public static void initFormatter(Formatter made, String name) throws IOException {
        init(made, new Formatter(check(name)));
    }

    public static void initFormatter(Formatter made, String name, String charset)
            throws IOException {
        init(made, new Formatter(check(name), charset));
    }

    public static void initFormatter(Formatter made, String name, String charset, Locale locale)
            throws IOException {
        init(made, new Formatter(check(name), charset, locale));
    }

    public static void initFormatter(Formatter made, String name, Charset charset, Locale locale)
            throws IOException {
        init(made, new Formatter(check(name), charset, locale));
    }

    public static void initFormatter(Formatter made, File file) throws IOException {
        init(made, new Formatter(check(file)));
    }

    public static void initFormatter(Formatter made, File file, String charset) throws IOException {
        init(made, new Formatter(check(file), charset));
    }

    public static void initFormatter(Formatter made, File file, String charset, Locale locale)
            throws IOException {
        init(made, new Formatter(check(file), charset, locale));
    }

    public static void initFormatter(Formatter made, File file, Charset charset, Locale locale)
            throws IOException {
        init(made, new Formatter(check(file), charset, locale));
    }

    public static void initFormatter(Formatter made, PrintStream out) {
        init(made, new Formatter(out));
    }

    public static void initFormatter(Formatter made, OutputStream out) {
        init(made, new Formatter(out));
    }

    public static void initFormatter(Formatter made, OutputStream out, String charset)
            throws IOException {
        init(made, new Formatter(out, charset));
    }

    public static void initFormatter(Formatter made, OutputStream out, String charset, Locale locale)
            throws IOException {
        init(made, new Formatter(out, charset, locale));
    }

    public static void initFormatter(Formatter made, OutputStream out, Charset charset, Locale locale)
            throws IOException {
        init(made, new Formatter(out, charset, locale));
    }

    // Files by java.nio.

    public static void delete(Path path) throws IOException {
        checkDelete(path);
        Files.delete(path);
    }

    public static boolean deleteIfExists(Path path) throws IOException {
        checkDelete(path);
        return Files.deleteIfExists(path);
    }

    public static Path move(Path from, Path to, CopyOption[] options) throws IOException {
        checkDelete(from);
        return Files.move(from, check(to), options);
    }

    public static Path copy(Path from, Path to, CopyOption[] options) throws IOException {
        return Files.copy(from, check(to), options);
    }

    public static long copy(InputStream from, Path to, CopyOption[] options) throws IOException {
        return Files.copy(from, check(to), options);
    }

    public static Path write(Path path, byte[] bytes, OpenOption[] options) throws IOException {
        return Files.write(check(path), bytes, options);
    }

    public static Path write(
            Path path, Iterable<? extends CharSequence> lines, Charset charset, OpenOption[] options)
            throws IOException {
        return Files.write(check(path), lines, charset, options);
    }

    public static Path write(
            Path path, Iterable<? extends CharSequence> lines, OpenOption[] options)
            throws IOException {
        return Files.write(check(path), lines, options);
    }

    public static Path writeString(Path path, CharSequence text, OpenOption[] options)
            throws IOException {
        return Files.writeString(check(path), text, options);
    }

    public static Path writeString(
            Path path, CharSequence text, Charset charset, OpenOption[] options)
            throws IOException {
        return Files.writeString(check(path), text, charset, options);
    }

    public static OutputStream newOutputStream(Path path, OpenOption[] options)
            throws IOException {
        return Files.newOutputStream(check(path), options);
    }

    public static BufferedWriter newBufferedWriter(
            Path path, Charset charset, OpenOption[] options) throws IOException {
        return Files.newBufferedWriter(check(path), charset, options);
    }

    public static BufferedWriter newBufferedWriter(Path path, OpenOption[] options)
            throws IOException {
        return Files.newBufferedWriter(check(path), options);
    }

    public static SeekableByteChannel newByteChannel(Path path, OpenOption[] options)
            throws IOException {
        return Files.newByteChannel(
                writes(java.util.Arrays.asList(options)) ? check(path) : path, options);
    }

    public static SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>[] attributes)
            throws IOException {
        return Files.newByteChannel(writes(options) ? check(path) : path, options, attributes);
    }

    public static FileChannel open(Path path, OpenOption[] options) throws IOException {
        return FileChannel.open(
                writes(java.util.Arrays.asList(options)) ? check(path) : path, options);
    }

    public static FileChannel open(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>[] attributes)
            throws IOException {
        return FileChannel.open(writes(options) ? check(path) : path, options, attributes);
    }

    public static Path createFile(Path path, FileAttribute<?>[] attributes) throws IOException {
        return Files.createFile(check(path), attributes);
    }

    public static Path createDirectory(Path path, FileAttribute<?>[] attributes)
            throws IOException {
        return Files.createDirectory(check(path), attributes);
    }

    public static Path createDirectories(Path path, FileAttribute<?>[] attributes)
            throws IOException {
        return Files.createDirectories(check(path), attributes);
    }

    public static Path createTempFile(
            Path dir, String prefix, String suffix, FileAttribute<?>[] attributes)
            throws IOException {
        return Files.createTempFile(check(dir), prefix, suffix, attributes);
    }

    public static Path createTempDirectory(
            Path dir, String prefix, FileAttribute<?>[] attributes) throws IOException {
        return Files.createTempDirectory(check(dir), prefix, attributes);
    }

    public static Path createLink(Path link, Path existing) throws IOException {
        return Files.createLink(check(link), check(existing));
    }

    public static Path createSymbolicLink(
            Path link, Path target, FileAttribute<?>[] attributes) throws IOException {
        return Files.createSymbolicLink(check(link), target, attributes);
    }

    public static Path setAttribute(
            Path path, String attribute, Object value, LinkOption[] options) throws IOException {
        return Files.setAttribute(check(path), attribute, value, options);
    }

    public static Path setLastModifiedTime(
            Path path, java.nio.file.attribute.FileTime time) throws IOException {
        return Files.setLastModifiedTime(check(path), time);
    }

    public static Path setPosixFilePermissions(
            Path path, Set<java.nio.file.attribute.PosixFilePermission> permissions)
            throws IOException {
        return Files.setPosixFilePermissions(check(path), permissions);
    }

    // The network.

    public static void connect(Socket socket, SocketAddress address) {
        throw blocked("connecting to " + address);
    }

    public static void connect(Socket socket, SocketAddress address, int timeout) {
        throw blocked("connecting to " + address);
    }

    public static void bind(ServerSocket socket, SocketAddress address) {
        throw blocked("listening on " + address);
    }

    public static void bind(ServerSocket socket, SocketAddress address, int backlog) {
        throw blocked("listening on " + address);
    }

    public static void send(DatagramSocket socket, java.net.DatagramPacket packet) {
        throw blocked("sending a packet");
    }

    public static boolean connect(SocketChannel channel, SocketAddress address) {
        throw blocked("connecting to " + address);
    }

    public static SocketChannel open(SocketAddress address) {
        throw blocked("connecting to " + address);
    }

    public static java.nio.channels.ServerSocketChannel bind(
            java.nio.channels.ServerSocketChannel channel, SocketAddress address) {
        throw blocked("listening on " + address);
    }

    public static java.nio.channels.ServerSocketChannel bind(
            java.nio.channels.ServerSocketChannel channel, SocketAddress address, int backlog) {
        throw blocked("listening on " + address);
    }

    /** Addresses in figures need no server to be found. */
    static String address(String host) {
        boolean isKnown = host == null
                || host.isEmpty()
                || host.equals("localhost")
                || host.indexOf(':') >= 0
                || host.matches("[0-9.]+");
        if (!isKnown) {
            throw blocked("asking for the address of " + host);
        }
        return host;
    }

    public static InetAddress getByName(String host) throws UnknownHostException {
        return InetAddress.getByName(address(host));
    }

    public static InetAddress[] getAllByName(String host) throws UnknownHostException {
        return InetAddress.getAllByName(address(host));
    }

    public static InetAddress getLocalHost() {
        throw blocked("asking for this computer's address");
    }

    public static String getHostName(InetAddress address) {
        if (address.isLoopbackAddress() || !address.toString().startsWith("/")) {
            return address.getHostName();
        }
        throw blocked("asking for the name of " + address);
    }

    public static String getCanonicalHostName(InetAddress address) {
        throw blocked("asking for the name of " + address);
    }

    public static boolean isReachable(InetAddress address, int timeout) {
        throw blocked("connecting to " + address);
    }

    private static URL local(URL url) {
        String protocol = url.getProtocol();
        if (!protocol.equals("file") && !protocol.equals("jar") && !protocol.equals("jrt")) {
            throw blocked("connecting to " + url);
        }
        return url;
    }

    public static InputStream openStream(URL url) throws IOException {
        return local(url).openStream();
    }

    public static Object getContent(URL url) throws IOException {
        return local(url).getContent();
    }

    public static URLConnection openConnection(URL url) throws IOException {
        return local(url).openConnection();
    }

    public static URLConnection openConnection(URL url, java.net.Proxy proxy) throws IOException {
        return local(url).openConnection(proxy);
    }

    public static java.net.http.HttpResponse<?> send(
            java.net.http.HttpClient client,
            java.net.http.HttpRequest request,
            java.net.http.HttpResponse.BodyHandler<?> handler) {
        throw blocked("connecting to " + request.uri());
    }

    public static java.util.concurrent.CompletableFuture<?> sendAsync(
            java.net.http.HttpClient client,
            java.net.http.HttpRequest request,
            java.net.http.HttpResponse.BodyHandler<?> handler) {
        throw blocked("connecting to " + request.uri());
    }

    // Clocks, and chance. A wrong clock goes fast, too, so that nothing takes no time; `now` has the name
    // of what it gives behind it.

    public static long currentTimeMillis() {
        return System.currentTimeMillis() + shift();
    }

    public static long nanoTime() {
        return System.nanoTime() + shift() * 1_000_000;
    }

    private static long shift() {
        return SHIFT == 0 ? 0 : SHIFT + 37L * ASKED.incrementAndGet();
    }

    public static double random() {
        double random = Math.random();
        return isLeft() ? random : isSmall() ? random / 1000 : 1 - (1 + random) / 1000;
    }

    /** Whether chance is small, or large if not, where it is neither left alone nor to be relied upon. */
    static boolean isLeft() {
        return SHIFT == 0;
    }

    static boolean isSmall() {
        return SHIFT < 0;
    }

    public static int nextInt(ThreadLocalRandom random, int bound) {
        return isLeft() || bound <= 0 ? random.nextInt(bound) : isSmall() ? 0 : bound - 1;
    }

    public static int nextInt(ThreadLocalRandom random, int origin, int bound) {
        boolean isLeft = isLeft() || origin >= bound;
        return isLeft ? random.nextInt(origin, bound) : isSmall() ? origin : bound - 1;
    }

    public static long nextLong(ThreadLocalRandom random, long bound) {
        return isLeft() || bound <= 0 ? random.nextLong(bound) : isSmall() ? 0 : bound - 1;
    }

    public static boolean nextBoolean(ThreadLocalRandom random) {
        return isLeft() ? random.nextBoolean() : isSmall();
    }

    public static double nextDouble(ThreadLocalRandom random) {
        return isLeft() ? random.nextDouble() : random();
    }

    private static Clock clock(ZoneId zone) {
        return Clock.offset(Clock.system(zone), Duration.ofMillis(shift()));
    }

    public static Clock systemUTC() {
        return SHIFT == 0 ? Clock.systemUTC() : clock(ZoneOffset.UTC);
    }

    public static Clock systemDefaultZone() {
        return SHIFT == 0 ? Clock.systemDefaultZone() : clock(ZoneId.systemDefault());
    }

    public static Clock system(ZoneId zone) {
        return SHIFT == 0 ? Clock.system(zone) : clock(zone);
    }

    public static Clock tickMillis(ZoneId zone) {
        return Clock.tick(system(zone), Duration.ofMillis(1));
    }

    public static Clock tickSeconds(ZoneId zone) {
        return Clock.tick(system(zone), Duration.ofSeconds(1));
    }

    public static Clock tickMinutes(ZoneId zone) {
        return Clock.tick(system(zone), Duration.ofMinutes(1));
    }

    public static Instant nowInstant() {
        return Instant.now(systemUTC());
    }

    public static LocalDate nowLocalDate() {
        return LocalDate.now(systemDefaultZone());
    }

    public static LocalDate nowLocalDate(ZoneId zone) {
        return LocalDate.now(system(zone));
    }

    public static LocalTime nowLocalTime() {
        return LocalTime.now(systemDefaultZone());
    }

    public static LocalTime nowLocalTime(ZoneId zone) {
        return LocalTime.now(system(zone));
    }

    public static LocalDateTime nowLocalDateTime() {
        return LocalDateTime.now(systemDefaultZone());
    }

    public static LocalDateTime nowLocalDateTime(ZoneId zone) {
        return LocalDateTime.now(system(zone));
    }

    public static ZonedDateTime nowZonedDateTime() {
        return ZonedDateTime.now(systemDefaultZone());
    }

    public static ZonedDateTime nowZonedDateTime(ZoneId zone) {
        return ZonedDateTime.now(system(zone));
    }

    public static OffsetDateTime nowOffsetDateTime() {
        return OffsetDateTime.now(systemDefaultZone());
    }

    public static OffsetDateTime nowOffsetDateTime(ZoneId zone) {
        return OffsetDateTime.now(system(zone));
    }

    public static OffsetTime nowOffsetTime() {
        return OffsetTime.now(systemDefaultZone());
    }

    public static MonthDay nowMonthDay() {
        return MonthDay.now(systemDefaultZone());
    }

    public static Year nowYear(ZoneId zone) {
        return Year.now(system(zone));
    }

    public static YearMonth nowYearMonth(ZoneId zone) {
        return YearMonth.now(system(zone));
    }

    public static Year nowYear() {
        return Year.now(systemDefaultZone());
    }

    public static YearMonth nowYearMonth() {
        return YearMonth.now(systemDefaultZone());
    }

    private static Calendar shifted(Calendar calendar) {
        if (SHIFT != 0) {
            calendar.setTimeInMillis(currentTimeMillis());
        }
        return calendar;
    }

    public static Calendar getInstance() {
        return shifted(Calendar.getInstance());
    }

    public static Calendar getInstance(TimeZone zone) {
        return shifted(Calendar.getInstance(zone));
    }

    public static Calendar getInstance(Locale locale) {
        return shifted(Calendar.getInstance(locale));
    }

    public static Calendar getInstance(TimeZone zone, Locale locale) {
        return shifted(Calendar.getInstance(zone, locale));
    }
}
