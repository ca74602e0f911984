package boxes;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** What it holds is known by what is put onto it, whatever else it is passed. */
public class Pile<T extends Comparable<T>> {
    private final List<T> things = new ArrayList<>();

    public void push(T thing) {
        things.add(thing);
    }

    public void merge(Map<? extends T, ? extends Collection<T>> others) {
        things.addAll(others.keySet());
    }

    public int height() {
        return things.size();
    }

    /** How many there are of what is passed one by one, if anything is. */
    public static String count(String name, Object... things) {
        return things == null ? name : name + things.length;
    }
}
