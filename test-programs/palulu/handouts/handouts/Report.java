package handouts;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What its methods come to is in what they are passed. */
public class Report {
    private final List<String> lines = new ArrayList<>();

    public void add(String line) {
        lines.add(line);
    }

    public void addAll(List<String> more) {
        lines.addAll(more);
    }

    public void copyTo(List<String> out) {
        out.addAll(lines);
    }

    public void print(PrintWriter out) {
        for (String line : lines) {
            out.print(line + ";");
        }
        out.flush();
    }

    public void append(StringBuilder builder) {
        builder.append(lines.size());
    }

    public void lengths(int[] lengths) {
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = i < lines.size() ? lines.get(i).length() : -1;
        }
    }

    public void both(int[] lengths, List<String> out) {
        lengths(lengths);
        copyTo(out);
    }

    public int count(int[] numbers) {
        return numbers.length + lines.size();
    }

    public void index(Map<String, Integer> index) {
        for (String line : lines) {
            index.merge(line, 1, Integer::sum);
        }
    }

    public static void sort(double[] numbers) {
        Arrays.sort(numbers);
    }

    public static void mark(boolean[] seen, int at) {
        seen[at] = true;
    }
}
