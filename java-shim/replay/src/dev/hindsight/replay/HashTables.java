package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.Stored;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Rules for hash tables: their entries are read from the recorded nodes and inserted anew.
 *
 * <p>A plain table of the JDK's own class is filled, and its fields are then copied into the
 * object. So nothing of the program runs except the keys' {@code hashCode} and {@code equals}, even
 * if the object is of a subclass. The table's size and the order in it are kept as far as hash
 * codes allow.
 */
final class HashTables {
    private HashTables() {}

    static void register() {
        Rules.register(new Table("java.util.HashMap") {
            @Override
            Object fresh(Instance map) {
                return newHashMap(map);
            }

            @Override
            void entries(Instance map, Entries out) {
                buckets(map, "key", "value", out);
            }
        });
        Rules.register(new Table("java.util.LinkedHashMap") {
            @Override
            Object fresh(Instance map) {
                return newHashMap(map);
            }

            @Override
            void entries(Instance map, Entries out) {
                chain(map.restorer, map.reference("head"), "after", "key", "value", out);
            }
        });
        Rules.register(new Table("java.util.HashSet") {
            @Override
            Object fresh(Instance set) {
                return newHashSet(set);
            }

            @Override
            void entries(Instance set, Entries out) {
                Instance map = set.object("map");
                if (map != null && map.has("head")) {
                    chain(map.restorer, map.reference("head"), "after", "key", null, out);
                } else if (map != null) {
                    buckets(map, "key", null, out);
                }
            }
        });
        Rules.register(new Table("java.util.Hashtable") {
            @Override
            Object fresh(Instance map) {
                return new Hashtable<>(capacity(map, 11), map.real("loadFactor", 0.75f));
            }

            @Override
            void entries(Instance map, Entries out) {
                buckets(map, "key", "value", out);
            }

            @Override
            boolean lastFirst() {
                return true;
            }
        });
        // Since JDK 9 its entries are in a ConcurrentHashMap, and its own table is not used.
        Rules.register(new Rule("java.util.Properties") {
            @Override
            Object create(Instance instance) throws Hole {
                return Restorer.allocate(instance.type.running);
            }

            @Override
            boolean isRaw(Recorded.FieldInfo field) {
                return field.owner.equals(owner);
            }
        });
        Rules.register(new Table("java.util.concurrent.ConcurrentHashMap") {
            @Override
            Object fresh(Instance map) {
                // It makes its table a third larger than it is asked to.
                return new ConcurrentHashMap<>(Math.max(0, capacity(map, 16) / 4 * 3 - 1));
            }

            @Override
            void entries(Instance map, Entries out) {
                concurrent(map, out);
            }
        });
        Rules.register(new Table("java.util.IdentityHashMap") {
            @Override
            Object fresh(Instance map) {
                return new IdentityHashMap<>(Math.max(4, capacity(map, 64) / 3));
            }

            @Override
            Object nullKey() {
                return Constants.ofJdk(owner, "NULL_KEY");
            }

            @Override
            void entries(Instance map, Entries out) {
                pairs(map, "table", out);
            }
        });
        Rules.register(new Table("java.util.WeakHashMap") {
            @Override
            Object fresh(Instance map) {
                return new WeakHashMap<>(capacity(map, 16), map.real("loadFactor", 0.75f));
            }

            @Override
            Object nullKey() {
                return Constants.ofJdk(owner, "NULL_KEY");
            }

            @Override
            void entries(Instance map, Entries out) {
                buckets(map, "referent", "value", out);
            }

            @Override
            boolean lastFirst() {
                return true;
            }
        });
        Rules.register(new Immutable("java.util.ImmutableCollections$MapN", "table", true));
        Rules.register(new Immutable("java.util.ImmutableCollections$SetN", "elements", false));
    }

    /** The keys of a hash table in order of iteration; none for other objects. */
    static int[] keys(Instance instance) {
        Entries entries = new Entries();
        if (instance.type.rule instanceof Table) {
            ((Table) instance.type.rule).entries(instance, entries);
        }
        return entries.keys.toArray();
    }

