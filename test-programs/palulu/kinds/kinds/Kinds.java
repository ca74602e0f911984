package kinds;

import java.util.ArrayList;
import java.util.List;
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

    public long memory() {
        return Runtime.getRuntime().maxMemory();
    }

    public String place() {
        return new Throwable().getStackTrace()[0].toString();
    }

    public boolean coin() {
        return new java.util.Random().nextBoolean();
    }

    public int calls() {
        return calls;
    }
}
