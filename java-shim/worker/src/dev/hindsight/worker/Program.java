package dev.hindsight.worker;

import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;

/** The program under test: its classes, and what it prints. */
final class Program {
    private Program() {}

    /** A class loader over entries of a class path, apart from our own classes. */
    static ClassLoader loader(String[] entries) throws MalformedURLException {
        URL[] urls = new URL[entries.length];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = new File(entries[i]).toURI().toURL();
        }
        return new URLClassLoader("program", urls, Program.class.getClassLoader());
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
