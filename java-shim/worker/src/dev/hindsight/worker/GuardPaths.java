package dev.hindsight.worker;

import static dev.hindsight.worker.GuardFiles.check;
import static dev.hindsight.worker.GuardFiles.checkDelete;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ExecutorService;

/**
 * The {@link GuardFiles} of {@code java.nio}: paths and channels, with what is below them
 * (providers, archives, open directories, views of attributes).
 */
public final class GuardPaths {
    private GuardPaths() {}

    private static boolean writes(Iterable<? extends OpenOption> options) {
        for (OpenOption option : options) {
            if (option != StandardOpenOption.READ && !(option instanceof LinkOption)) {
                return true;
            }
        }
        return false;
    }

    /** Returns a path if it may be opened in this way. */
    private static Path checkOpen(Path path, Iterable<? extends OpenOption> options) {
        return writes(options) ? check(path) : path;
    }

    // Files.

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
        return Files.newByteChannel(checkOpen(path, Arrays.asList(options)), options);
    }

    public static SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>[] attributes)
            throws IOException {
        return Files.newByteChannel(checkOpen(path, options), options, attributes);
    }

    public static FileChannel open(Path path, OpenOption[] options) throws IOException {
        return FileChannel.open(checkOpen(path, Arrays.asList(options)), options);
    }

    public static FileChannel open(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>[] attributes)
            throws IOException {
        return FileChannel.open(checkOpen(path, options), options, attributes);
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

    /**
     * Returns a link's target if a link may lead there: what follows the link by its name need not
     * ask.
     */
    private static Path checkTarget(Path link, Path target) {
        check(link.resolveSibling(target));
        return target;
    }

    public static Path createSymbolicLink(
            Path link, Path target, FileAttribute<?>[] attributes) throws IOException {
        return Files.createSymbolicLink(check(link), checkTarget(link, target), attributes);
    }

    public static Path setAttribute(
            Path path, String attribute, Object value, LinkOption[] options) throws IOException {
        return Files.setAttribute(check(path), attribute, value, options);
    }

    public static Path setLastModifiedTime(
            Path path, FileTime time) throws IOException {
        return Files.setLastModifiedTime(check(path), time);
    }

    public static Path setPosixFilePermissions(
            Path path, Set<PosixFilePermission> permissions)
            throws IOException {
        return Files.setPosixFilePermissions(check(path), permissions);
    }

    public static Path setOwner(Path path, UserPrincipal owner)
            throws IOException {
        return Files.setOwner(check(path), owner);
    }

    public static AsynchronousFileChannel openAsynchronousFileChannel(
            Path path, OpenOption[] options) throws IOException {
        return AsynchronousFileChannel.open(checkOpen(path, Arrays.asList(options)), options);
    }

    public static AsynchronousFileChannel openAsynchronousFileChannel(
            Path path,
            Set<? extends OpenOption> options,
            ExecutorService executor,
            FileAttribute<?>[] attributes)
            throws IOException {
        return AsynchronousFileChannel.open(
                checkOpen(path, options), options, executor, attributes);
    }

    // Providers, which Files uses.

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
        return provider.newByteChannel(checkOpen(path, options), options, attributes);
    }

    public static FileChannel newFileChannel(
            FileSystemProvider provider,
            Path path,
            Set<? extends OpenOption> options,
            FileAttribute<?>[] attributes)
            throws IOException {
        return provider.newFileChannel(checkOpen(path, options), options, attributes);
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
        provider.createSymbolicLink(check(link), checkTarget(link, target), attributes);
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
                checkOpen(path, options), options, executor, attributes);
    }

    public static FileSystem newFileSystem(
            FileSystemProvider provider, URI uri, Map<String, ?> how) throws IOException {
        return provider.newFileSystem(checkArchive(uri, how), how);
    }

    public static FileSystem newFileSystem(
            FileSystemProvider provider, Path path, Map<String, ?> how) throws IOException {
        return provider.newFileSystem(checkArchive(path, how), how);
    }

    // Archives that are created when they are opened.

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

    /** As of release 13. */
    public static FileSystem newFileSystem(Path path, Map<String, ?> how) throws IOException {
        return newFileSystem(path, how, null);
    }

    /** As the method of this name since release 13. */
    public static FileSystem newFileSystem(Path path, Map<String, ?> how, ClassLoader loader)
            throws IOException {
        checkArchive(path, how);
        for (FileSystemProvider provider : FileSystemProvider.installedProviders()) {
            try {
                return provider.newFileSystem(path, how);
            } catch (UnsupportedOperationException e) {
                // The next provider may accept it.
            }
        }
        if (loader != null) {
            for (FileSystemProvider provider : ServiceLoader.load(FileSystemProvider.class, loader)) {
                try {
                    return provider.newFileSystem(path, how);
                } catch (UnsupportedOperationException e) {
                    // The next provider may accept it.
                }
            }
        }
        throw new ProviderNotFoundException("Provider not found");
    }

    // Open directories, and views of attributes, whose paths are not known any more.

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
