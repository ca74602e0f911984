package shared;

import java.util.ArrayList;
import java.util.List;

/** Its slots are inner classes of a generic one, and all racks have one color. */
public class Rack<T> {
    private static String color = "none";

    private final List<T> things = new ArrayList<>();

    public void put(T thing) {
        things.add(thing);
    }

    public String color() {
        return color;
    }

    public void paint(String name) {
        if (!name.equals("red")) {
            throw new IllegalArgumentException("no such color");
        }
        color = name;
    }

    public Slot slot(int at) {
        return new Slot(at);
    }

    /** A place in the rack. */
    public class Slot {
        private final int at;

        Slot(int at) {
            this.at = at;
        }

        public boolean isTaken() {
            return at < things.size();
        }

        public int next() {
            return at + 1;
        }
    }
}
