package dev.hindsight.replay;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs emitted tests and writes down how each ended:
 * {@code Runner [--statics|--unfilled CRASHFILE FRAME] {TESTCLASS METHOD RESULTFILE}...}.
 *
 * <p>{@code hindsight junit} checks its tests with it, one JVM each and then all in one, without JUnit.
 * A result is one JSON object:
 *
 * <pre>
 * outcome    "passed", "threw", "exited", or "broken": it says nothing about the program
 * exception  class of what was thrown, or null
 * message    its message, or null
 * detail     what its own field has for the message, whatever getMessage makes of it, or null
 * stack      [{class, method, file, line}], innermost first
 * chain      classes of its causes, the direct one first
 * cause      {exception, message, detail, stack} of the direct one, or null
 * root       the same of the innermost of them
 * given      class of the first of them that is an exception that was restored with the arguments, or null
 * reason     why it is broken, or null
 * holes      what was not restored, as {@link Frame#holes} tells it
 * unrestored the classes of the program that this is so of because they are missing or other ones here
 * restored   whether what was thrown is an exception that was restored with the arguments
 * failing    methods of what was thrown, or of its causes, by which a report of it fails
 * </pre>
 *
 * <p>With {@code --order}, {@code Set.of} and {@code Map.of} iterate in the order that results from
 * these values, which a JVM otherwise draws at random.
 *
 * <p>With {@code --statics}, which is for one test alone, a list of static fields goes to another
 * file, whose name ends in {@code .statics}: those that lack after the test what was recorded with
 * the given frame of the crash file. With {@code --unfilled}, the list omits fields that lack
 * something only in what the test fills by itself; classes are then initialised before the test, so
 * its own result may differ.
 *
 * <p>Files appear as a whole or not at all. After the last one is written the JVM halts, whatever
 * threads the program has left behind.
 * threads the program has left behind.
 */
public final class Runner {
    private static final int MAX_STACK = 1024;
    private static final int MAX_CHAIN = 64;

    private static final Set<String> HOLES = new LinkedHashSet<>();
    /** Classes of the program whose objects cannot be restored; guarded by {@link #HOLES}. */
    private static final Set<String> UNRESTORED = new LinkedHashSet<>();
    /**
     * The running test's arguments that are exceptions, and their causes; guarded by {@link
     * #HOLES}.
     */
    private static final List<Throwable> PASSED = new ArrayList<>();
    private static final AtomicBoolean WRITTEN = new AtomicBoolean();
    /** The file for the result of the running test. */
    private static volatile Path current;
    /**
     * Memory that is released to report an OutOfMemoryError; in pieces, because free memory may be
     * fragmented.
     */
    private static byte[][] reserve;

    private Runner() {}

    /**
     * Runs the tests.
     *
     * @param arguments class and method of each test, and the file to write
     */
    public static void main(String[] arguments) {
        int first = 0;
        int compared = -1;
        for (; first < arguments.length && arguments[first].startsWith("--"); first += 3) {
            if (!arguments[first].equals("--order")) {
                compared = first;
            }
        }
        if (arguments.length <= first || arguments.length % 3 != 0) {
            System.err.println("usage: Runner [--order SALT REVERSE] "
                    + "[--statics|--unfilled CRASHFILE FRAME] {TESTCLASS METHOD RESULTFILE}...");
            Runtime.getRuntime().halt(2);
        }
        if (arguments[0].equals("--order")) {
            Statics.order(Long.parseLong(arguments[1]), Boolean.parseBoolean(arguments[2]));
        }
        current = Paths.get(arguments[first + 2]);
        Runtime.getRuntime().addShutdownHook(
                new Thread(() -> write(current, "exited", null, null), "hindsight-result"));
        boolean unfilled = compared >= 0 && arguments[compared].equals("--unfilled");
        Lacking noted = unfilled ? noted(arguments, compared, first) : null;
        for (int i = first; i < arguments.length; i += 3) {
            synchronized (HOLES) {
                HOLES.clear();
                UNRESTORED.clear();
                PASSED.clear();
            }
            current = Paths.get(arguments[i + 2]);
            WRITTEN.set(false);
            stock();
            run(arguments[i], arguments[i + 1], current);
        }
        if (compared >= 0) {
            lacking(arguments, compared, first, noted);
        }
        Runtime.getRuntime().halt(0);
    }

    /** Whether it is this class that runs the test. */
    static boolean isRunning() {
        return current != null;
    }

    /** Notes the holes of a frame that the test loads. */
    static void report(List<String> holes) {
        synchronized (HOLES) {
            HOLES.addAll(holes);
        }
    }

    /** Notes classes of the program whose objects in such a frame cannot be restored. */
    static void unrestored(Set<String> classes) {
        synchronized (HOLES) {
            UNRESTORED.addAll(classes);
        }
    }

    /** Notes an exception that a test passes to the program, directly or within another object. */
    static void passed(Throwable exception) {
        // A test that runs without this class reports to nobody.
        if (isRunning()) {
            synchronized (HOLES) {
                PASSED.add(exception);
            }
        }
    }

    /** Fills the reserve again that the previous test has used. */
    private static void stock() {
        try {
            byte[][] pieces = new byte[64][];
            reserve = pieces;
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = new byte[1 << 16];
            }
        } catch (OutOfMemoryError e) {
            // A previous test keeps the heap full; the memory that it left free is this one's
            // reserve.
        }
    }

    private static void run(String className, String methodName, Path file) {
        Object test;
        Method method;
        try {
            Class<?> type = Class.forName(className, true, ClassLoader.getSystemClassLoader());
            method = type.getDeclaredMethod(methodName);
            method.setAccessible(true);
            test = Modifier.isStatic(method.getModifiers()) ? null : instance(type);
        } catch (InvocationTargetException e) {
            broken(file, e.getCause(), "the test cannot be created");
            return;
        } catch (Throwable e) {
            broken(file, e, "the test cannot be loaded");
            return;
        }
        Throwable thrown = null;
        try {
            method.invoke(test);
        } catch (InvocationTargetException e) {
            thrown = e.getCause();
        } catch (Throwable e) {
            thrown = e;
        }
        if (thrown == null) {
            write(file, "passed", null, null);
        } else if (thrown instanceof ReplayException) {
            write(file, "broken", thrown, message(thrown));
        } else if (thrown instanceof LinkageError && thrownBy(thrown, className)
                && !isOfInitialiser(thrown)) {
            broken(file, thrown, "the test does not link");
        } else {
            write(file, "threw", thrown, null);
        }
    }

    /** The comparison of static fields with those of a frame. */
    private static Lacking comparison(String[] arguments, int option, int test)
            throws ClassNotFoundException {
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        Class<?> type = Class.forName(arguments[test], true, loader);
        int frame = Integer.parseInt(arguments[option + 2]);
        return Crash.of(type, arguments[option + 1]).withStatics().frame(frame).lacking();
    }

    /**
     * The same comparison with the state before the test noted; null if that cannot be determined.
     */
    private static Lacking noted(String[] arguments, int option, int test) {
        try {
            Lacking comparison = comparison(arguments, option, test);
            comparison.note();
            return comparison;
        } catch (Throwable e) {
            // Code of the program runs here as well.
            return null;
        }
    }

    /** Writes which static fields lack what was recorded; none if that cannot be determined. */
    private static void lacking(String[] arguments, int option, int test, Lacking noted) {
        Set<String> lacking;
        try {
            lacking = (noted != null ? noted : comparison(arguments, option, test)).fields();
        } catch (Throwable e) {
            // Code of the program runs here as well.
            return;
        }
        StringBuilder json = new StringBuilder();
        strings(json, lacking);
        String name = current.getFileName().toString().replaceFirst("[.][^.]*$", "");
        write(current.resolveSibling(name + ".statics"), json);
    }

    private static Object instance(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    private static void broken(Path file, Throwable cause, String what) {
        write(file, "broken", cause, what + ": " + Classes.reason(cause));
    }

    /** Whether the test's own code failed, not the program's. */
    private static boolean thrownBy(Throwable thrown, String className) {
        for (StackTraceElement element : Reporting.trace(thrown)) {
            // The class loader is above the class for which it looks for another one.
            if (!element.getClassName().startsWith("java.")
                    && !element.getClassName().startsWith("jdk.internal.")) {
                return element.getClassName().equals(className);
            }
        }
        return false;
    }

    /** Whether an initialiser that the test's call runs has failed, now or before. */
    private static boolean isOfInitialiser(Throwable thrown) {
        String message = message(thrown);
        return thrown instanceof ExceptionInInitializerError
                || message != null && message.startsWith("Could not initialize class ");
    }

    private static void write(Path file, String outcome, Throwable thrown, String reason) {
        if (!WRITTEN.compareAndSet(false, true)) {
            return;
        }
        reserve = null;
        try {
            write(file, result(outcome, thrown, reason));
        } catch (OutOfMemoryError e) {
            // There is no result. The JVM does not wait for what the program has left behind.
            Runtime.getRuntime().halt(3);
        }
    }

    private static StringBuilder result(String outcome, Throwable thrown, String reason) {
        StringBuilder json = new StringBuilder();
        json.append("{\"outcome\":");
        string(json, outcome);
        json.append(',');
        exception(json, thrown);
        List<Throwable> causes = causes(thrown);
        List<String> chain = new ArrayList<>();
        for (Throwable cause : causes) {
            chain.add(cause.getClass().getName());
        }
        json.append(",\"chain\":");
        strings(json, chain);
        json.append(",\"cause\":");
        object(json, causes.isEmpty() ? null : causes.get(0));
        json.append(",\"root\":");
        object(json, causes.isEmpty() ? null : causes.get(causes.size() - 1));
        json.append(",\"given\":");
        String given = null;
        for (Throwable cause : causes) {
            if (given == null && isPassed(cause)) {
                given = cause.getClass().getName();
            }
        }
        string(json, given);
        json.append(",\"reason\":");
        string(json, reason);
        json.append(",\"holes\":");
        synchronized (HOLES) {
            strings(json, HOLES);
            json.append(",\"unrestored\":");
            strings(json, UNRESTORED);
        }
        json.append(",\"restored\":").append(isPassed(thrown));
        json.append(",\"failing\":");
        strings(json, thrown == null ? Set.of() : Reporting.failing(thrown));
        return json.append("}\n");
    }

    private static void write(Path file, CharSequence json) {
        try {
            Path part = file.resolveSibling(file.getFileName() + ".part");
            Files.write(part, json.toString().getBytes(StandardCharsets.UTF_8));
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            System.err.println("hindsight: failed to write " + file + ": " + e);
            Runtime.getRuntime().halt(3);
        }
    }

    /** Whether this is an exception that the test has passed to the program. */
    private static boolean isPassed(Throwable thrown) {
        synchronized (HOLES) {
            for (Throwable exception : PASSED) {
                if (exception == thrown) {
                    return true;
                }
            }
            return false;
        }
    }

    private static void object(StringBuilder json, Throwable thrown) {
        if (thrown == null) {
            json.append("null");
            return;
        }
        json.append('{');
        exception(json, thrown);
        json.append('}');
    }

    private static void exception(StringBuilder json, Throwable thrown) {
        json.append("\"exception\":");
        string(json, thrown == null ? null : thrown.getClass().getName());
        json.append(",\"message\":");
        string(json, thrown == null ? null : message(thrown));
        json.append(",\"detail\":");
        string(json, thrown == null ? null : detail(thrown));
        json.append(",\"stack\":[");
        stack(json, thrown);
        json.append(']');
    }

    private static void stack(StringBuilder json, Throwable thrown) {
        StackTraceElement[] stack = thrown == null ? new StackTraceElement[0] : Reporting.trace(thrown);
        for (int i = 0; i < stack.length && i < MAX_STACK; i++) {
            json.append(i == 0 ? "{\"class\":" : ",{\"class\":");
            string(json, stack[i].getClassName());
            json.append(",\"method\":");
            string(json, stack[i].getMethodName());
            json.append(",\"file\":");
            string(json, stack[i].getFileName());
            json.append(",\"line\":").append(stack[i].getLineNumber()).append('}');
        }
    }

    private static List<Throwable> causes(Throwable thrown) {
        List<Throwable> causes = new ArrayList<>();
        Throwable cause = thrown == null ? null : cause(thrown);
        while (cause != null && cause != thrown && causes.size() < MAX_CHAIN) {
            causes.add(cause);
            cause = cause(cause);
        }
        return causes;
    }

    /**
     * The cause as in recordings: the value of its own field, or else of a field of the class that
     * overrides {@code getCause}, a method that may be the program's and is not called.
     */
    private static Throwable cause(Throwable thrown) {
        Layout.Slot own = Layout.find(Throwable.class, "cause", "Ljava/lang/Throwable;");
        Object cause = own == null ? null : own.get(thrown);
        if (cause != null && cause != thrown) {
            return (Throwable) cause;
        }
        Class<?> teller = teller(thrown.getClass());
        for (Layout.Slot slot : teller == null ? List.<Layout.Slot>of() : Layout.declared(teller)) {
            Object value = slot.type.isPrimitive() ? null : slot.get(thrown);
            if (value instanceof Throwable && value != thrown) {
                return (Throwable) value;
            }
        }
        return null;
    }

    /**
     * The class whose {@code getCause} an exception of this class has; null for that of {@link
     * Throwable}.
     */
    private static Class<?> teller(Class<?> thrown) {
        for (Class<?> type = thrown; type != Throwable.class; type = type.getSuperclass()) {
            try {
                type.getDeclaredMethod("getCause");
                return type;
            } catch (NoSuchMethodException | LinkageError e) {
                // It is in a superclass, or another method's types are not on the class path.
            }
        }
        return null;
    }

    /** The message of an exception, which the program's code may compute; null if that throws. */
    static String message(Throwable thrown) {
        try {
            return thrown.getMessage();
        } catch (Throwable e) {
            return null;
        }
    }

    private static String detail(Throwable thrown) {
        Layout.Slot slot = Layout.find(Throwable.class, "detailMessage", "Ljava/lang/String;");
        return slot == null ? null : (String) slot.get(thrown);
    }

    private static void strings(StringBuilder json, Iterable<String> texts) {
        String separator = "[";
        for (String text : texts) {
            json.append(separator);
            string(json, text);
            separator = ",";
        }
        json.append(separator.equals("[") ? "[]" : "]");
    }

    /** Escapes what JSON requires, and lone surrogates, which UTF-8 cannot encode. */
    private static void string(StringBuilder json, String text) {
        if (text == null) {
            json.append("null");
            return;
        }
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit == '"' || unit == '\\') {
                json.append('\\').append(unit);
            } else if (unit < 0x20 || unit >= 0x7f) {
                json.append(String.format("\\u%04x", (int) unit));
            } else {
                json.append(unit);
            }
        }
        json.append('"');
    }
}
