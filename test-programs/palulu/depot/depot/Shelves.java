package depot;

import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** A depot in memory. */
public final class Shelves implements Store {
    private final Map<String, Integer> counts = new TreeMap<>();
    private boolean open = true;

    Shelves(Properties settings) {
        counts.put("pallet", Integer.parseInt(settings.getProperty("pallets", "2")));
    }

    @Override
    public int add(String name, int count) {
        if (!open) {
            throw new IllegalStateException("closed");
        }
        return counts.merge(name, count, Integer::sum);
    }

    @Override
    public Count count(String name) {
        return new Number(this, name);
    }

    @Override
    public boolean close() {
        boolean before = open;
        open = false;
        return before;
    }

    /** Looked up when it is asked for. */
    public static final class Number implements Count {
        private final Shelves shelves;
        private final String name;

        Number(Shelves shelves, String name) {
            this.shelves = shelves;
            this.name = name;
        }

        @Override
        public int number() {
            return shelves.counts.getOrDefault(name, 0);
        }
    }
}
