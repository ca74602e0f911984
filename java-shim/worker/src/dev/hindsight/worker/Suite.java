package dev.hindsight.worker;

import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

/**
 * Runs emitted tests: {@code Suite MILLISECONDS LIST RESULTS ENTRY...}. The list has a number, class and
 * method on each line; the results get a line each: the number, {@code passed}, {@code failed} or {@code
 * timeout}, and what was thrown. The JVM ends after a test that takes too long.
 */
public final class Suite {
    private static final int PATIENCE = 5;
    private static final Thread RUNNER = Thread.currentThread();

    private static volatile String current;
    private static volatile long startedWall;
    private static volatile long startedCpu;

    private Suite() {}

    /** Runs the tests of the list in its order. */
    public static void main(String[] arguments) throws Exception {
        long limit = Long.parseLong(arguments[0]);
        List<String> tests = Files.readAllLines(Paths.get(arguments[1]), StandardCharsets.UTF_8);
        Path results = Paths.get(arguments[2]);
        String[] entries = new String[arguments.length - 3];
        System.arraycopy(arguments, 3, entries, 0, entries.length);
        ClassLoader loader = Program.loader(entries);
        RUNNER.setContextClassLoader(loader);
        Writer out = Files.newBufferedWriter(results, StandardCharsets.UTF_8);
        Program.silence();
        Thread monitor = new Thread(() -> watch(limit, out), "hindsight-monitor");
        monitor.setDaemon(true);
        monitor.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (String test : tests) {
            String[] parts = test.split("\t");
            startedWall = System.nanoTime();
            startedCpu = threads.getCurrentThreadCpuTime();
            current = parts[0];
            Throwable thrown = run(loader, parts[1], parts[2]);
            synchronized (out) {
                current = null;
                tell(out, parts[0], thrown == null ? "passed" : "failed", thrown);
            }
        }
        synchronized (out) {
            out.close();
        }
        Runtime.getRuntime().halt(0);
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

    private static void watch(long limit, Writer out) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        while (true) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                continue;
            }
            String watched = current;
            if (watched == null) {
                continue;
            }
            long wall = System.nanoTime() - startedWall;
            long cpu = threads.getThreadCpuTime(RUNNER.getId()) - startedCpu;
            if (cpu < limit * 1_000_000 && wall < PATIENCE * limit * 1_000_000) {
                continue;
            }
            synchronized (out) {
                if (!watched.equals(current)) {
                    continue;
                }
                try {
                    tell(out, watched, "timeout", null);
                    out.close();
                } catch (IOException e) {
                    // The analyzer sees that there is no result.
                }
                Runtime.getRuntime().halt(0);
            }
        }
    }

    private static void tell(Writer out, String test, String how, Throwable thrown)
            throws IOException {
        String message = "";
        if (thrown != null) {
            try {
                message = thrown.getClass().getName() + ": " + thrown.getMessage();
            } catch (Throwable e) {
                message = thrown.getClass().getName();
            }
        }
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < message.length() && i < 1000; i++) {
            char unit = message.charAt(i);
            line.append(unit < 0x20 || Character.isSurrogate(unit) ? ' ' : unit);
        }
        out.write(test + "\t" + how + "\t" + line + "\n");
    }
}
