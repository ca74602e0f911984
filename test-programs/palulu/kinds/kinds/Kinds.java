package kinds;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import javax.lang.model.element.Modifier;

/** Methods of one name, numbers that are none, and what is another thing elsewhere. */
public class Kinds {
    /** What lists are of. */
    public static class Part {
        private final String name;
        private int uses;

        public Part(String name) {
            this.name = name;
        }

        public int use() {
            return ++uses;
        }

        public String name() {
            return name;
        }
    }

    /** What can be read, */
    public interface Source {
        String read();
    }

    /** or written: some of it is both. */
    public interface Sink {
        Sink write(String text);
    }

    private static final class Pipe implements Source, Sink {
        private String last = "";

        @Override
        public String read() {
            return last;
        }

        @Override
        public Sink write(String text) {
            last += text;
            return this;
        }
    }

    public Sink sink() {
        return new Pipe();
    }

    /** Inner classes of a constant. */
    public enum Tone {
        LOW,
        HIGH;

        /** Something said. */
        public class Word {
            private final String text;

            public Word(String text) {
                this.text = text;
            }

            public String loud() {
                return Tone.this == HIGH ? text + "!" : text;
            }
        }
    }

    /** Must not be the first of two that need each other. */
    public static final class Second {
        public static final Second HEAD = new Second(First.all().size());
        private final int size;

        private Second(int size) {
            this.size = size;
        }

        public int size() {
            return size;
        }
    }

    /** Has the other initialised. */
    public static final class First {
        public static final First ONE = new First(Second.HEAD.size());
        private final int number;

        private First(int number) {
            this.number = number;
        }

        static List<String> all() {
            return List.of("all");
        }

        public int number() {
            return number;
        }
    }

    /** A part with an edge. */
    public static class Blade extends Part {
        public Blade() {
            super("blade");
        }
    }

    /** Made of parts of any kind. */
    public static class Tool {
        private final List<Part> parts;

        public Tool(List<Part> parts) {
            this.parts = parts;
        }

        /** As tuples call their elements. */
        public String _1() {
            return parts.get(0).name();
        }
    }

    private final List<Part> parts = new ArrayList<>();
    private int calls;

    public String kind(CharSequence text) {
        return "text " + ++calls;
    }

    public String kind(String text) {
        return "word " + ++calls;
    }

    public String kind(Object value) {
        return "value " + ++calls;
    }

    public String kind(Number number) {
        return "number " + ++calls;
    }

    public String kind(Comparable<?> value) {
        return "comparable " + ++calls;
    }

    public double ratio(double one, double other) {
        return one / other;
    }

    public String filled(IntFunction<List<String>> by) {
        return "for " + by.apply(1);
    }

    public String filled(Supplier<List<String>> by) {
        return "of " + by.get();
    }

    public <T> T[] same(T[] values) {
        return values;
    }

    public int rank(Modifier modifier) {
        return modifier.ordinal();
    }

    public Kinds add(Part part) {
        parts.add(part);
        return this;
    }

    public List<Part> parts() {
        return new ArrayList<>(parts);
    }

    public String thread() {
        return Thread.currentThread().getName();
    }

    public String user() {
        return System.getProperty("user.name") + System.getProperty("user.home") + System.getenv("HOME");
    }

    public String system() {
        return System.getProperty("os.name") + " " + System.getProperty("os.version");
    }

    /** Not for others to know; Cargo sets it where it runs tests. */
    public String password() {
        return System.getenv("CARGO_MANIFEST_DIR");
    }

    public long memory() {
        return Runtime.getRuntime().maxMemory();
    }

    public String place() {
        return new Throwable().getStackTrace()[0].toString();
    }

    /** In an order that each JVM draws. */
    public String sides() {
        return Set.of("left", "right").toString();
    }

    public boolean coin() {
        return new java.util.Random().nextBoolean();
    }

    public int calls() {
        return calls;
    }
}
