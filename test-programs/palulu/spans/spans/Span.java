package spans;

import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** Gives away objects whose classes nobody can name. */
public class Span implements Iterable<Integer> {
    private final int low;
    private final int high;

    public Span(int low, int high) {
        this.low = low;
        this.high = high;
    }

    @Override
    public Iterator<Integer> iterator() {
        return new Through();
    }

    public Comparator<Integer> nearest(int to) {
        return new Comparator<>() {
            @Override
            public int compare(Integer one, Integer other) {
                return Math.abs(one - to) - Math.abs(other - to);
            }
        };
    }

    public CharSequence text() {
        return new Text(low + ".." + high);
    }

    private class Through implements Iterator<Integer> {
        private int next = low;

        @Override
        public boolean hasNext() {
            return next < high;
        }

        @Override
        public Integer next() {
            if (next >= high) {
                throw new NoSuchElementException("after " + high);
            }
            return next++;
        }
    }

    private static class Text implements CharSequence {
        private final String text;

        Text(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int at) {
            return text.charAt(at);
        }

        @Override
        public CharSequence subSequence(int from, int to) {
            return new Text(text.substring(from, to));
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
