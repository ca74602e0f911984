package dev.hindsight.worker;

import java.io.File;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.zip.ZipFile;

/**
 * The {@link Guard} of files: writes and deletions are confined to the directory for temporary
 * files. Those of {@code java.nio} are in {@link GuardPaths}.
 */
public final class GuardFiles {
    /** The most links on one path that the kernel follows before it fails. */
    private static final int MAX_LINKS = 40;

    private static final Path SCRATCH =
            real(Paths.get(System.getProperty("hindsight.scratch", ".")));

    private GuardFiles() {}

    /**
     * The path without links, as the kernel follows it, whether there is a file or not: a link may
     * lead to none, and the parent of its target is not the parent of the link.
     */
    private static Path real(Path path) {
        Path absolute = path.toAbsolutePath();
        Path root = absolute.getRoot();
        Path found = root;
        Deque<Path> names = new ArrayDeque<>();
        absolute.forEach(names::add);
        int links = 0;
        while (!names.isEmpty()) {
            // Without links above it, one dot and two mean what they say.
            found = found.resolve(names.pop()).normalize();
            if (!Files.isSymbolicLink(found)) {
                continue;
            }
            links++;
            try {
                Path target = Files.readSymbolicLink(found);
                for (int at = target.getNameCount() - 1; at >= 0; at--) {
                    names.push(target.getName(at));
                }
                found = target.isAbsolute() ? root : found.getParent();
            } catch (IOException e) {
                links = MAX_LINKS + 1; // nobody knows
            }
            if (links > MAX_LINKS) {
                return root;
            }
        }
        return found;
    }

    /** Returns a path if it may be written. */
    static Path check(Path path) {
        Path file = file(path);
        if (file != null && !real(file).startsWith(SCRATCH)) {
            throw Guard.blocked("writing " + path);
        }
        return path;
    }

    /** The file that changes with a path: within an archive, the archive. */
    private static Path file(Path path) {
        if (path == null || path.getFileSystem() == FileSystems.getDefault()) {
            return path;
        }
        // Its text is the archive's name.
        boolean isArchive = path.getFileSystem().provider().getScheme().equals("jar");
        return isArchive ? Paths.get(path.getFileSystem().toString()) : null;
    }

    /** A file's path, or null if the JDK itself takes it to be invalid. */
    private static Path path(File file) {
        if (file.getPath().indexOf('\0') >= 0) {
            return null;
        }
        try {
            return file.toPath();
        } catch (InvalidPathException e) {
            // Classes of java.io replace what cannot be encoded, and by what is not known here.
            throw Guard.blocked("writing " + file);
        }
    }

    /** Returns a file if it may be opened in this mode. */
    static File checkOpen(File file, int mode) {
        if (file != null && (mode & ZipFile.OPEN_DELETE) != 0) {
            checkDelete(path(file));
        }
        return file;
    }

    /** Returns a file if it may be written. */
    static File check(File file) {
        if (file != null) {
            check(path(file));
        }
        return file;
    }

    /** Returns the name of a file if it may be written. */
    static String check(String name) {
        if (name != null) {
            check(new File(name));
        }
        return name;
    }

    /** Returns a descriptor unless it is one of the pipes to the analyzer, which is counted. */
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

    /** A descriptor from which nothing can be read and whose output is discarded. */
    private static FileDescriptor nowhere() {
        try {
            return new RandomAccessFile("/dev/null", "rw").getFD();
        } catch (IOException e) {
            return new FileDescriptor(); // which can neither be read nor written
        }
    }

    /** Checks a deletion, which removes a link itself and not its target. */
    static void checkDelete(Path path) {
        if (path != null && path.getFileSystem() != FileSystems.getDefault()) {
            check(path);
            return;
        }
        Path absolute = path == null ? null : path.toAbsolutePath();
        Path parent = absolute == null ? null : absolute.getParent();
        if (parent == null) {
            return;
        }
        Path link = real(parent).resolve(absolute.getFileName()).normalize();
        if (!link.startsWith(SCRATCH) || link.equals(SCRATCH)) {
            throw Guard.blocked("deleting " + path);
        }
    }

    // Files.

    public static boolean delete(File file) {
        checkDelete(path(file));
        return file.delete();
    }

    public static void deleteOnExit(File file) {
        // The directory is deleted as a whole.
        checkDelete(path(file));
    }

    public static boolean renameTo(File file, File to) {
        checkDelete(path(file));
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

    // The same for a class of the program that is a file and calls its inherited methods.

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
}
