package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Tests of the runner, each in a JVM of its own. */
final class RunnerTests {
    private RunnerTests() {}

    /** A class that looks to the runner like an emitted test. */
    static class Sample {
        Sample() {}

        void passes() {
            System.out.print("the program's own output");
            new Thread(() -> {
                while (true) {
                    Thread.onSpinWait();
                }
            }).start();
        }

        void fails() {
            Call.class.getName();
            throw new IllegalStateException("quote \" and \n \ud800", new Error(new Exception()));
        }

        void loads() {
            Crash.of(Paths.get(System.getProperty("crash"))).frame(0).argument(1);
        }

        void misses() {
            Crash.of(Sample.class, "none.hsc");
        }

        void exits() {
            System.exit(5);
        }

        void overflows() {
            overflows();
        }

        void exhausts() {
            java.util.List<byte[]> all = new java.util.ArrayList<>();
            while (true) {
                all.add(new byte[1 << 20]);
            }
        }

        static Object[] kept;

        void fillsTheHeap() {
            while (true) {
                Object[] more = new Object[50];
                more[0] = kept;
                kept = more;
            }
        }

        void cannotAnswer() {
            throw new RuntimeException() {
                private static final long serialVersionUID = 1L;

                @Override
                public String getMessage() {
                    throw new IllegalStateException();
                }

                @Override
                public StackTraceElement[] getStackTrace() {
                    throw new IllegalStateException();
                }

                @Override
                public synchronized Throwable getCause() {
                    return this;
                }
            };
        }

        void hasNoTrace() {
            throw new IllegalStateException(new RuntimeException() {
                private static final long serialVersionUID = 1L;

                @Override
                public StackTraceElement[] getStackTrace() {
                    return null;
                }
            });
        }

        void tellsItsCauseItself() {
            class Own extends RuntimeException {
                private static final long serialVersionUID = 1L;
                final Throwable inner = new Error(new InvocationTargetException(new Exception()));

                @Override
                public synchronized Throwable getCause() {
                    throw new IllegalStateException();
                }
            }
            throw new Own();
        }

        void passesAnException() {
            Exception given = new Exception();
            Runner.passed(given);
            throw new IllegalStateException(new Error(given));
        }

        void doesNotLink() {
            Gone.run();
        }

        void programDoesNotLink() {
            Program.run();
        }

        void initialises() {
            Failing.run();
        }
    }

    static final class Failing {
        static final int NUMBER = Integer.parseInt("80x");

        static void run() {}
    }

    static final class Program {
        static void run() {
            Gone.run();
        }
    }

    /** A class whose file is removed before the tests run, see the script. */
    static final class Gone {
        static void run() {}
    }

    static class NoTest {
        NoTest(int x) {}

        void run() {}
    }

    static void passed() throws Exception {
        String json = run("passes");
        check(json.startsWith("{\"outcome\":\"passed\",\"exception\":null,\"message\":null,\"detail\":null,"
                + "\"stack\":[],\"chain\":[],\"cause\":null,\"root\":null,"
                + "\"given\":null,\"reason\":null,\"holes\":[],\"unrestored\":[],\"restored\":false,\"failing\":[]}"), json);
    }

