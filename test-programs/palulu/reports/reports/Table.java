package reports;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Not public: who uses it sees its methods in a subclass. */
abstract class Table<K, V> {
    private final TreeMap<K, V> rows = new TreeMap<>();

    public V put(K key, V value) {
        return rows.put(key, value);
    }

    public SortedMap<K, V> below(K key) {
        return rows.headMap(key);
    }

    public Map<K, V> rows() {
        return rows;
    }
}
