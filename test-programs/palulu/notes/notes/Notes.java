package notes;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;

/** Gives away new lists and maps each time that it is asked, and an iterator of its own. */
public class Notes implements Iterable<String> {
    private final List<String> lines = new ArrayList<>();
    private final List<Notes> parts = new ArrayList<>();

    public Notes add(String line) {
        lines.add(line);
        return this;
    }

    public void attach(Notes part) {
        parts.add(part);
    }

    public Notes part(int at) {
        return parts.get(at);
    }

    public List<String> upper() {
        List<String> upper = new ArrayList<>();
        for (String line : lines) {
            upper.add(line.toUpperCase());
        }
        return upper;
    }

    public List<String> with(List<String> more) {
        List<String> all = new ArrayList<>(lines);
        all.addAll(more);
        return all;
    }

    public Map<String, Integer> lengths() {
        Map<String, Integer> lengths = new TreeMap<>();
        for (String line : lines) {
            lengths.put(line, line.length());
        }
        return lengths;
    }

    public static String titled(String title, Notes notes) {
        return title + notes.lines;
    }

    public int size() {
        return lines.size();
    }

    @Override
    public Iterator<String> iterator() {
        return new Through();
    }

    private class Through implements Iterator<String> {
        private int at;

        @Override
        public boolean hasNext() {
            return at < lines.size();
        }

        @Override
        public String next() {
            if (at >= lines.size()) {
                throw new NoSuchElementException("nothing at " + at);
            }
            return lines.get(at++);
        }
    }
}