    /** The hash codes of keys; a key whose method fails counts as zero. */
    static int[] hashes(Object[] keys) {
        int[] hashes = new int[keys.length];
        for (int i = 0; i < keys.length; i++) {
            try {
                hashes[i] = keys[i].hashCode();
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (Throwable e) {
                hashes[i] = 0;
            }
        }
        return hashes;
    }

    /** The recorded entries of a table, in order of iteration. */
    private static final class Entries {
        final Numbers keys = new Numbers();
        final Numbers values = new Numbers();
        final Numbers hashes = new Numbers();
        final BitSet hasHash = new BitSet();

        void add(int key, int value) {
            keys.add(key);
            values.add(value);
            hashes.add(0);
        }

        /** Sets the hash code of the latest entry. */
        void hash(int hash) {
            hashes.set(size() - 1, hash);
            hasHash.set(size() - 1);
        }

        int size() {
            return keys.size();
        }
    }

    /** A kind of hash table. */
    private abstract static class Table extends Rule {
        Table(String owner) {
            super(owner);
        }

        /** An empty table of the JDK's class. */
        abstract Object fresh(Instance table) throws Hole;

        /** Adds the objects of each key and value, in order of iteration. */
        abstract void entries(Instance table, Entries out);

        /** Whether a later insertion comes first in its bucket. */
        boolean lastFirst() {
            return false;
        }

        /** The object that stands for the key null; null if that is null itself. */
        Object nullKey() {
            return null;
        }

        @Override
        void children(Instance instance, Numbers out) {
            Entries entries = new Entries();
            entries(instance, entries);
            for (int i = 0; i < entries.size(); i++) {
                out.add(entries.keys.get(i));
                out.add(entries.values.get(i));
            }
        }

        @Override
        Object create(Instance instance) throws Hole {
            Object object = Restorer.allocate(instance.type.running);
            Layout.copy(fresh(instance), object, covered(instance));
            return object;
        }

        @Override
        boolean inserts() {
            return true;
        }

        @Override
        Object[] insert(Instance instance, Object object) throws Hole {
            Entries entries = new Entries();
            entries(instance, entries);
            int standIns = 0;
            List<Object> keys = new ArrayList<>();
            List<Object> values = new ArrayList<>();
            List<Object> unsettled = new ArrayList<>();
            for (int i = 0; i < entries.size(); i++) {
                int number = entries.keys.get(i);
                Object key = instance.restorer.get(number);
                if (key == null && number >= 0) {
                    instance.restorer.note(instance.type.info.name,
                            "without an entry whose key could not be restored");
                    continue;
                }
                key = key == nullKey() ? null : key;
                boolean settled = key == null || isSettled(key);
                Object inserted = settled || !entries.hasHash.get(i)
                        ? key
                        : instance.restorer.staleKeys.of(number, key, entries.hashes.get(i), owner);
                standIns += inserted == key ? 0 : 1;
                keys.add(inserted);
                values.add(instance.restorer.get(entries.values.get(i)));
                if (!settled) {
                    unsettled.add(key);
                }
            }
            if (lastFirst()) {
                Collections.reverse(keys);
                Collections.reverse(values);
            }
            Class<?> covered = covered(instance);
            Object filled = filled(instance, keys, values);
            if (standIns > 0 && !StaleKeys.settle(filled, standIns)) {
                throw new Hole("its keys that have changed cannot be put where they were");
            }
            Layout.copy(filled, object, covered);
            restoreCount(instance, object, covered);
            return unsettled.isEmpty() ? null : unsettled.toArray();
        }

        /** A table of the JDK's class with these entries. */
        Object filled(Instance instance, List<Object> keys, List<Object> values) throws Hole {
            Object table = fresh(instance);
            if (table instanceof Map) {
                @SuppressWarnings("unchecked")
                Map<Object, Object> map = (Map<Object, Object>) table;
                for (int i = 0; i < keys.size(); i++) {
                    int before = map.size();
                    Object value = values.get(i);
                    tryInsert(instance, keys.get(i), key -> {
                        map.put(key, value);
                        return map.size() > before;
                    });
                }
            } else {
                @SuppressWarnings("unchecked")
                Set<Object> set = (Set<Object>) table;
                for (Object element : keys) {
                    tryInsert(instance, element, set::add);
                }
            }
            return table;
        }

        /** Runs the program's {@code hashCode} and {@code equals}, which may do anything. */
        static void tryInsert(Instance instance, Object key, Predicate<Object> insertion) {
            String trouble = "two keys are equal now, one is lost";
            boolean added = false;
            try {
                added = insertion.test(key);
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (Throwable e) {
                trouble = "without an entry: " + Classes.reason(e);
            }
            if (!added) {
                instance.restorer.note(instance.type.info.name, trouble);
            }
        }

        /** Restores the modification count, which an iterator compares with its own copy. */
        private static void restoreCount(Instance instance, Object object, Class<?> covered) {
            for (Class<?> type = covered; type != null; type = type.getSuperclass()) {
                Slot slot = Layout.find(type, "modCount", "I");
                if (slot != null && instance.has("modCount")) {
                    slot.put(object, (int) instance.number("modCount", 0));
                }
            }
        }

        private Class<?> covered(Instance instance) throws Hole {
            Class<?> covered = instance.type.superclass(owner);
            if (covered == null) {
                throw new Hole("no longer a subclass of " + owner + "; " + Classes.DIFFERS, true);
            }
            return covered;
        }
    }

    /**
     * The results of {@code Map.of} and {@code Set.of}, whose tables are salted in each process.
     */
    private static final class Immutable extends Table {
        /** The field with the keys, each of which is followed by its value in a map. */
        private final String elements;
        private final boolean isMap;
        /** The number of objects of one entry. */
        private final int step;

        Immutable(String owner, String elements, boolean isMap) {
            super(owner);
            this.elements = elements;
            this.isMap = isMap;
            step = isMap ? 2 : 1;
        }

        @Override
        void entries(Instance table, Entries out) {
            Object[] objects = table.elements(elements);
            for (int place : places(table.restorer.file.order, objects)) {
                out.add(Restorer.reference(objects[place]), isMap ? Restorer.reference(objects[place + 1]) : -1);
            }
        }

        @Override
        Object create(Instance table) throws Hole {
            if (!Constants.isEmpty(table, elements)) {
                return super.create(table);
            }
            Object shared = isMap ? Map.of() : Set.of();
            table.restorer.preset(table.number, shared);
            return shared;
        }

        @Override
        Object fresh(Instance table) throws Hole {
            return made(table);
        }

        @Override
        Object filled(Instance instance, List<Object> keys, List<Object> values) throws Hole {
            Map<Object, Object> unique = new LinkedHashMap<>();
            for (int i = 0; i < keys.size(); i++) {
                Object value = isMap ? values.get(i) : Boolean.TRUE;
                int before = unique.size();
                tryInsert(instance, keys.get(i), key -> {
                    unique.put(key, Objects.requireNonNull(value, "its value is a hole"));
                    return unique.size() > before;
                });
            }
            List<Object> arguments = new ArrayList<>();
            unique.forEach((key, value) -> {
                arguments.add(key);
                if (isMap) {
                    arguments.add(value);
                }
            });
            Object[] entries = arguments.toArray();
            Object made = made(instance, entries);
            Order order = instance.restorer.file.order;
            Slot table = Layout.find(instance.type.superclass(owner), elements, "[Ljava/lang/Object;");
            if (order != null && table != null) {
                order.apply(made, table, entries, step);
            }
            return made;
        }

        /** The places of the elements, in the order of iteration if that is known. */
        private int[] places(Order order, Object[] table) {
            return order != null && table.length % step == 0
                    ? order.places(table, step)
                    : IntStream.range(0, table.length / step).map(i -> i * step)
                            .filter(i -> table[i] != null).toArray();
        }

        private Object made(Instance instance, Object... arguments) throws Hole {
            Class<?> type = instance.type.superclass(owner);
            try {
                return Trusted.LOOKUP.findConstructor(
                                type, MethodType.methodType(void.class, Object[].class))
                        .asFixedArity().invoke(arguments);
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (Throwable e) {
                throw new Hole("this JDK makes no such table: " + Classes.reason(e));
            }
        }
    }

    /** Whether a key's hash code cannot depend on the content of a table. */
    static boolean isSettled(Object key) {
        return key instanceof String || key instanceof Number || key instanceof Enum
                || key instanceof Character || key instanceof Boolean || key instanceof Class
                || key.getClass() == Object.class;
    }

    private static Object newHashMap(Instance map) {
        float load = map.real("loadFactor", 0.75f);
        if (map.has("accessOrder")) {
            return new LinkedHashMap<>(capacity(map, 16), load, map.flag("accessOrder"));
        }
        return new HashMap<>(capacity(map, 16), load);
    }

    /** A set, whose map must have the JDK's own marker as values. */
    private static Object newHashSet(Instance set) {
        Instance map = set.object("map");
        int capacity = map == null ? 16 : capacity(map, 16);
        float load = map == null ? 0.75f : map.real("loadFactor", 0.75f);
        return map != null && map.has("head")
                ? new LinkedHashSet<>(capacity, load) : new java.util.HashSet<>(capacity, load);
    }

    /** The length of the recorded table. */
    private static int capacity(Instance map, int otherwise) {
        Stored table = map.stored("table");
        if (table != null && table.kind == Stored.REFERENCES) {
            return Math.max(1, table.values().length);
        }
        // Not allocated yet; HashMap keeps the wanted capacity here.
        long threshold = map.number("threshold", 0);
        return threshold > 0 && threshold <= 1 << 16 ? (int) threshold : otherwise;
    }

    private static void buckets(Instance map, String key, String value, Entries out) {
        Object[] table = map.elements("table");
        boolean backwards = map.type.superclass("java.util.Hashtable") != null;
        for (int i = 0; i < table.length; i++) {
            Object bucket = table[backwards ? table.length - 1 - i : i];
            chain(map.restorer, Restorer.reference(bucket), "next", key, value, out);
        }
    }

    /** Follows linked nodes, at most as many as there are objects. */
    private static void chain(
            Restorer restorer, int first, String next, String key, String value, Entries out) {
        int left = restorer.file.objectCount();
        for (Instance node = restorer.instance(first); node != null && left > 0; left--) {
            out.add(node.reference(key), value == null ? -1 : node.reference(value));
            // The referent of a weak reference is not compared: a changed key is unreachable there
            // in any case.
            if (!key.equals("referent") && node.value("hash") instanceof Long) {
                out.hash((int) node.number("hash", 0));
            }
            // Nodes that are references inherit another field of this name.
            node = restorer.instance(node.lowestReference(next));
        }
    }

    private static void pairs(Instance map, String table, Entries out) {
        Object[] slots = map.elements(table);
        for (int i = 0; i + 1 < slots.length; i += 2) {
            if (slots[i] != null) {
                out.add(Restorer.reference(slots[i]), Restorer.reference(slots[i + 1]));
            }
        }
    }

    /**
     * Reads a {@code ConcurrentHashMap}: a table that was growing has forwarding nodes to its
     * successor.
     */
    private static void concurrent(Instance map, Entries out) {
        boolean growing = false;
        for (Object bucket : map.elements("table")) {
            Instance node = map.restorer.instance(Restorer.reference(bucket));
            if (node != null && node.has("nextTable")) {
                growing = true;
            } else {
                bin(node, out);
            }
        }
        if (growing) {
            for (Object bucket : map.elements("nextTable")) {
                bin(map.restorer.instance(Restorer.reference(bucket)), out);
            }
        }
    }

    private static void bin(Instance node, Entries out) {
        if (node != null) {
            int first = node.has("first") ? node.reference("first") : node.number;
            chain(node.restorer, first, "next", "key", "val", out);
        }
    }
}
