package dev.hindsight.worker;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The program under test: its classes, and what it prints. */
final class Program {
    private Program() {}

    /** A class loader over entries of a class path, apart from our own classes. */
    static ClassLoader loader(String[] entries) throws MalformedURLException {
        URL[] urls = new URL[entries.length];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = new File(entries[i]).toURI().toURL();
        }
        return new Loader(urls);
    }

    /** Keeps class files for the next loader: jars take long to open. */
    private static final class Loader extends URLClassLoader {
        private static final Map<String, byte[]> FILES = new ConcurrentHashMap<>();
        private static final Map<String, CodeSource> SOURCES = new ConcurrentHashMap<>();

        Loader(URL[] urls) {
            super("program", urls, Program.class.getClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = FILES.get(name);
            if (bytes != null) {
                return defineClass(name, bytes, 0, bytes.length, SOURCES.get(name));
            }
            // The first loader does all that one does of packages and signers.
            Class<?> found = super.findClass(name);
            CodeSource source = found.getProtectionDomain().getCodeSource();
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in != null && source != null && source.getCodeSigners() == null) {
                    SOURCES.put(name, source);
                    FILES.put(name, in.readAllBytes());
                }
            } catch (IOException e) {
                // Read again the next time.
            }
            return found;
        }
    }

    private static final int PLACE = (int) (Long.getLong("hindsight.shift", 0) % 13);
    private static int turns;

    /**
     * Makes what depends on numbers that the JVM gives to objects another thing each time; in the same
     * way each time that the same is done.
     */
    static void stir() {
        for (int left = ++turns * 0x9e3779b9 + PLACE * 0x85ebca6b >>> 28; left > 0; left--) {
            System.identityHashCode(new Object());
        }
    }

    /** What the program prints goes nowhere, and it reads nothing. */
    static void silence() {
        // The guard must know its directory before the program can say another one.
        Guard.count();
        PrintStream sink = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(sink);
        System.setErr(sink);
        System.setIn(InputStream.nullInputStream());
    }
}
