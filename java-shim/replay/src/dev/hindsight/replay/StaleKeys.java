package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.Stored;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Keys that have changed since they were put into a hash table: they are at places where no lookup
 * finds them, which may be why a program failed.
 *
 * <p>A node keeps the hash code that its key had. If the restored key has another one, and its
 * class is the recorded one, it has changed. Exceptions are keys whose hash code differs in each
 * JVM. They are recognised by it: it is that of their identity, or a second copy of the key has
 * another one, or they lead to objects of which a JVM has one, such as constants of enums.
 */
final class StaleKeys {
    /** The most objects that a key leads to; one with more counts as unchanged. */
    private static final int MAX_OBJECTS = 10_000;

    /**
     * The most objects that are examined for all keys of one frame; from then on keys count as
     * unchanged.
     */
    private static final int MAX_LOOKED_AT = 2_000_000;

    private final Restorer restorer;
    /** Objects that lead to one of which this JVM has its own, or that were not recorded. */
    private final Set<Integer> foreign = new HashSet<>();
    private int lookedAt;

    StaleKeys(Restorer restorer) {
        this.restorer = restorer;
    }

    /** Takes the place of a key in a table, with the hash code that the key had. */
    static final class StandIn {
        final Object key;
        private final int hash;

        StandIn(Object key, int hash) {
            this.key = key;
            this.hash = hash;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }

    /** The form in which a table keeps a hash code. */
    static int spread(int hash, String table) {
        switch (table) {
            case "java.util.Hashtable":
                return hash;
            case "java.util.concurrent.ConcurrentHashMap":
                return (hash ^ hash >>> 16) & Integer.MAX_VALUE;
            default:
                return hash ^ hash >>> 16;
        }
    }

    /** A hash code that a table keeps in this form. */
    private static int unspread(int kept, String table) {
        return table.equals("java.util.Hashtable") ? kept : kept ^ kept >>> 16;
    }

    /** The key itself, or its stand-in if it has changed since a table of this class got it. */
    Object of(int number, Object key, int kept, String table) {
        try {
            int hash = key.hashCode();
            boolean changed = spread(hash, table) != kept
                    && hash != System.identityHashCode(key)
                    && isItsOwn(number)
                    && copyHas(number, hash);
            return changed ? new StandIn(key, unspread(kept, table)) : key;
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            // The program's code runs here; the insertion will show the failure.
            return key;
        }
    }

    /**
     * Whether an object leads only to its own objects, and to none of which this JVM has its own.
     */
    private boolean isItsOwn(int root) {
        boolean own = leadsToItsOwn(root);
        if (!own) {
            foreign.add(root);
        }
        return own;
    }

    private boolean leadsToItsOwn(int root) {
        Set<Integer> seen = new HashSet<>();
        Deque<Integer> open = new ArrayDeque<>();
        open.add(root);
        while (!open.isEmpty()) {
            int number = open.remove();
            if (number < 0 || !seen.add(number)) {
                continue;
            }
            Stored stored = restorer.stored(number);
            if (++lookedAt > MAX_LOOKED_AT || seen.size() > MAX_OBJECTS || foreign.contains(number)) {
                return false;
            } else if (stored == null || restorer.isShared(number)) {
                foreign.add(number);
                return false;
            }
            switch (stored.kind) {
                case Stored.STRING:
                case Stored.PRIMITIVES:
                    break;
                case Stored.REFERENCES:
                    for (Object value : stored.values()) {
                        open.add(Restorer.reference(value));
                    }
                    break;
                case Stored.INSTANCE:
                    ClassInfo info = restorer.file.type(stored.classId);
                    if (!restorer.instance(number).type.isUnchanged()) {
                        foreign.add(number);
                        return false;
                    }
                    for (int i = 0; i < stored.values().length && i < info.fields.length; i++) {
                        if (Recorded.isReference(info.fields[i].descriptor)) {
                            open.add(Restorer.reference(stored.values()[i]));
                        }
                    }
                    break;
                default:
                    foreign.add(number);
                    return false;
            }
        }
        return true;
    }

    private boolean copyHas(int number, int hash) {
        Object copy = restorer.copy(number);
        return copy != null && copy.hashCode() == hash;
    }

    /** Puts the keys in the places of their stand-ins; false if some were not found. */
    static boolean settle(Object table, int standIns) {
        int[] left = {standIns};
        nodes(table, (node, key) -> {
            Object held = key.get(node);
            if (held instanceof StandIn) {
                key.put(node, ((StandIn) held).key);
                left[0]--;
            }
        });
        return left[0] == 0;
    }

    /** The number of keys in a JDK hash table that no lookup finds; 0 for other objects. */
    static int count(Object table) {
        String name = table.getClass().getName();
        int[] count = {0};
        nodes(table, (node, key) -> {
            Object held = key.get(node);
            Slot hash = slot(node, "hash");
            if (held != null && hash != null && !HashTables.isSettled(held)
                    && !hasHash(held, (Integer) hash.get(node), name)) {
                count[0]++;
            }
        });
        return count[0];
    }

    private static boolean hasHash(Object key, int kept, String table) {
        try {
            return spread(key.hashCode(), table) == kept;
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            // The program's code runs here; a lookup of the key would fail likewise.
            return false;
        }
    }

    /** Visits the nodes of a hash table that keep hash codes, each with the place of its key. */
    private static void nodes(Object table, BiConsumer<Object, Slot> todo) {
        Object map = table;
        if (table instanceof HashSet) {
            map = Layout.named(HashSet.class, "map").get(table);
        }
        Class<?> owner = map instanceof ConcurrentHashMap ? ConcurrentHashMap.class
                : map instanceof Hashtable ? Hashtable.class
                : map instanceof HashMap ? HashMap.class : null;
        Slot slot = owner == null ? null : Layout.named(owner, "table");
        Object[] bins = slot == null ? null : (Object[]) slot.get(map);
        for (Object bin : bins == null ? new Object[0] : bins) {
            Object node = bin;
            Slot first = node == null ? null : slot(node, "first");
            if (first != null) {
                node = first.get(node);
            }
            while (node != null) {
                Slot key = slot(node, "key");
                if (key != null) {
                    todo.accept(node, key);
                }
                Slot next = slot(node, "next");
                node = next == null ? null : next.get(node);
            }
        }
    }

    /** A field of an object; that of the highest class if several have the name. */
    private static Slot slot(Object object, String name) {
        Slot found = null;
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Slot slot : Layout.declared(type)) {
                if (slot.name.equals(name)) {
                    found = slot;
                }
            }
        }
        return found;
    }
}
