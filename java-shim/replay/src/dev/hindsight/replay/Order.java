package dev.hindsight.replay;

import dev.hindsight.replay.MessagePack.Malformed;
import dev.hindsight.replay.Recorded.Row;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * The order in which {@code Set.of} and {@code Map.of} of the recorded JVM iterate. A JVM draws at
 * random where in a table they begin and in which direction they go. A program that depends on that
 * must find the recorded order in JVMs that have drawn otherwise. The draw cannot be changed,
 * because compiled code contains it. But the places of elements also depend on the table's length,
 * which may be any, and on its other elements: an iterator ends with the last element and does not
 * see what comes behind it.
 */
final class Order {
    /** The most lengths that are tried for one table, without and with fillers. */
    private static final int MAX_TRIES = 300;
    /** The most places of all tables that are filled for these tries. */
    private static final int MAX_PLACES = 20_000_000;
    /** The number of tables with fillers that are compared. */
    private static final int MAX_FILLED = 4;

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

    /**
     * The places of a recorded table's elements, each of {@code step} objects, in the order of
     * iteration.
     */
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

    /** Whether the two elements of a set come in reverse order in this JVM. */
    boolean isSwapped() {
        // In ascending direction the second one comes first.
        return upwards != Set.of("first", "second").iterator().next().equals("second");
    }

    /**
     * Gives a set or map another table, in which it iterates over its keys in this order, or over
     * as many of the first ones as possible.
     *
     * @param table the field with the table
     * @param entries the keys in their order; in a map, each with its value
     */
    void apply(Object made, Layout.Slot table, Object[] entries, int step) {
        int count = entries.length / step;
        int[] hashes = new int[count];
        for (int i = 0; i < count; i++) {
            hashes[i] = entries[i * step].hashCode();
        }
        Object best = table.get(made);
        int most = common(made, entries, step);
        for (int length = 2 * count; length < 2 * count + MAX_TRIES && most < count && !isTooMuch(length); length++) {
            Object tried = table(entries, step, hashes, length);
            table.put(made, tried);
            int now = common(made, entries, step);
            if (now > most) {
                most = now;
                best = tried;
            }
        }
        Object filled = most < count ? filled(made, table, entries, step, hashes) : null;
        table.put(made, filled == null ? best : filled);
        if (filled != null && common(made, entries, step) < count) {
            table.put(made, best);
        }
    }

    /** Whether so much was tried already that a table of this length is not. */
    private boolean isTooMuch(int length) {
        filled += length;
        return filled > MAX_PLACES;
    }

    /**
     * A table of this length, with each key in the first free place from that of its hash code on.
     */
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

    /**
     * A table in which the keys are at the places where an iterator of this JVM comes first, with
     * fillers from the place of each key's hash code on, so that the key is found: otherwise keys
     * like 1, 2, 3 come in this order in neither direction. Of several lengths, the one with the
     * fewest fillers; null if there is none. An object with fillers cannot be serialized.
     */
    private Object[] filled(Object made, Layout.Slot table, Object[] entries, int step, int[] hashes) {
        int count = hashes.length;
        Object[] best = null;
        int fewest = Integer.MAX_VALUE;
        int found = 0;
        // In a table much longer than the square of their number, no hash code leads among the keys
        // themselves.
        int stride = 1 + count * count / 100;
        int length = 2 * count;
        for (int tries = 0; found < MAX_FILLED && !isTooMuch(length); tries++) {
            if (tries > MAX_TRIES && found > 0) {
                break;
            }
            int[] first = first(made, table, count, length, step);
            Object[] tried = new Object[length * step];
            for (int i = 0; i < count; i++) {
                System.arraycopy(entries, i * step, tried, first[i] * step, step);
            }
            int fillers = 0;
            for (int i = 0; i < count; i++) {
                for (int at = Math.floorMod(hashes[i], length); at != first[i]; at = (at + 1) % length) {
                    if (tried[at * step] == null) {
                        Arrays.fill(tried, at * step, (at + 1) * step, Filler.INSTANCE);
                        fillers++;
                    }
                }
            }
            // A search for an absent key must come to a free place.
            if (count + fillers < length) {
                found++;
                if (fillers < fewest) {
                    fewest = fillers;
                    best = tried;
                }
            }
            // If iterators of this JVM begin near the end of any table, they begin farther from it
            // in long ones.
            length += tries < MAX_TRIES ? stride : length;
        }
        return best;
    }

    /** The places where an iterator of this JVM comes first in a table of this length. */
    private static int[] first(Object made, Layout.Slot table, int count, int length, int step) {
        Object[] places = new Object[length * step];
        for (int i = 0; i < places.length; i++) {
            places[i] = i / step;
        }
        table.put(made, places);
        int[] first = new int[count];
        Iterator<?> all = keys(made);
        for (int i = 0; i < count; i++) {
            first[i] = (Integer) all.next();
        }
        return first;
    }

    /** How many of the first keys come in this order. */
    private static int common(Object made, Object[] entries, int step) {
        Iterator<?> keys = keys(made);
        int common = 0;
        while (keys.hasNext() && keys.next() == entries[common * step]) {
            common++;
        }
        return common;
    }

    private static Iterator<?> keys(Object made) {
        return made instanceof Map ? ((Map<?, ?>) made).keySet().iterator() : ((Set<?>) made).iterator();
    }

    /**
     * Fills a place, as key and value. It equals no other object and adds nothing to the hash code
     * of the whole.
     */
    private static final class Filler {
        static final Filler INSTANCE = new Filler();

        @Override
        public int hashCode() {
            return 0;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }
}