    static void threw() throws Exception {
        has(run("fails"), "\"outcome\":\"threw\"", "\"java.lang.IllegalStateException\"",
                "\"quote \\\" and \\u000a \\ud800\"", "\"method\":\"fails\"",
                "\"file\":\"RunnerTests.java\"",
                "\"chain\":[\"java.lang.Error\",\"java.lang.Exception\"]",
                "\"cause\":{\"exception\":\"java.lang.Error\",",
                "\"root\":{\"exception\":\"java.lang.Exception\",", "\"given\":null,\"reason\":null",
                "\"failing\":[]");
        has(run("tellsItsCauseItself"), "\"chain\":[\"java.lang.Error\","
                + "\"java.lang.reflect.InvocationTargetException\",\"java.lang.Exception\"]",
                "\"failing\":[\"" + Sample.class.getName() + "$1Own.getCause\"");
        has(run("passesAnException"), "\"given\":\"java.lang.Exception\"", "\"restored\":false");
        has(run("initialises"), "\"threw\"", "ExceptionInInitializerError",
                "\"root\":{\"exception\":\"java.lang.NumberFormatException\"",
                "\"method\":\"<clinit>\"");
        has(run("overflows"), "\"threw\"", "StackOverflowError", "\"method\":\"overflows\"");
        has(run("exhausts"), "\"threw\"", "OutOfMemoryError", "\"method\":\"exhausts\"");
        String type = Sample.class.getName() + "$1";
        has(run("cannotAnswer"), "\"threw\"", type, "\"message\":null", "\"method\":\"cannotAnswer\"",
                "\"failing\":[\"" + type + ".getMessage\",\"" + type + ".getLocalizedMessage\",\""
                + type + ".toString\",\"" + type + ".getStackTrace\",\"" + type + ".printStackTrace\"]");
        has(run("hasNoTrace"), "\"threw\"", "\"method\":\"hasNoTrace\"",
                "\"failing\":[\"" + Sample.class.getName() + "$2.getStackTrace\"]");
        has(run("programDoesNotLink"), "\"threw\"", "NoClassDefFoundError");
    }

    /** In one JVM, each test has memory to be reported. */
    static void memoryRunsOutAgain() throws Exception {
        String[] all = runAll(Sample.class.getName(), "fails", "exhausts", "fillsTheHeap", "fillsTheHeap");
        has(all[0], "IllegalStateException");
        for (int i = 1; i < all.length; i++) {
            has(all[i], "\"threw\"", "OutOfMemoryError");
        }
    }

    static void exited() throws Exception {
        has(run("exits"), "\"outcome\":\"exited\"");
    }

    static void broken() throws Exception {
        has(run("misses"), "\"outcome\":\"broken\"", "no resource none.hsc", "ReplayException");
        has(run("nothing"), "\"broken\"", "cannot be loaded", "no such method");
        has(run("doesNotLink"), "\"broken\"", "RunnerTests$Gone is missing");
        has(run("no.such.Test", "run"), "\"broken\"", "class no.such.Test is missing");
        has(run(NoTest.class.getName(), "run"), "\"broken\"", "no such method");
        Error failed = new NoClassDefFoundError("Could not initialize class a.B");
        has(Classes.reason(failed), "the static initializer of a.B has failed");
    }

    static void holesAreReported() throws Exception {
        has(run("loads"), "\"passed\"", "\"holes\":[\"java.lang.Thread: thread\"]");
    }

    private static void has(String json, String... parts) {
        for (String part : parts) {
            check(json.contains(part), "no " + part + " in " + json);
        }
    }

    private static String run(String method) throws Exception {
        return run(Sample.class.getName(), method);
    }

    private static String run(String type, String method) throws Exception {
        return runAll(type, method)[0];
    }

    private static String[] runAll(String type, String... methods) throws Exception {
        Path folder = Files.createTempDirectory("hindsight");
        Path crash = folder.resolve("crash.hsc");
        Snapshot snapshot = new Snapshot();
        Files.write(crash, snapshot.frame(
                one(snapshot.argument(1, new Thread("x")))).file());
        File output = folder.resolve("output").toFile();
        List<String> command = new ArrayList<>(List.of(
                Paths.get(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m", "-XX:+UseSerialGC", "-Dcrash=" + crash,
                "-cp", System.getProperty("java.class.path"),
                Runner.class.getName()));
        for (int i = 0; i < methods.length; i++) {
            command.addAll(List.of(type, methods[i], folder.resolve(i + ".json").toString()));
        }
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true).redirectOutput(output).start();
        check(process.waitFor(60, TimeUnit.SECONDS), "it hangs");
        String printed = new String(Files.readAllBytes(output.toPath()));
        equal(printed, methods[0].equals("passes") ? "the program's own output" : "");
        String[] results = new String[methods.length];
        for (int i = 0; i < methods.length; i++) {
            Path result = folder.resolve(i + ".json");
            check(Files.exists(result), "no result of " + methods[i]);
            results[i] = new String(Files.readAllBytes(result));
            Files.delete(result);
        }
        for (Path file : new Path[] {crash, output.toPath(), folder}) {
            Files.delete(file);
        }
        return results;
    }
}
