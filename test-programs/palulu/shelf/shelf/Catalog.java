package shelf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Items by key, with tags. */
public class Catalog<K extends Comparable<K>, V> {
    private final Map<K, V> items = new HashMap<>();
    private final List<K> order = new ArrayList<>();
    private int limit = 10;

    public Catalog() {}

    public Catalog(Map<K, V> start) {
        for (Map.Entry<K, V> e : start.entrySet()) {
            put(e.getKey(), e.getValue());
        }
    }

    public V put(K key, V value) {
        if (!items.containsKey(key)) {
            if (order.size() >= limit) {
                throw new IllegalStateException("full: " + limit);
            }
            order.add(key);
        }
        return items.put(key, value);
    }

    public V get(K key) {
        return items.get(key);
    }

    public List<K> keys() {
        List<K> sorted = new ArrayList<>(order);
        sorted.sort(null);
        return sorted;
    }

    public K first() {
        if (order.isEmpty()) {
            throw new IllegalStateException("empty");
        }
        return order.get(0);
    }

    public int size() {
        return order.size();
    }

    public void limit(int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit " + limit);
        }
        this.limit = limit;
    }

    public Catalog<K, V> filtered(Predicate<K> wanted) {
        Catalog<K, V> found = new Catalog<>();
        for (K key : order) {
            if (wanted.test(key)) {
                found.put(key, items.get(key));
            }
        }
        return found;
    }

    /** What becomes of an item. */
    public interface Rule<K, V> {
        V applied(K key, V value);

        default Rule<K, V> twice() {
            return (key, value) -> applied(key, applied(key, value));
        }
    }

    public V changed(K key, Rule<K, V> rule) {
        V value = rule.twice().applied(key, items.get(key));
        put(key, value);
        return value;
    }

    public static <T extends Comparable<T>> T max(List<T> all) {
        T best = null;
        for (T one : all) {
            if (best == null || one.compareTo(best) > 0) {
                best = one;
            }
        }
        return best;
    }

    /** Goes through the keys. */
    public class Cursor {
        private int at;

        public Cursor skip(int keys) {
            at += keys;
            return this;
        }

        public K key() {
            return order.get(at);
        }

        public V value() {
            return items.get(key());
        }
    }

    public Cursor cursor() {
        return new Cursor();
    }

    @Override
    public String toString() {
        return "Catalog" + keys();
    }
}
