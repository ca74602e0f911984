package busy;

import java.util.ArrayList;
import java.util.List;

/** Is told of everything that a {@link Source} finds. */
public class Counter {
    private final List<String> seen = new ArrayList<>();

    public void add(String text) {
        seen.add(text);
    }

    public int count() {
        return seen.size();
    }

    public List<String> all() {
        return seen;
    }

    /** Cannot be made by a test: nobody else has a function like the one that it wants. */
    public static class Source {
        private final Runnable before;

        public Source(Runnable before) {
            this.before = before;
        }

        public Found find(String text, Watcher watcher) {
            before.run();
            Found found = new Found(text);
            watcher.found(found);
            return found;
        }
    }

    /** What was found. */
    public static final class Found {
        final String text;

        Found(String text) {
            this.text = text;
        }
    }

    /** Hears of what is found. */
    public static class Watcher {
        private final List<String> heard = new ArrayList<>();

        public void found(Found found) {
            heard.add(found.text);
        }

        public List<String> heard() {
            return heard;
        }
    }
}
