package handouts;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Has two reports written out, one of which got lines from a list that was not empty. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Report report = new Report();
        report.add("alpha");
        report.add("be");
        List<String> all = new ArrayList<>();
        report.copyTo(all);
        StringWriter written = new StringWriter();
        report.print(new PrintWriter(written));
        StringBuilder builder = new StringBuilder();
        report.append(builder);
        int[] lengths = new int[3];
        report.lengths(lengths);
        Map<String, Integer> index = new TreeMap<>();
        report.index(index);
        System.out.println(report.count(lengths) + " " + all + written + builder + index);

        Report second = new Report();
        second.addAll(all);
        StringBuilder size = new StringBuilder();
        second.append(size);
        System.out.println(size);
        second.both(new int[2], new ArrayList<>());

        double[] numbers = {2.5, 1.5};
        Report.sort(numbers);
        boolean[] seen = new boolean[2];
        Report.mark(seen, 1);
        System.out.println(Arrays.toString(numbers) + Arrays.toString(seen));

        Shape shape = Shape.square();
        System.out.println(shape.name() + shape.grow(2) + shape.area() + shape.area());
        System.out.println(shape.corners());
        try {
            shape.grow(9);
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(Shape.grid(3).length + Shape.rows("a,b").size());
        System.out.println(Shape.pair(1, "x").length);

        Outline outline = Outline.parse("fruit; apple; pear;  ripe");
        System.out.println(outline.first().at(1).at(0).said() + outline.first().at(0).said());
    }
}
