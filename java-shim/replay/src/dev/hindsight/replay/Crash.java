package dev.hindsight.replay;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.SoftReference;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A recorded crash.
 *
 * <pre>{@code
 * Frame frame = Crash.of(ParserTest.class, "crash-0001.hsc").frame(0);
 * Call.method(frame.receiver(), "org.acme.Parser", "parse", "(I)V", frame.argument(1));
 * }</pre>
 */
public final class Crash {
    /**
     * Decoded files by address, since the tests of one class all use the same file. If one JVM runs
     * the tests of many crashes, files are dropped before memory runs out.
     */
    private static final Map<String, SoftReference<CrashFile>> CACHE = new ConcurrentHashMap<>();

    private final CrashFile file;
    private final ClassLoader loader;
    private final boolean statics;

    private Crash(CrashFile file, ClassLoader loader, boolean statics) {
        this.file = file;
        this.loader = loader;
        this.statics = statics;
    }

    /**
     * Reads the resource {@code name} that stands in the package of {@code anchor}.
     *
     * <p>The file is read and decoded once, as long as there is memory for it; each {@link #frame}
     * is still a graph of its own. The recorded classes are looked up with the class loader of
     * {@code anchor}.
     *
     * @param anchor the test
     * @param name file name of the resource
     * @return the crash
     * @throws ReplayException if there is no such resource, or it is not a whole crash file
     */
    public static Crash of(Class<?> anchor, String name) {
        Objects.requireNonNull(anchor, "anchor");
        URL url = anchor.getResource(name);
        if (url == null) {
            throw new ReplayException("no resource " + name + " beside " + anchor.getName()
                    + ": put the crash file on the class path, in the package of the test");
        }
        CrashFile[] file = new CrashFile[1];
        CACHE.compute(url.toString(), (key, known) -> {
            file[0] = known == null ? null : known.get();
            if (file[0] != null) {
                return known;
            }
            file[0] = read(url, name);
            return new SoftReference<>(file[0]);
        });
        return new Crash(file[0], anchor.getClassLoader(), false);
    }

    private static CrashFile read(URL url, String name) {
        try (InputStream in = url.openStream()) {
            return CrashFile.read(in.readAllBytes(), name);
        } catch (IOException e) {
            throw new ReplayException("failed to read resource " + url + ": " + e, e);
        } catch (OutOfMemoryError e) {
            throw ReplayException.of(name, e);
        }
    }

    /**
     * Reads a file. The recorded classes are looked up with the context class loader.
     *
     * @param file the crash file
     * @return the crash
     * @throws ReplayException if it cannot be read, or is not a whole crash file
     */
    public static Crash of(Path file) {
        try {
            return new Crash(CrashFile.read(Files.readAllBytes(file), file.toString()), null, false);
        } catch (IOException e) {
            throw new ReplayException("failed to read crash file " + file + ": " + e, e);
        } catch (OutOfMemoryError e) {
            throw ReplayException.of(file.toString(), e);
        }
    }

    /**
     * Restores the state at the entry of a frame.
     *
     * <p>Each call builds a graph of its own, so tests cannot disturb each other.
     *
     * @param index number of the frame; 0 is the one that threw
     * @return its receiver and arguments
     * @throws ReplayException if there is no such frame, or it was not captured
     */
    public Frame frame(int index) {
        return Frame.restore(file, index, loader, statics);
    }

    /**
     * The same crash, whose frames can set static fields and fields of enum constants: these share
     * their objects with the frame's arguments.
     *
     * @return a crash whose frames have {@link Frame#setStatics}
     */
    public Crash withStatics() {
        return new Crash(file, loader, true);
    }
}
