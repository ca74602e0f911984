import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

// Collections, iterators, streams.
class Collections {
    static int size(List<Cell> list) { return list.size(); } // expect list: immutable
    static void add(List<Cell> list, Cell c) { list.add(c); } // expect list: mutable, c: immutable
    static int first(List<Cell> list) { return list.get(0).value; } // expect list: immutable
    static void pokeFirst(List<Cell> list) { list.get(0).value = 1; } // expect list: mutable
    static int total(List<Cell> list) { int s = 0; for (Cell c : list) { s += c.value; } return s; } // expect list: immutable
    static void pokeAll(List<Cell> list) { for (Cell c : list) { c.value = 1; } } // expect list: mutable
    static void removeAll(List<Cell> list) { for (Iterator<Cell> i = list.iterator(); i.hasNext(); ) { i.next(); i.remove(); } } // expect list: mutable
    static int step(Iterator<Cell> i) { return i.next().value; } // expect i: mutable
    static boolean more(Iterator<Cell> i) { return i.hasNext(); } // expect i: immutable
    static List<Cell> wrap(Cell c) { List<Cell> l = new ArrayList<>(); l.add(c); return l; } // expect c: immutable
    static void wrapAndPoke(Cell c) { List<Cell> l = new ArrayList<>(); l.add(c); l.get(0).value = 1; } // expect c: mutable
    static void wrapAndClear(Cell c) { List<Cell> l = new ArrayList<>(); l.add(c); l.clear(); } // expect c: immutable
    static List<Cell> copy(List<Cell> list) { return new ArrayList<>(list); } // expect list: immutable
    static void copyAndAdd(List<Cell> list) { List<Cell> l = new ArrayList<>(list); l.add(null); } // expect list: immutable
    static void copyAndPoke(List<Cell> list) { List<Cell> l = new ArrayList<>(list); l.get(0).value = 1; } // expect list: mutable
    static Cell look(Map<String, Cell> map, String key) { return map.get(key); } // expect map: immutable
    static void pokeLook(Map<String, Cell> map, String key) { look(map, key).value = 1; } // expect map: mutable
    static void put(Map<String, Cell> map, Cell c) { map.put("", c); } // expect map: mutable, c: immutable
    static int keys(Map<String, Cell> map) { int n = 0; for (String k : map.keySet()) { n += k.length(); } return n; } // expect map: immutable
    static int entries(Map<String, Cell> map) { int n = 0; for (Map.Entry<String, Cell> e : map.entrySet()) { n += e.getValue().value; } return n; } // expect map: immutable
    static void pokeEntries(Map<String, Cell> map) { for (Map.Entry<String, Cell> e : map.entrySet()) { e.getValue().value = 1; } } // expect map: mutable
    static void clearValues(Map<String, Cell> map) { map.values().clear(); } // expect map: mutable
    static boolean has(Set<Cell> set, Cell c) { return set.contains(c); } // expect set: immutable, c: immutable
    static Map<String, Cell> index(Collection<Cell> all) { Map<String, Cell> m = new HashMap<>(); for (Cell c : all) { m.put("" + c.value, c); } return m; } // expect all: immutable
    static void sort(List<Cell> list) { list.sort((a, b) -> a.value - b.value); } // expect list: mutable
    static void each(List<Cell> list) { list.forEach(c -> c.value = 1); } // expect list: mutable
    static void pass(List<Cell> list, Consumer<Cell> consumer) { list.forEach(consumer); }
    static void eachPassed(List<Cell> list) { pass(list, c -> c.value = 1); } // expect list: mutable
    static int eachRead(List<Cell> list) { int[] sum = {0}; pass(list, c -> sum[0] += c.value); return sum[0]; } // expect list: immutable
    static void eachInto(List<Cell> list, List<Cell> out) { list.forEach(c -> out.add(c)); } // expect list: immutable, out: mutable
    static int streamed(List<Cell> list) { return list.stream().mapToInt(c -> c.value).sum(); } // expect list: immutable
    static List<Integer> mapped(List<Cell> list) { return list.stream().map(c -> c.value).collect(Collectors.toList()); } // expect list: immutable
    static void streamPoke(List<Cell> list) { list.stream().filter(c -> c.value > 0).forEach(c -> c.value = 0); } // expect list: mutable
    static List<Cell> unmodifiable(List<Cell> list) { return java.util.Collections.unmodifiableList(list); } // expect list: immutable
    static void shuffle(List<Cell> list) { java.util.Collections.shuffle(list); } // expect list: mutable
    static void fill(int[] xs) { java.util.Arrays.fill(xs, 1); } // expect xs: mutable
    static void sorted(int[] xs) { java.util.Arrays.sort(xs); } // expect xs: mutable
    static int hash(int[] xs) { return java.util.Arrays.hashCode(xs); } // expect xs: immutable
    static List<Cell> asList(Cell a) { return java.util.Arrays.asList(a); } // expect a: immutable
    static void pokeAsList(Cell a) { java.util.Arrays.asList(a).get(0).value = 1; } // expect a: mutable
}
