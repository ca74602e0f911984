import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Stack;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;

// Collections of collections: what is put into one that another holds is not changed by that, and is
// found again.
class Nested {
    int value;
    Nested next;
    List<Nested> all = new ArrayList<>();

    static class Own extends AbstractList<Nested> {
        private final Nested[] own;
        Own(Nested t) { own = new Nested[] {t}; }
        @Override public Nested get(int i) { return own[i]; }
        @Override public int size() { return 1; }
    }

    static class OwnMap extends AbstractMap<String, Nested> {
        private final Map<String, Nested> in = new HashMap<>();
        OwnMap(Nested t) { in.put("", t); }
        @Override public Set<Map.Entry<String, Nested>> entrySet() { return in.entrySet(); }
    }

    static void addToGot(Map<String, List<Nested>> groups, Nested t) { groups.get("k").add(t); } // expect groups: mutable, t: immutable
    static void addToMade(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); g.put("", new ArrayList<>()); g.get("").add(t); } // expect t: immutable
    static void addToMadeList(List<List<Nested>> in, Nested t) { List<List<Nested>> g = new ArrayList<>(); g.add(new ArrayList<>()); g.get(0).add(t); in.add(g.get(0)); } // expect in: mutable, t: immutable
    static void group(Collection<Nested> all) { Map<Integer, List<Nested>> g = new HashMap<>(); for (Nested t : all) { if (g.get(t.value) == null) { g.put(t.value, new ArrayList<>()); } g.get(t.value).add(t); } } // expect all: immutable
    static void groupComputed(Collection<Nested> all) { Map<Integer, List<Nested>> g = new HashMap<>(); for (Nested t : all) { g.computeIfAbsent(t.value, k -> new ArrayList<>()).add(t); } } // expect all: immutable
    static void addToPeeked(Nested t) { Deque<List<Nested>> g = new ArrayDeque<>(); g.push(new ArrayList<>()); g.peek().add(t); g.pop().add(t); } // expect t: immutable

    // The same ways, with a change at their ends.
    static void addedAll(Nested t) { List<Nested> l = new ArrayList<>(); l.add(t); List<Nested> m = new ArrayList<>(); m.addAll(l); m.get(0).value = 1; } // expect t: mutable
    static void constructed(Nested t) { List<Nested> l = new ArrayList<>(); l.add(t); List<Nested> m = new ArrayList<>(l); m.get(0).value = 1; } // expect t: mutable
    static void got(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); List<Nested> l = new ArrayList<>(); l.add(t); g.put("", l); g.get("").get(0).value = 1; } // expect t: mutable
    static void gotAndAdded(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); List<Nested> l = new ArrayList<>(); g.put("", l); g.get("").add(t); l.get(0).value = 1; } // expect t: mutable
    static void eachValue(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); List<Nested> l = new ArrayList<>(); g.put("", l); l.add(t); for (List<Nested> x : g.values()) for (Nested y : x) y.value = 1; } // expect t: mutable
    static void eachOfMap(Nested t) { Map<String, Nested> g = new HashMap<>(); g.put("", t); for (Nested x : g.values()) x.value = 1; } // expect t: mutable
    static void firstKey(Nested t) { Map<Nested, String> g = new java.util.TreeMap<>(); g.put(t, ""); g.keySet().iterator().next().value = 1; } // expect t: mutable
    static void forEachValue(Nested t) { Map<String, Nested> g = new java.util.LinkedHashMap<>(); g.put("", t); g.values().forEach(x -> x.value = 1); } // expect t: mutable
    static void streamedValues(Nested t) { Map<String, Nested> g = new HashMap<>(); g.put("", t); g.values().stream().forEach(x -> x.value = 1); } // expect t: mutable
    static void eachEntryOfMap(Nested t) { Map<String, Nested> g = new HashMap<>(); g.put("", t); for (Map.Entry<String, Nested> e : g.entrySet()) e.getValue().value = 1; } // expect t: mutable
    static int sumOfValues(Nested t) { Map<String, Nested> g = new HashMap<>(); g.put("", t); int n = 0; for (Nested x : g.values()) n += x.value; return n; } // expect t: immutable
    static void eachEntry(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); List<Nested> l = new ArrayList<>(); g.put("", l); l.add(t); for (Map.Entry<String, List<Nested>> x : g.entrySet()) x.getValue().get(0).value = 1; } // expect t: mutable
    static void sorted(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); g.put("", new ArrayList<>()); g.get("").add(t); Map<String, List<Nested>> h = new TreeMap<>(g); h.get("").get(0).value = 1; } // expect t: mutable
    static void putAll(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); g.put("", new ArrayList<>()); g.get("").add(t); Map<String, List<Nested>> h = new HashMap<>(); h.putAll(g); h.get("").get(0).value = 1; } // expect t: mutable
    @SuppressWarnings("unchecked")
    static void cloned(Nested t) { ArrayList<Nested> l = new ArrayList<>(); l.add(t); ((List<Nested>) l.clone()).get(0).value = 1; } // expect t: mutable
    static void subList(Nested t) { List<List<Nested>> g = new ArrayList<>(); g.add(new ArrayList<>()); g.get(0).add(t); g.subList(0, 1).get(0).get(0).value = 1; } // expect t: mutable
    static void polled(Nested t) { Deque<List<Nested>> g = new ArrayDeque<>(); g.add(new ArrayList<>()); g.peek().add(t); g.poll().get(0).value = 1; } // expect t: mutable
    static void referred(Nested t) { AtomicReference<Nested> r = new AtomicReference<>(t); r.get().value = 1; } // expect t: mutable
    static void referredInArray(Nested t) { AtomicReferenceArray<Nested> r = new AtomicReferenceArray<>(new Nested[] {t}); r.get(0).value = 1; } // expect t: mutable
    static void grouped(Nested t) { List<Nested> l = new ArrayList<>(); l.add(t); Map<Integer, List<Nested>> g = l.stream().collect(Collectors.groupingBy(x -> x.value)); g.get(1).get(0).value = 1; } // expect t: mutable
    static void addedAllOf(Nested t) { List<Nested> l = new ArrayList<>(); Collections.addAll(l, t); l.get(0).value = 1; } // expect t: mutable
    static void eachOwn(Nested t) { for (Nested x : new Own(t)) x.value = 1; } // expect t: mutable
    static void subListOfOwn(Nested t) { new Own(t).subList(0, 1).get(0).value = 1; } // expect t: mutable
    static void constructedOfOwn(Nested t) { new ArrayList<>(new Own(t)).get(0).value = 1; } // expect t: mutable
    static void nextOfOwn(Nested t) { Iterator<Nested> i = new Own(t).iterator(); i.next().value = 1; } // expect t: mutable
    static void ofOwnMap(Nested t) { new OwnMap(t).get("").value = 1; } // expect t: mutable
    static void eachOfOwnMap(Nested t) { for (Nested x : new OwnMap(t).values()) x.value = 1; } // expect t: mutable
    static void firstEntry(Nested t) { TreeMap<String, Nested> m = new TreeMap<>(); m.put("", t); m.firstEntry().getValue().value = 1; } // expect t: mutable
    static void headMap(Nested t) { TreeMap<String, Nested> m = new TreeMap<>(); m.put("", t); m.headMap("").get("").value = 1; } // expect t: mutable
    static void fieldOf(Nested t) { Nested d = new Nested(); d.next = t; List<Nested> l = new ArrayList<>(); l.add(d); l.get(0).next.value = 1; } // expect t: mutable
    static void listOf(Nested t) { Nested d = new Nested(); d.all.add(t); List<Nested> l = List.of(d); l.get(0).all.get(0).value = 1; } // expect t: mutable
    static void computed(Nested t) { Map<String, List<Nested>> g = new HashMap<>(); g.computeIfAbsent("", k -> new ArrayList<>()).add(t); g.get("").get(0).value = 1; } // expect t: mutable
    static void computedByLambda(Nested t) { Map<String, Nested> g = new HashMap<>(); g.computeIfAbsent("", k -> t); g.get("").value = 1; } // expect t: mutable
    static void merged(Nested t) { Map<String, Nested> g = new HashMap<>(); g.merge("", t, (a, b) -> a).value = 1; } // expect t: mutable
    static void streamed(Nested t) { Nested[] a = {t}; Arrays.stream(a).forEach(x -> x.value = 1); } // expect t: mutable
    static void constructedOfGiven(List<Nested> t) { List<Nested> l = new ArrayList<>(t); l.get(0).value = 1; } // expect t: mutable
    static void constructedAndAdded(List<List<Nested>> t) { List<List<Nested>> l = new ArrayList<>(t); l.get(0).add(null); } // expect t: mutable
    static void constructedMap(Map<String, List<Nested>> t) { Map<String, List<Nested>> l = new HashMap<>(t); l.get("").add(null); } // expect t: mutable
    static void pushed(Nested t) { Stack<Nested> q = new Stack<>(); q.push(t).value = 1; } // expect t: mutable
    static void toArray(Nested t) { List<Nested> q = new ArrayList<>(); q.add(t); q.toArray(new Nested[0])[0].value = 1; } // expect t: mutable
    static void listIterator(Nested t) { List<Nested> q = new LinkedList<>(); q.add(t); q.listIterator().next().value = 1; } // expect t: mutable
    static void unmodifiable(Nested t) { List<Nested> q = new ArrayList<>(); q.add(t); Collections.unmodifiableList(q).get(0).value = 1; } // expect t: mutable
    static void synchronizedList(Nested t) { List<Nested> q = new ArrayList<>(); q.add(t); Collections.synchronizedList(q).get(0).value = 1; } // expect t: mutable
    static void threeNested(Nested t) { Map<String, Map<String, List<Nested>>> q = new HashMap<>(); q.put("", new HashMap<>()); q.get("").put("", new ArrayList<>()); q.get("").get("").add(t); new ArrayList<>(q.values()).get(0).get("").get(0).value = 1; } // expect t: mutable
    static void updated(Nested t) { AtomicReference<Nested> r = new AtomicReference<>(); r.updateAndGet(x -> t); r.get().value = 1; } // expect t: mutable
    static void addedAllOfOwn(Nested t) { List<Nested> l = new ArrayList<>(); Own m = new Own(t); l.addAll(m); l.get(0).value = 1; } // expect t: mutable
    static void drained(Nested t) { List<Nested> a = new ArrayList<>(), b = new ArrayList<>(); a.add(t); new LinkedBlockingQueue<>(a).drainTo(b); b.get(0).value = 1; } // expect t: mutable
    static void partitioned(Nested t) { List<Nested> l = new ArrayList<>(); l.add(t); Map<Boolean, Map<Integer, List<Nested>>> g = l.stream().collect(Collectors.partitioningBy(x -> true, Collectors.groupingBy(x -> x.value))); g.get(true).get(1).get(0).value = 1; } // expect t: mutable
}
