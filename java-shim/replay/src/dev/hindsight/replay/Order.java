package dev.hindsight.replay;

import dev.hindsight.replay.MessagePack.Malformed;
import dev.hindsight.replay.Recorded.Row;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * In which order {@code Set.of} and {@code Map.of} of the recorded JVM iterate: it draws where in a table they begin, and
 * in which direction they go on. What depends on that must find the recorded order in JVMs that have drawn otherwise.
 * Nobody can change what they have drawn, for code that is compiled has it in it; but where the elements are in a table
 * depends on its length, too, which may be any.
 */
final class Order {
    /** Lengths that are tried for one table, */
    private static final int MAX_TRIES = 3000;
    /** and places of all tables that are filled for that. */
    private static final int MAX_PLACES = 20_000_000;

    private final long salt;
    private final boolean upwards;
    private int filled;

    private Order(long salt, boolean upwards) {
        this.salt = salt;
        this.upwards = upwards;
    }

    static Order of(Row row) throws Malformed {
        return new Order(row.integer(0), Boolean.TRUE.equals(row.at(1)));
    }

    /** Where the elements of a recorded table stand, each of {@code step} objects, in the order of iteration. */
    int[] places(Object[] table, int step) {
        int length = table.length / step;
        int[] places = new int[length];
        int count = 0;
        int at = (int) ((salt & 0xffffffffL) * length >>> 32);
        for (int i = 0; i < length; i++) {
            at = Math.floorMod(at + (upwards ? 1 : -1), length);
            if (table[at * step] != null) {
                places[count++] = at * step;
            }
        }
        return Arrays.copyOf(places, count);
    }

    /** Whether the two elements of a set come the other way round in this JVM. */
    boolean isSwapped() {
        // The second one comes first where the direction is upwards.
        return upwards != Set.of("first", "second").iterator().next().equals("second");
    }

    /**
     * Gives a set or map another table, with which it iterates over its keys in this order, or as many of the first of
     * them as can be.
     *
     * @param table the field with the table
     * @param entries keys in their order; of a map, each with its value
     */
    void apply(Object made, Layout.Slot table, Object[] entries, int step) {
        int count = entries.length / step;
        int[] hashes = new int[count];
        for (int i = 0; i < count; i++) {
            hashes[i] = entries[i * step].hashCode();
        }
        Object best = table.get(made);
        int most = common(made, entries, step);
        for (int length = 2 * count; length < 2 * count + MAX_TRIES && most < count; length++) {
            filled += length;
            if (filled > MAX_PLACES) {
                break;
            }
            Object tried = table(entries, step, hashes, length);
            table.put(made, tried);
            int now = common(made, entries, step);
            if (now > most) {
                most = now;
                best = tried;
            }
        }
        table.put(made, best);
    }

    /** A table with so many places, each key in the first free one from that of its hash code on. */
    private static Object[] table(Object[] entries, int step, int[] hashes, int length) {
        Object[] table = new Object[length * step];
        for (int i = 0; i < hashes.length; i++) {
            int at = Math.floorMod(hashes[i], length);
            while (table[at * step] != null) {
                at = (at + 1) % length;
            }
            System.arraycopy(entries, i * step, table, at * step, step);
        }
        return table;
    }

    /** How many of the first keys come in this order. */
    private static int common(Object made, Object[] entries, int step) {
        Iterator<?> keys = made instanceof Map
                ? ((Map<?, ?>) made).keySet().iterator() : ((Set<?>) made).iterator();
        int common = 0;
        while (keys.hasNext() && keys.next() == entries[common * step]) {
            common++;
        }
        return common;
    }
}
