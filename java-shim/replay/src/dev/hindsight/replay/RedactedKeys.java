package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Redacted texts that are keys of tables, or parts of their keys. Those of one table must differ,
 * or all but one would be lost. Sorted tables must be sorted anew by the placeholders, or keys that
 * are not secret would not be found.
 */
final class RedactedKeys {
    private static final String TREE = "java.util.TreeMap";
    private static final String SKIP_LIST = "java.util.concurrent.ConcurrentSkipListMap";

    /**
     * The distance from a key within which texts are searched: a record of records has them there.
     */
    private static final int MAX_DEPTH = 2;

    private final Restorer restorer;
    /** The redacted texts, by object number, with the recorded reasons. */
    private final Map<Integer, String> texts = new HashMap<>();
    /** The sorted tables with such keys. */
    private final BitSet sorted = new BitSet();

    RedactedKeys(Restorer restorer) {
        this.restorer = restorer;
    }

    /** Adds an object that a placeholder replaces. */
    void add(int number, String reason) {
        texts.put(number, reason);
    }

    /**
     * Gives different placeholders to those of one table, before any object refers to them. All
     * others stay alike, and so does the first one of each table, which may be looked up by a copy.
     */
    void tellApart() {
        if (texts.isEmpty()) {
            return;
        }
        List<Table> tables = new ArrayList<>();
        // Sorted tables come first, so that their placeholders are in the recorded order.
        tables(true, tables);
        tables(false, tables);
        Map<Integer, List<Table>> holders = new HashMap<>();
        for (Table table : tables) {
            for (int text : table.texts.toArray()) {
                holders.computeIfAbsent(text, t -> new ArrayList<>()).add(table);
            }
        }
        for (Table table : tables) {
            for (int text : table.texts.toArray()) {
                List<Table> all = holders.remove(text);
                if (all == null) {
                    continue;
                }
                String reason = texts.get(text);
                int ordinal = 0;
                for (Table holder : all) {
                    ordinal = Math.max(ordinal, holder.next.getOrDefault(reason, 0));
                }
                for (Table holder : all) {
                    holder.next.put(reason, ordinal + 1);
                }
                restorer.set(text, Redacted.placeholder(reason, restorer.get(text).getClass(), ordinal));
            }
        }
    }

    /** Whether this is a sorted table that has to be sorted anew. */
    boolean unsorted(int number) {
        return sorted.get(number);
    }

    /**
     * Sorts the entries of a table by its comparator, which is the program's and may do anything.
     */
    static void sort(Object table) throws Hole {
        boolean isTree = table instanceof TreeMap;
        Class<?> owner = isTree ? TreeMap.class : ConcurrentSkipListMap.class;
        // A subclass may have other methods.
        NavigableMap<Object, Object> before = isTree ? new TreeMap<>() : new ConcurrentSkipListMap<>();
        Layout.copy(table, before, owner);
        NavigableMap<Object, Object> after = isTree
                ? new TreeMap<>(before.comparator()) : new ConcurrentSkipListMap<>(before.comparator());
        int[] count = {0};
        try {
            before.forEach((key, value) -> {
                after.put(key, value);
                count[0]++;
            });
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            throw new Hole("not sorted by what stands for redacted keys: " + Classes.reason(e));
        }
        if (after.size() < count[0]) {
            throw new Hole("not sorted by what stands for redacted keys, for some of them are equal now");
        }
        Slot top = Layout.need(owner, isTree ? "root" : "head");
        top.put(table, top.get(after));
    }

    /** Adds the tables that have such keys. */
    private void tables(boolean isSorted, List<Table> out) {
        for (int i = 0; i < restorer.order.size(); i++) {
            int number = restorer.order.get(i);
            Instance instance = restorer.get(number) == null || restorer.isShared(number)
                    ? null : restorer.instance(number);
            if (instance == null) {
                continue;
            }
            Table table = new Table();
            for (int key : isSorted ? sortedKeys(instance) : HashTables.keys(instance)) {
                texts(key, MAX_DEPTH, table.texts);
            }
            if (table.texts.size() > 0) {
                out.add(table);
                if (isSorted) {
                    sorted.set(number);
                }
            }
        }
    }

    /** Adds the texts that a key leads to. */
    private void texts(int number, int depth, Numbers out) {
        if (texts.containsKey(number)) {
            out.add(number);
            return;
        }
        Instance key = depth == 0 ? null : restorer.instance(number);
        for (int i = 0; key != null && i < key.values.length; i++) {
            if (Recorded.isReference(key.type.info.fields[i].descriptor)) {
                texts(Restorer.reference(key.values[i]), depth - 1, out);
            }
        }
    }

    /** The keys of a sorted table in order; none for other objects. */
    private static int[] sortedKeys(Instance table) {
        Numbers keys = new Numbers();
        int left = table.restorer.file.objectCount();
        if (table.type.superclass(TREE) != null) {
            Deque<Instance> open = new ArrayDeque<>();
            Instance node = table.object("root");
            for (; (node != null || !open.isEmpty()) && left > 0; left--) {
                while (node != null && open.size() < left) {
                    open.push(node);
                    node = node.object("left");
                }
                node = open.pop();
                keys.add(node.reference("key"));
                node = node.object("right");
            }
        } else if (table.type.superclass(SKIP_LIST) != null) {
            Instance head = table.object("head");
            // The node before the first one has no key.
            Instance node = head == null ? null : head.object("node");
            for (; node != null && left > 0; left--) {
                keys.add(node.reference("key"));
                node = node.object("next");
            }
        }
        return keys.toArray();
    }

    /** The redacted texts in the keys of one table. */
    private static final class Table {
        final Numbers texts = new Numbers();
        /** By reason, the number of texts that have been made different. */
        final Map<String, Integer> next = new HashMap<>();
    }
}
