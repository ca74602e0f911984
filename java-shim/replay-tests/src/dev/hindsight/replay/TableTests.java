package dev.hindsight.replay;

import static dev.hindsight.replay.Snapshot.frameOf;
import static dev.hindsight.replay.Snapshot.roundTrip;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;

import dev.hindsight.replay.GraphTests.Color;
import dev.hindsight.replay.GraphTests.Node;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Tests of the JDK's hash tables: keys by identity, within cycles, and keys that have changed or
 * throw.
 */
final class TableTests {
    private TableTests() {}

    /** A key that is equal by identity. */
    static final class Identity {}

    /** A key whose hash code is that of a collection. */
    static final class Composite implements Serializable {
        private static final long serialVersionUID = 1L;
        final Set<Object> parts = new HashSet<>();

        @Override
        public int hashCode() {
            return parts.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Composite && ((Composite) other).parts.equals(parts);
        }
    }

    static void mapsWithIdentityHashes() {
        Map<Object, Object> map = new HashMap<>();
        Object[] keys = new Object[300];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i % 2 == 0 ? new Identity() : i % 3 == 0 ? Color.class : new Object();
            map.put(keys[i], i);
        }
        map.put(Color.RED, "red");
        map.put(null, "null");
        Frame frame = frameOf(map, keys);
        Map<?, ?> back = frame.argument(1);
        Object[] backKeys = frame.argument(2);
        equal(back.size(), map.size());
        for (int i = 0; i < keys.length; i++) {
            equal(back.get(backKeys[i]), map.get(keys[i]));
        }
        equal(back.get(Color.RED), "red");
        equal(back.get(null), "null");
    }

    static void keysWhoseHashIsThatOfATable() {
        Map<Object, Object> map = new HashMap<>();
        Composite key = new Composite();
        Composite deep = new Composite();
        deep.parts.add("deep");
        key.parts.add(deep);
        map.put(key, "value");
        key.parts.add("later");
        Map<Object, Object> sound = new HashMap<>(map);
        Map<?, ?> back = (Map<?, ?>) roundTrip(sound);
        equal(back, sound);
        check(back.containsKey(key), "key not found");
    }

    /** A value leads to a set whose element depends on the map that holds it. */
    static void keysWithinCycles() {
        Map<Object, Object> outer = new HashMap<>();
        Composite key = new Composite();
        Set<Object> set = new HashSet<>();
        outer.put("a", 1);
        key.parts.add(outer);
        set.add(key);
        Node node = new Node(1);
        node.item = set;
        outer.put("node", node);
        set.clear();
        set.add(key);
        for (Object root : new Object[] {outer, set, node, key}) {
            Frame frame = frameOf(root, set, key);
            Set<?> back = frame.argument(2);
            check(back.contains(frame.argument(3)), "from " + root.getClass());
            equal(frame.holes(), List.of());
        }
    }

    static class Lru<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1L;
        static int calls;
        final int limit;
        transient String name = "lru";

        Lru(int limit) {
            super(16, 0.5f, true);
            this.limit = limit;
        }

        @Override
        public V put(K key, V value) {
            calls++;
            return super.put(key, value);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            calls++;
            return size() > limit;
        }
    }

    static void subclassesOfMapsKeepTheirOwnState() {
        Lru<String, Integer> lru = new Lru<>(2);
        lru.put("a", 1);
        lru.put("b", 2);
        lru.get("a");
        Lru.calls = 0;
        @SuppressWarnings("unchecked")
        Lru<String, Integer> back = (Lru<String, Integer>) roundTrip(lru);
        equal(Lru.calls, 0);
        equal(back.limit, 2);
        equal(back.name, "lru");
        equal(new ArrayList<>(back.keySet()), List.of("b", "a"));
        back.put("c", 3);
        equal(new ArrayList<>(back.keySet()), List.of("a", "c"));
    }

    /** A key with a secret in it. */
    static final class Account implements Comparable<Account> {
        final String iban;

        Account(String iban) {
            this.iban = iban;
        }

        @Override
        public int hashCode() {
            return iban.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Account && ((Account) other).iban.equals(iban);
        }

        @Override
        public int compareTo(Account other) {
            return iban.compareTo(other.iban);
        }
    }

    static final class ByInitial implements Comparator<String> {
        @Override
        public int compare(String one, String other) {
            return one.charAt(0) - other.charAt(0);
        }
    }

    private static Frame redacted(Object... arguments) {
        Snapshot snapshot = new Snapshot();
        snapshot.secrets = text -> text.contains("-00");
        Object[] rows = new Object[arguments.length];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = snapshot.argument(i + 1, arguments[i]);
        }
        return snapshot.frame(rows).restore(0);
    }

    static void redactedKeysOfHashTables() {
        List<Map<Object, Object>> maps = List.of(new HashMap<>(), new ConcurrentHashMap<>(), new Hashtable<>());
        Object[] keys = {"alpha-0001", "beta-00002", "gamma-0003", "public"};
        for (Map<Object, Object> map : maps) {
            for (Object key : keys) {
                map.put(key, key);
            }
            for (int i = 0; i < 20; i++) {
                map.put(new Account("account-00" + (10 + i)), i);
            }
            Frame frame = redacted(map, keys, new String("beta-00002"));
            Map<?, ?> back = frame.argument(1);
            equal(back.size(), map.size());
            for (Object key : frame.<Object[]>argument(2)) {
                check(back.get(key) == key, key);
            }
            equal(frame.argument(3), "xxxxxxxxx");
            check(frame.holes().stream().allMatch(hole -> hole.endsWith(Redacted.STANDS_IN)), frame.holes());
        }
        Frame frame = redacted(Map.copyOf(maps.get(0)));
        equal(frame.<Map<?, ?>>argument(1).size(), maps.get(0).size());
    }

    static void redactedKeysOfSortedTables() {
        List<Map<String, Object>> maps = List.of(new TreeMap<>(), new ConcurrentSkipListMap<>(),
                new TreeMap<>(Comparator.reverseOrder()), new TreeMap<String, Object>() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public Object put(String key, Object value) {
                        check(size() < 7, "called again");
                        return super.put(key, value);
                    }
                });
        String[] secrets = {"alpha-0001", "beta-00002", "gamma-0003"};
        for (Map<String, Object> map : maps) {
            for (String key : secrets) {
                map.put(key, key);
            }
            for (String key : List.of("ann", "bob", "eve", "zoe")) {
                map.put(key, key);
            }
            Frame frame = redacted(map, secrets);
            Map<?, ?> back = frame.argument(1);
            equal(back.getClass(), map.getClass());
            equal(back.size(), 7);
            for (String key : List.of("ann", "bob", "eve", "zoe")) {
                equal(back.get(key), key);
            }
            for (Object key : frame.<Object[]>argument(2)) {
                check(back.get(key) == key, key);
            }
        }
        TreeSet<String> all = new TreeSet<>(List.of(secrets));
        Frame frame = redacted(all, secrets);
        equal(new ArrayList<>(frame.<Set<?>>argument(1)), List.of(frame.<Object[]>argument(2)));
        TreeSet<Account> accounts = new TreeSet<>();
        for (int i = 0; i < 20; i++) {
            accounts.add(new Account("account-00" + (10 + i)));
        }
        frame = redacted(accounts, accounts.last());
        equal(frame.<Set<?>>argument(1).size(), 20);
        check(frame.<TreeSet<?>>argument(1).last() == frame.argument(2), "in another order");
    }

    static void redactedKeysThatCannotBeSorted() {
        Map<String, Object> map = new TreeMap<>(new ByInitial());
        map.put("alpha-0001", 1);
        map.put("beta-00002", 2);
        Frame frame = redacted(map);
        equal(frame.<Map<?, ?>>argument(1).size(), 2);
        check(frame.holes().stream().anyMatch(hole -> hole.contains("not sorted by what stands for")), frame.holes());
    }

    static final class Faulty {
        static Throwable thrown;

        @Override
        public int hashCode() {
            throw Faulty.<RuntimeException>sneaky(thrown);
        }

        @SuppressWarnings("unchecked")
        private static <E extends Throwable> E sneaky(Throwable e) throws E {
            throw (E) e;
        }
    }

    /**
     * A map that a program fills cannot have such a key, but a key that has changed since can be
     * like that.
     */
    private static Map<Object, Object> faulty() throws Exception {
        Map<Object, Object> map = new HashMap<>();
        map.put("a", 1);
        map.put("b", 2);
        for (Map.Entry<Object, Object> entry : map.entrySet()) {
            if (entry.getKey().equals("a")) {
                Layout.find(entry.getClass(), "key", "Ljava/lang/Object;").put(entry, new Faulty());
            }
        }
        return map;
    }

    static void keysThatThrow() throws Exception {
        List<Throwable> all = List.of(new IllegalStateException("no hash"), new AssertionError("no hash"),
                new java.io.IOException("no hash"), new StackOverflowError("no hash"));
        for (Throwable thrown : all) {
            Faulty.thrown = thrown;
            Frame frame = frameOf(faulty());
            equal(frame.argument(1), Map.of("b", 2));
            String hole = frame.holes().get(0);
            check(hole.contains("without an entry: " + thrown), frame.holes());
        }
    }

    static void memoryThatEndsIsNotTheTests() throws Exception {
        Faulty.thrown = new OutOfMemoryError("Java heap space");
        Map<Object, Object> map = faulty();
        fails(ReplayException.class, () -> frameOf(map), "not enough memory to load frame 0 of ", "-Xmx");
    }
}
