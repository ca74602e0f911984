package dev.hindsight.replay;

import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Tests of the order of immutable sets and maps, which each JVM draws at random. */
final class OrderTests {
    private OrderTests() {}

    private static final String OBJECTS = "[Ljava/lang/Object;";

    /**
     * The values that a JVM has drawn give the order of a table's elements, as its own iterators
     * have it.
     */
    static void placesAreInTheOrderOfIteration() throws Exception {
        Order order = Order.of(new Recorded.Row(new Object[] {drawn("SALT32L"), drawn("REVERSE")}, "an order"));
        for (int count = 3; count < 40; count++) {
            Object[] keys = keys(count);
            Set<Object> set = Set.of(keys);
            Object[] table = (Object[]) slot(set, "elements").get(set);
            equal(at(table, order.places(table, 1)), new ArrayList<>(set));
            Map<Object, Object> map = Map.ofEntries(entries(keys));
            table = (Object[]) slot(map, "table").get(map);
            equal(at(table, order.places(table, 2)), new ArrayList<>(map.keySet()));
        }
        equal(order.isSwapped(), false);
        Order other = Order.of(new Recorded.Row(
                new Object[] {drawn("SALT32L"), !(Boolean) drawn("REVERSE")}, "an order"));
        equal(other.isSwapped(), true);
    }

    /** Sets and maps accept any order, and are otherwise unchanged. */
    static void anyOrderCanBeGiven() throws Exception {
        Random random = new Random(5);
        for (int round = 0; round < 60; round++) {
            // The cost of one crash is bounded, and these are many.
            Order order = Order.of(new Recorded.Row(new Object[] {7L, true}, "an order"));
            int count = 3 + round * round / 60;
            Object[] some = round % 2 == 0 ? keys(count) : numbers(count);
            List<Object> keys = new ArrayList<>(Arrays.asList(some));
            Collections.shuffle(keys, random);
            Set<Object> set = Set.of(keys.toArray());
            order.apply(set, slot(set, "elements"), keys.toArray(), 1);
            equal(new ArrayList<>(set), keys);
            equal(Arrays.asList(set.toArray()), keys);
            Set<Object> like = new HashSet<>(keys);
            check(set.containsAll(keys) && !set.contains("no") && !set.contains(-1) && set.equals(like), set);
            equal(set.hashCode(), like.hashCode());
            Map<Object, Object> map = Map.ofEntries(entries(keys.toArray()));
            List<Object> pairs = new ArrayList<>();
            keys.forEach(key -> Collections.addAll(pairs, key, map.get(key)));
            order.apply(map, slot(map, "table"), pairs.toArray(), 2);
            equal(new ArrayList<>(map.keySet()), keys);
            Map<Object, Object> likewise = new HashMap<>();
            for (Object key : keys) {
                equal(map.get(key), key + "'s");
                likewise.put(key, key + "'s");
            }
            check(map.equals(likewise) && map.get("no") == null && !map.containsValue("no"), map);
            equal(map.hashCode(), likewise.hashCode());
            equal(map.values().size(), count);
        }
    }

    private static Object[] numbers(int count) {
        Object[] keys = new Object[count];
        Arrays.setAll(keys, at -> at);
        return keys;
    }

    private static Object[] keys(int count) {
        Object[] keys = new Object[count];
        Arrays.setAll(keys, at -> "key" + at * 31);
        return keys;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Map.Entry<Object, Object>[] entries(Object[] keys) {
        Map.Entry[] entries = new Map.Entry[keys.length];
        Arrays.setAll(entries, at -> Map.entry(keys[at], keys[at] + "'s"));
        return entries;
    }

    private static List<Object> at(Object[] table, int[] places) {
        List<Object> found = new ArrayList<>();
        for (int place : places) {
            found.add(table[place]);
        }
        return found;
    }

    private static Layout.Slot slot(Object of, String field) {
        return Layout.find(of.getClass(), field, OBJECTS);
    }

    /** A value that this JVM has drawn, by its name in JDK 17 and later. */
    private static Object drawn(String name) throws Exception {
        Class<?> type = Class.forName("java.util.ImmutableCollections");
        for (Field field : type.getDeclaredFields()) {
            if (field.getName().equals(name)) {
                return Trusted.LOOKUP.unreflectVarHandle(field).get();
            }
        }
        throw new AssertionError("no " + name);
    }
}
