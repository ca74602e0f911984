package orders;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Reads entries, of which nobody sees what reads them. */
public final class Journal implements Iterable<Journal.Entry> {
    private final String[] texts;

    public Journal(String text) {
        texts = text.split(",");
    }

    @Override
    public Iterator<Entry> iterator() {
        return new Reader();
    }

    /** What a journal is made of. */
    public static final class Entry {
        private final String text;

        Entry(String text) {
            this.text = text;
        }

        public int length() {
            return text.length();
        }

        public String upper() {
            return text.toUpperCase(java.util.Locale.ROOT);
        }
    }

    private final class Reader implements Iterator<Entry> {
        private int at;

        @Override
        public boolean hasNext() {
            return at < texts.length;
        }

        @Override
        public Entry next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return read();
        }

        private Entry read() {
            return new Entry(texts[at++]);
        }
    }
}
