package dev.hindsight.worker;

import java.io.InputStream;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;

/**
 * What all tests of a JVM share besides the program's own state: its locale and time zone, its properties, its streams,
 * who is told of exceptions, the thread's context class loader, and whether it is interrupted. A test that leaves
 * another one would change those that come after it, in whosever suite.
 *
 * <p>Properties that the JVM did not begin with are let be: initialisers of many libraries set theirs.
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

    /** Makes all of it as it was, and tells whether it was not; of the thread that asks, which has this loader. */
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
