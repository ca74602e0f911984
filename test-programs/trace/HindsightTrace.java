package java.lang;

import java.io.FileOutputStream;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The reference recorder, slow and simple: one line for each event to the file that {@code
 * hindsight.trace} names, with the thread's name, the event's, its id and its values, separated by
 * tabs. Objects are numbered as they come; strings are shown when they come first.
 */
public final class HindsightTrace {
    private static final Map<Object, Integer> NUMBERS = new IdentityHashMap<>();
    private static final FileOutputStream OUT = open();

    /** Probes that have met the end of the stack. */
    public static int overflows;

    private HindsightTrace() {}

    private static FileOutputStream open() {
        try {
            return new FileOutputStream(System.getProperty("hindsight.trace"));
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // The test puts the probes here, as the contract lists them.
    // @PROBES@

    /** A handle of a field was made. */
    public static void named(Object handle, Object owner, Object name) {}

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
        StringBuilder line = new StringBuilder();
        synchronized (NUMBERS) {
            line.append(Thread.currentThread().getName()).append('\t').append(name).append('\t').append(id);
            for (Object value : values) {
                line.append('\t').append(show(value));
            }
            try {
                OUT.write(line.append('\n').toString().getBytes("UTF-8"));
            } catch (IOException e) {
                throw new InternalError(e);
            }
        }
    }

    private static String show(Object value) {
        if (value == null) {
            return "null";
        }
        // Values of primitive types come as a box that nobody else has.
        if (value instanceof Bits) {
            return Long.toString(((Bits) value).bits);
        }
        Integer known = NUMBERS.get(value);
        if (known == null) {
            known = NUMBERS.size();
            NUMBERS.put(value, known);
            if (value instanceof String) {
                return "#" + known + "=" + ((String) value).replace("\n", "\\n").replace("\t", "\\t");
            }
        }
        return "#" + known;
    }

    private static final class Bits {
        final long bits;

        Bits(long bits) {
            this.bits = bits;
        }
    }

    private static Object bits(int value) {
        return new Bits(value);
    }

    private static Object bits(long value) {
        return new Bits(value);
    }

    private static Object bits(float value) {
        return new Bits(Float.floatToRawIntBits(value));
    }

    private static Object bits(double value) {
        return new Bits(Double.doubleToRawLongBits(value));
    }
}
