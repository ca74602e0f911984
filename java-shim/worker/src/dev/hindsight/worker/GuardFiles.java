package dev.hindsight.worker;

import java.io.BufferedWriter;
import java.io.File;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.Charset;
import java.nio.file.CopyOption;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.ProviderNotFoundException;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.AclEntry;
import java.nio.file.attribute.AttributeView;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.zip.ZipFile;

/** {@link Guard} for files: what is written and deleted stays in the directory for temporary files. */
public final class GuardFiles {
    private static final Path SCRATCH =
            real(Paths.get(System.getProperty("hindsight.scratch", ".")));

    private GuardFiles() {}

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
        Path file = file(path);
        if (file != null && !real(file).startsWith(SCRATCH)) {
            throw Guard.blocked("writing " + path);
        }
        return path;
    }

    /** The file that changes with a path: an archive, for what is in one. */
    private static Path file(Path path) {
        if (path == null || path.getFileSystem() == FileSystems.getDefault()) {
            return path;
        }
        // It says the archive's name of itself.
        boolean isArchive = path.getFileSystem().provider().getScheme().equals("jar");
        return isArchive ? Paths.get(path.getFileSystem().toString()) : null;
    }

    /** Gives back a file that may be opened like this. */
    static File checkOpen(File file, int mode) {
        if (file != null && (mode & ZipFile.OPEN_DELETE) != 0) {
            checkDelete(file.toPath());
        }
        return file;
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
            Guard.blocked("the pipes");
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
        if (path != null && path.getFileSystem() != FileSystems.getDefault()) {
            check(path);
            return;
        }
        Path parent = path == null ? null : path.toAbsolutePath().normalize().getParent();
        boolean isScratch = path != null && real(path).equals(SCRATCH);
        if (parent != null
                && (isScratch || !real(parent).startsWith(SCRATCH))) {
            throw Guard.blocked("deleting " + path);
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

    // The same where a class of the program is a file, and calls what it has from there.

    private static File plain(File file) {
        return new File(file.getPath());
    }

    public static boolean super_delete(File file) {
        return delete(plain(file));
    }

    public static void super_deleteOnExit(File file) {
        deleteOnExit(plain(file));
    }

    public static boolean super_renameTo(File file, File to) {
        return renameTo(plain(file), to);
    }

    public static boolean super_createNewFile(File file) throws IOException {
        return createNewFile(plain(file));
    }

    public static boolean super_mkdir(File file) {
        return mkdir(plain(file));
    }

    public static boolean super_mkdirs(File file) {
        return mkdirs(plain(file));
    }

    public static boolean super_setReadOnly(File file) {
        return setReadOnly(plain(file));
    }

    public static boolean super_setWritable(File file, boolean on) {
        return setWritable(plain(file), on);
    }

    public static boolean super_setWritable(File file, boolean on, boolean owner) {
        return setWritable(plain(file), on, owner);
    }

    public static boolean super_setReadable(File file, boolean on) {
        return setReadable(plain(file), on);
    }

    public static boolean super_setReadable(File file, boolean on, boolean owner) {
        return setReadable(plain(file), on, owner);
    }

    public static boolean super_setExecutable(File file, boolean on) {
        return setExecutable(plain(file), on);
    }

    public static boolean super_setExecutable(File file, boolean on, boolean owner) {
        return setExecutable(plain(file), on, owner);
    }

    public static boolean super_setLastModified(File file, long time) {
        return setLastModified(plain(file), time);
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

    public static Path setOwner(Path path, java.nio.file.attribute.UserPrincipal owner)
            throws IOException {
        return Files.setOwner(check(path), owner);
    }

    public static AsynchronousFileChannel openAsynchronousFileChannel(
            Path path, OpenOption[] options) throws IOException {
        return AsynchronousFileChannel.open(
                writes(java.util.Arrays.asList(options)) ? check(path) : path, options);
    }

    public static AsynchronousFileChannel openAsynchronousFileChannel(
            Path path,
            Set<? extends OpenOption> options,
            ExecutorService executor,
            FileAttribute<?>[] attributes)
            throws IOException {
        return AsynchronousFileChannel.open(
                writes(options) ? check(path) : path, options, executor, attributes);
    }

    // Files by what is below java.nio.

    public static void delete(FileSystemProvider provider, Path path) throws IOException {
        checkDelete(path);
        provider.delete(path);
    }

    public static boolean deleteIfExists(FileSystemProvider provider, Path path)
            throws IOException {
        checkDelete(path);
        return provider.deleteIfExists(path);
    }

    public static void move(FileSystemProvider provider, Path from, Path to, CopyOption[] options)
            throws IOException {
        checkDelete(from);
        provider.move(from, check(to), options);
    }

    public static void copy(FileSystemProvider provider, Path from, Path to, CopyOption[] options)
            throws IOException {
        provider.copy(from, check(to), options);
    }

    public static OutputStream newOutputStream(
            FileSystemProvider provider, Path path, OpenOption[] options) throws IOException {
        return provider.newOutputStream(check(path), options);
    }

    public static SeekableByteChannel newByteChannel(
            FileSystemProvider provider,
            Path path,
            Set<? extends OpenOption> options,
            FileAttribute<?>[] attributes)
            throws IOException {
        return provider.newByteChannel(writes(options) ? check(path) : path, options, attributes);
    }

    public static FileChannel newFileChannel(
            FileSystemProvider provider,
            Path path,
            Set<? extends OpenOption> options,
            FileAttribute<?>[] attributes)
            throws IOException {
        return provider.newFileChannel(writes(options) ? check(path) : path, options, attributes);
    }

    public static void createDirectory(
            FileSystemProvider provider, Path path, FileAttribute<?>[] attributes)
            throws IOException {
        provider.createDirectory(check(path), attributes);
    }

    public static void createLink(FileSystemProvider provider, Path link, Path existing)
            throws IOException {
        provider.createLink(check(link), check(existing));
    }

    public static void createSymbolicLink(
            FileSystemProvider provider, Path link, Path target, FileAttribute<?>[] attributes)
            throws IOException {
        provider.createSymbolicLink(check(link), target, attributes);
    }

    public static void setAttribute(
            FileSystemProvider provider,
            Path path,
            String attribute,
            Object value,
            LinkOption[] options)
            throws IOException {
        provider.setAttribute(check(path), attribute, value, options);
    }

    public static AsynchronousFileChannel newAsynchronousFileChannel(
            FileSystemProvider provider,
            Path path,
            Set<? extends OpenOption> options,
            ExecutorService executor,
            FileAttribute<?>[] attributes)
            throws IOException {
        return provider.newAsynchronousFileChannel(
                writes(options) ? check(path) : path, options, executor, attributes);
    }

    public static FileSystem newFileSystem(
            FileSystemProvider provider, URI uri, Map<String, ?> how) throws IOException {
        return provider.newFileSystem(checkArchive(uri, how), how);
    }

    public static FileSystem newFileSystem(
            FileSystemProvider provider, Path path, Map<String, ?> how) throws IOException {
        return provider.newFileSystem(checkArchive(path, how), how);
    }

    // Archives that are made where they are opened.

    private static boolean makes(Map<String, ?> how) {
        return how != null && "true".equals(String.valueOf(how.get("create")));
    }

    private static Path checkArchive(Path path, Map<String, ?> how) {
        return makes(how) ? check(path) : path;
    }

    private static URI checkArchive(URI uri, Map<String, ?> how) {
        if (uri != null && makes(how) && "jar".equalsIgnoreCase(uri.getScheme())) {
            String inner = uri.getRawSchemeSpecificPart();
            int end = inner.indexOf("!/");
            check(Paths.get(URI.create(end < 0 ? inner : inner.substring(0, end))));
        }
        return uri;
    }

    public static FileSystem newFileSystem(URI uri, Map<String, ?> how) throws IOException {
        return FileSystems.newFileSystem(checkArchive(uri, how), how);
    }

    public static FileSystem newFileSystem(URI uri, Map<String, ?> how, ClassLoader loader)
            throws IOException {
        return FileSystems.newFileSystem(checkArchive(uri, how), how, loader);
    }

    /** Since release 13. */
    public static FileSystem newFileSystem(Path path, Map<String, ?> how) throws IOException {
        return newFileSystem(path, how, null);
    }

    /** Since release 13; does what it does. */
    public static FileSystem newFileSystem(Path path, Map<String, ?> how, ClassLoader loader)
            throws IOException {
        checkArchive(path, how);
        for (FileSystemProvider provider : FileSystemProvider.installedProviders()) {
            try {
                return provider.newFileSystem(path, how);
            } catch (UnsupportedOperationException e) {
                // Perhaps the next one.
            }
        }
        if (loader != null) {
            for (FileSystemProvider provider : ServiceLoader.load(FileSystemProvider.class, loader)) {
                try {
                    return provider.newFileSystem(path, how);
                } catch (UnsupportedOperationException e) {
                    // Perhaps the next one.
                }
            }
        }
        throw new ProviderNotFoundException("Provider not found");
    }

    // Open directories, and views of attributes: what they are of is not known any more.

    private static Blocked unknown(String what) {
        return Guard.blocked(what + " of an unknown file");
    }

    public static void deleteFile(SecureDirectoryStream<?> in, Object path) {
        throw Guard.blocked("deleting " + path);
    }

    public static void deleteDirectory(SecureDirectoryStream<?> in, Object path) {
        throw Guard.blocked("deleting " + path);
    }

    public static void move(
            SecureDirectoryStream<?> in, Object from, SecureDirectoryStream<?> to, Object path) {
        throw Guard.blocked("deleting " + from);
    }

    public static <T> SeekableByteChannel newByteChannel(
            SecureDirectoryStream<T> in,
            Object path,
            Set<? extends OpenOption> options,
            FileAttribute<?>[] attributes)
            throws IOException {
        if (writes(options)) {
            throw Guard.blocked("writing " + path);
        }
        @SuppressWarnings("unchecked")
        T of = (T) path;
        return in.newByteChannel(of, options, attributes);
    }

    public static void setTimes(
            AttributeView view, FileTime modified, FileTime accessed, FileTime created) {
        throw unknown("setting times");
    }

    public static void setPermissions(AttributeView view, Set<PosixFilePermission> permissions) {
        throw unknown("setting permissions");
    }

    public static void setGroup(AttributeView view, GroupPrincipal group) {
        throw unknown("setting the group");
    }

    public static void setOwner(AttributeView view, UserPrincipal owner) {
        throw unknown("setting the owner");
    }

    public static void setAcl(AttributeView view, List<AclEntry> acl) {
        throw unknown("setting permissions");
    }

    public static void setReadOnly(AttributeView view, boolean on) {
        throw unknown("setting attributes");
    }

    public static void setHidden(AttributeView view, boolean on) {
        throw unknown("setting attributes");
    }

    public static void setSystem(AttributeView view, boolean on) {
        throw unknown("setting attributes");
    }

    public static void setArchive(AttributeView view, boolean on) {
        throw unknown("setting attributes");
    }

    public static int write(AttributeView view, String name, ByteBuffer value) {
        throw unknown("setting attributes");
    }

    public static void delete(AttributeView view, String name) {
        throw unknown("setting attributes");
    }
}
