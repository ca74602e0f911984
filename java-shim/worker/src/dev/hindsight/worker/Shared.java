package dev.hindsight.worker;

import java.io.InputStream;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;

/**
 * The state that all tests of a JVM share, besides the program's own: its locale and time zone, its
 * properties, its streams, the handler of uncaught exceptions, the thread's context class loader,
 * and whether the thread is interrupted. A test that changes it would affect those after it, in any
 * suite.
 *
 * <p>Properties that the JVM did not begin with are left alone: initialisers of many libraries set
 * theirs.
 */
final class Shared {
    private final Locale locale = Locale.getDefault();
    private final Locale shown = Locale.getDefault(Locale.Category.DISPLAY);
    private final Locale formatted = Locale.getDefault(Locale.Category.FORMAT);
    private final TimeZone zone = TimeZone.getDefault();
    private final Properties properties = System.getProperties();
    private final Map<Object, Object> values = Map.copyOf(properties);
    private final PrintStream out = System.out;
    private final PrintStream err = System.err;
    private final InputStream in = System.in;
    private final Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();

    /**
     * Restores all of it, for the current thread, which has this loader. Returns whether anything
     * had changed.
     */
    boolean putBack(ClassLoader context) {
        Thread thread = Thread.currentThread();
        boolean isChanged = Thread.interrupted();
        if (thread.getContextClassLoader() != context) {
            thread.setContextClassLoader(context);
            isChanged = true;
        }
        if (System.out != out || System.err != err || System.in != in) {
            System.setOut(out);
            System.setErr(err);
            System.setIn(in);
            isChanged = true;
        }
        if (!locale.equals(Locale.getDefault())
                || !shown.equals(Locale.getDefault(Locale.Category.DISPLAY))
                || !formatted.equals(Locale.getDefault(Locale.Category.FORMAT))) {
            Locale.setDefault(locale);
            Locale.setDefault(Locale.Category.DISPLAY, shown);
            Locale.setDefault(Locale.Category.FORMAT, formatted);
            isChanged = true;
        }
        if (!zone.equals(TimeZone.getDefault())) {
            TimeZone.setDefault(zone);
            isChanged = true;
        }
        if (Thread.getDefaultUncaughtExceptionHandler() != handler) {
            Thread.setDefaultUncaughtExceptionHandler(handler);
            isChanged = true;
        }
        return putBackProperties() || isChanged;
    }

    private boolean putBackProperties() {
        boolean isChanged = System.getProperties() != properties;
        if (isChanged) {
            System.setProperties(properties);
        }
        for (Map.Entry<Object, Object> entry : values.entrySet()) {
            if (!entry.getValue().equals(properties.get(entry.getKey()))) {
                properties.put(entry.getKey(), entry.getValue());
                isChanged = true;
            }
        }
        return isChanged;
    }
}
