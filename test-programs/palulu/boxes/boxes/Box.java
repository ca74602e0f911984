package boxes;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Is gone through by an iterator that asks it at each step. */
public class Box<T> implements Iterable<T> {
    private final List<T> things = new ArrayList<>();

    public void put(T thing) {
        if (things.size() >= 4) {
            throw new IllegalStateException("full");
        }
        things.add(thing);
    }

    public int size() {
        return things.size();
    }

    public T get(int at) {
        return things.get(at);
    }

    public String label() {
        return System.getProperty("boxes.label", "none");
    }

    @Override
    public Iterator<T> iterator() {
        return new Through();
    }

    private class Through implements Iterator<T> {
        private int at;

        @Override
        public boolean hasNext() {
            return at < size();
        }

        @Override
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException("nothing at " + at);
            }
            return get(at++);
        }
    }
}
