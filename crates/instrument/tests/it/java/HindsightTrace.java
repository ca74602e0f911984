package java.lang;

import java.io.FileOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Writes one line for each event to the file that {@code hindsight.trace} names: its name, its id
 * and its values, separated by tabs. Objects are numbered by class as they come. Without that
 * property it does nothing.
 */
public final class HindsightTrace {
    private static final Map<Object, String> NAMES = new IdentityHashMap<>();
    private static final Map<String, Integer> COUNTS = new HashMap<>();
    private static final FileOutputStream OUT = open();

    /** Probes that have met the end of the stack. */
    public static int overflows;

    private HindsightTrace() {}

    private static FileOutputStream open() {
        String file = System.getProperty("hindsight.trace");
        try {
            return file == null ? null : new FileOutputStream(file);
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // The test puts the probes here, as the contract lists them.
    // @PROBES@

    /** A handle of a field was made. */
    public static void named(Object handle, Object owner, Object name) {}

    /** A basic block runs. */
    public static void cover(int block) {}

    /** An array was made together with those in it. */
    public static void made(Object array) {
        if (array instanceof Object[]) {
            Object[] all = (Object[]) array;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != null) {
                    made(all[i]);
                    store(array, i, all[i]);
                }
            }
        }
    }

    private static void event(String name, Object[] values, String id) {
        if (OUT == null) {
            return;
        }
        StringBuilder line = new StringBuilder();
        synchronized (NAMES) {
            line.append(Thread.currentThread().getName()).append('\t').append(name).append('\t').append(id);
            for (Object value : values) {
                line.append('\t').append(show(value));
            }
        }
        try {
            OUT.write(line.append('\n').toString().getBytes("UTF-8"));
        } catch (IOException e) {
            throw new InternalError(e);
        }
    }

    private static String show(Object value) {
        if (value == null || value instanceof Integer || value instanceof Double) {
            return String.valueOf(value);
        }
        if (value instanceof Long) {
            return value + "L";
        }
        if (value instanceof Float) {
            return value + "f";
        }
        String known = NAMES.get(value);
        if (known != null) {
            return known;
        }
        Class<?> type = value.getClass();
        // The names that the JVM makes for lambdas are not always the same.
        String name = type.getName().contains("$$Lambda") ? "(lambda)" : type.getTypeName();
        name = name.substring(name.lastIndexOf('.') + 1);
        name += "#" + COUNTS.merge(name, 1, Integer::sum);
        if (value instanceof String) {
            name = "\"" + value + "\"";
        }
        NAMES.put(value, name);
        return name;
    }
}
