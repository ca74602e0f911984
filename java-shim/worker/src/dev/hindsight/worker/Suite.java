package dev.hindsight.worker;

import java.io.IOException;
import java.io.Writer;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

/**
 * Runs emitted tests: {@code Suite MILLISECONDS LIST RESULTS ENTRY...}. The list has a number, a
 * class and a method on each line. Each line of the results has the number, {@code passed}, {@code
 * failed} or {@code timeout}, and the exception; a line {@code harm} follows if another thread
 * attempted what it must not do, then or shortly after. The JVM ends after a test that takes too
 * long, and with {@link #TIRED} if the tests have left too many threads. With the property {@code
 * hindsight.threads} each test has a thread of its own, in which it does not find thread-local
 * values of others.
 */
public final class Suite {
    /** The status with which the JVM ends if another one should run the remaining tests. */
    private static final int TIRED = 3;

    private static volatile String current;

    /** The watch of the thread that runs the current test. */
    private static volatile Watch watch;

    private Suite() {}

    /** Runs the tests in the order of the list. */
    public static void main(String[] arguments) throws Exception {
        Ends.choose();
        long limit = Long.parseLong(arguments[0]);
        watch = new Watch(Thread.currentThread(), limit);
        boolean alone = Boolean.getBoolean("hindsight.threads");
        List<String> tests = Files.readAllLines(Paths.get(arguments[1]), StandardCharsets.UTF_8);
        Path results = Paths.get(arguments[2]);
        String[] entries = new String[arguments.length - 3];
        System.arraycopy(arguments, 3, entries, 0, entries.length);
        ClassLoader loader = Program.loader(entries);
        Thread.currentThread().setContextClassLoader(loader);
        Writer out = Files.newBufferedWriter(results, StandardCharsets.UTF_8);
        Program.silence();
        Thread monitor = new Thread(() -> watch(out), "hindsight-monitor");
        monitor.setDaemon(true);
        monitor.start();
        Shared shared = new Shared();
        Leftovers leftovers = new Leftovers();
        Beside beside = new Beside(leftovers);
        int status = 0;
        Hooks.keep();
        Later later = new Later();
        for (String test : tests) {
            String[] parts = test.split("\t");
            Program.stir();
            beside.begin();
            Throwable[] thrown = new Throwable[1];
            String[] message = new String[1];
            Runnable runs = () -> {
                Guard.runOn(Thread.currentThread());
                watch.start();
                current = parts[0];
                thrown[0] = run(loader, parts[1], parts[2]);
                if (shared.putBack(loader) && thrown[0] == null) {
                    thrown[0] = new IllegalStateException("what all tests of a JVM share is not as it was");
                }
                if (Hooks.areLeft() && thrown[0] == null) {
                    thrown[0] = new IllegalStateException("what runs when the JVM ends is left");
                }
                message[0] = said(thrown[0]);
            };
            if (alone) {
                Thread thread = new Thread(runs, Thread.currentThread().getName());
                watch = new Watch(thread, limit);
                thread.start();
                join(thread);
            } else {
                runs.run();
            }
            beside.end();
            synchronized (out) {
                current = null;
                tell(out, parts[0], thrown[0] == null ? "passed" : "failed", message[0]);
            }
            if (leftovers.areTooMany()) {
                status = TIRED;
                break;
            }
        }
        try {
            later.await();
        } catch (Throwable e) {
            // No memory or threads are left, or a hook cannot even be started: this is as late as
            // possible.
        } finally {
            end(out, status);
        }
    }

    private static Throwable run(ClassLoader loader, String className, String methodName) {
        try {
            Class<?> type = Class.forName(className, true, loader);
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            Method method = type.getDeclaredMethod(methodName);
            method.setAccessible(true);
            method.invoke(constructor.newInstance());
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (Throwable e) {
            return e;
        }
    }

    private static void join(Thread thread) {
        while (true) {
            try {
                thread.join();
                return;
            } catch (InterruptedException e) {
                // The program may interrupt any thread.
            }
        }
    }

    private static void watch(Writer out) {
        while (true) {
            try {
                Thread.sleep(20);
                look(out);
            } catch (Throwable e) {
                // The program may interrupt any thread, and may have used up all memory.
            }
        }
    }

    /** Ends the JVM if the test takes too long. */
    private static void look(Writer out) {
        String watched = current;
        if (watched == null || !watch.isLate()) {
            return;
        }
        synchronized (out) {
            if (!watched.equals(current)) {
                return;
            }
            try {
                tell(out, watched, "timeout", "");
                close(out);
            } catch (IOException e) {
                // The analyzer sees that the result is missing.
            } finally {
                Runtime.getRuntime().halt(0);
            }
        }
    }

    /** The message of an exception, which may be computed by code of the program. */
    private static String said(Throwable thrown) {
        if (thrown == null) {
            return "";
        }
        try {
            return thrown.getClass().getName() + ": " + thrown.getMessage();
        } catch (Throwable e) {
            return thrown.getClass().getName();
        }
    }

    /** Ends the JVM, even if the remaining results cannot be written. */
    private static void end(Writer out, int status) {
        try {
            synchronized (out) {
                close(out);
            }
        } catch (IOException e) {
            // The analyzer sees that the result is missing.
        } finally {
            Runtime.getRuntime().halt(status);
        }
    }

    private static void close(Writer out) throws IOException {
        if (Guard.beside() > 0) {
            out.write("harm\n");
        }
        out.close();
    }

    private static void tell(Writer out, String test, String how, String message)
            throws IOException {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < message.length() && i < 1000; i++) {
            char unit = message.charAt(i);
            line.append(unit < 0x20 || Character.isSurrogate(unit) ? ' ' : unit);
        }
        out.write(test + "\t" + how + "\t" + line + "\n");
        // The next test may end the JVM, which must not be blamed on this one.
        out.flush();
    }
}
