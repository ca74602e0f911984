package dev.hindsight.worker;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.net.JarURLConnection;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.security.CodeSigner;
import java.security.CodeSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.Manifest;

/** The program under test: its classes and its output. */
final class Program {
    private Program() {}

    /** A class loader for entries of a class path, separate from our own classes. */
    static ClassLoader loader(String[] entries) throws MalformedURLException {
        URL[] urls = new URL[entries.length];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = new File(entries[i]).toURI().toURL();
        }
        return new Loader(urls);
    }

    /** The lookup with the rights of the program's code, by its loader. */
    static MethodHandles.Lookup lookup(ClassLoader loader) throws ReflectiveOperationException {
        return (MethodHandles.Lookup) ((Loader) loader).inside().getMethod("lookup").invoke(null);
    }

    /**
     * Defines classes without the signers of their jars: some classes of a package are rewritten,
     * and the JVM requires all of one package to have the same signers. It keeps class files for
     * the next loader, because jars take long to open.
     */
    private static final class Loader extends URLClassLoader {
        private static final Map<String, Found> FOUND = new ConcurrentHashMap<>();

        Loader(URL[] urls) {
            // It has no name, which would appear in texts of stack traces.
            super(urls, Program.class.getClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            Found found = FOUND.get(name);
            if (found == null) {
                found = find(name);
                FOUND.put(name, found);
            }
            int dot = name.lastIndexOf('.');
            if (dot > 0 && getDefinedPackage(name.substring(0, dot)) == null) {
                define(name.substring(0, dot), found);
            }
            CodeSource source = new CodeSource(found.entry, (CodeSigner[]) null);
            return defineClass(name, found.bytes, 0, found.bytes.length, source);
        }

        Class<?> inside() throws ClassNotFoundException {
            String name = Inside.class.getName();
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            try (InputStream in = Program.class.getResourceAsStream("Inside.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        private void define(String name, Found found) {
            try {
                definePackage(name, found.manifest, found.entry);
            } catch (IllegalArgumentException e) {
                // Another thread has defined it.
            }
        }

        private Found find(String name) throws ClassNotFoundException {
            String path = name.replace('.', '/') + ".class";
            URL url = findResource(path);
            if (url == null) {
                throw new ClassNotFoundException(name);
            }
            try {
                URLConnection connection = url.openConnection();
                try (InputStream in = connection.getInputStream()) {
                    byte[] bytes = in.readAllBytes();
                    if (connection instanceof JarURLConnection) {
                        JarURLConnection jar = (JarURLConnection) connection;
                        return new Found(bytes, jar.getJarFileURL(), jar.getManifest());
                    }
                    String directory = url.toString();
                    directory = directory.substring(0, directory.length() - path.length());
                    return new Found(bytes, new URL(directory), new Manifest());
                }
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** A class file, and the code source of its class. */
    private static final class Found {
        final byte[] bytes;
        final URL entry;
        final Manifest manifest;

        Found(byte[] bytes, URL entry, Manifest manifest) {
            this.bytes = bytes;
            this.entry = entry;
            this.manifest = manifest == null ? new Manifest() : manifest;
        }
    }

    /**
     * If identity hash codes count up from 1, the first ones are used up, so that all have four
     * digits, as elsewhere.
     */
    private static final int FIRST = 0x1000;

    static {
        for (int used = 0; used < FIRST; used++) {
            nextHash();
        }
    }

    /** Whether identity hash codes count up, so that it is known how many objects have got one. */
    static final boolean COUNTS_HASHES = nextHash() + 1 == nextHash();

    /** The identity hash code of a new object. */
    static int nextHash() {
        return System.identityHashCode(new Object());
    }

    /** A number that differs between the JVMs that run the program; 0 for the first one. */
    static final int PLACE = (int) (Long.getLong("hindsight.shift", 0) % 13);
    private static int turns;

    /**
     * Varies what depends on numbers that the JVM gives to objects, in the same way each time that
     * the same is done.
     */
    static void stir() {
        for (int left = ++turns * 0x9e3779b9 + PLACE * 0x85ebca6b >>> 28; left > 0; left--) {
            nextHash();
        }
    }

    /** Discards what the program prints, and lets it read nothing. */
    static void silence() {
        // The guard must know its directory before the program can change the property.
        Guard.count();
        if (PLACE != 0) {
            // Test runners have other names for the threads.
            Thread.currentThread().setName("test worker");
        }
        PrintStream sink = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(sink);
        System.setErr(sink);
        System.setIn(new Unread());
    }
}
