package orders;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Gives away what it is made of: what is done to its lines is done to it. */
public final class Order {
    private final List<Line> lines = new ArrayList<>();
    private Receipt receipt;

    public Order add(String article, int count) {
        lines.add(new Line(article, count));
        return this;
    }

    public Line line(int at) {
        return lines.get(at);
    }

    public void close() {
        receipt = new Receipt(new Stamp(lines.size()));
    }

    public Receipt receipt() {
        return receipt;
    }

    private record Stamp(int lines) {
    }

    /** How much of each. */
    public int[] counts() {
        int[] counts = new int[lines.size()];
        for (int at = 0; at < counts.length; at++) {
            counts[at] = lines.get(at).count();
        }
        return counts;
    }

    /** A label of each line, one after another. */
    public String label(Function<Line, Object> of) {
        StringBuilder text = new StringBuilder();
        for (Line line : lines) {
            text.append(of.apply(line)).append(';');
        }
        return text.toString();
    }
}
