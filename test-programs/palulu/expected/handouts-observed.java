// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package handouts;

import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class OutlineObservedTest {

    @Test
    void first() {
        Outline outline = Outline.parse("fruit; apple; pear;  ripe");
        Outline.Point point = outline.first();
        assertSame(point, outline.first());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package handouts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class OutlinePointObservedTest {

    @Test
    void addThenAtWith0AndEmptyText() {
        Outline.Point point = new Outline.Point("");
        Outline.Point fruitPoint = new Outline.Point("fruit");
        point.add(fruitPoint);
        assertSame(fruitPoint, point.at(0));
        assertEquals("", point.said());
    }

    @Test
    void addThenAtWith0And1() {
        Outline.Point fruitPoint = new Outline.Point("fruit");
        Outline.Point applePoint = new Outline.Point("apple");
        fruitPoint.add(applePoint);
        Outline.Point pearPoint = new Outline.Point("pear");
        fruitPoint.add(pearPoint);
        assertSame(pearPoint, fruitPoint.at(1));
        assertSame(applePoint, fruitPoint.at(0));
        assertEquals("fruit", fruitPoint.said());
    }

    @Test
    void atIsApple() {
        Outline.Point point = Outline.parse("fruit; apple; pear;  ripe").first();
        assertEquals("pear", point.at(1).said());
        assertEquals("apple", point.at(0).said());
        assertEquals("fruit", point.said());
    }

    @Test
    void said() {
        assertEquals("apple", new Outline.Point("apple").said());
    }

    @Test
    void atIsRipe() {
        Outline.Point point = Outline.parse("fruit; apple; pear;  ripe").first().at(1);
        assertEquals("ripe", point.at(0).said());
        assertEquals("pear", point.said());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package handouts;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ReportObservedTest {

    @Test
    void addThenCount() {
        Report report = new Report();
        report.add("alpha");
        report.add("be");
        ArrayList<String> out = new ArrayList<>();
        report.copyTo(out);
        StringWriter stringWriter = new StringWriter();
        report.print(new PrintWriter(stringWriter));
        StringBuilder builder = new StringBuilder();
        report.append(builder);
        int[] lengths = new int[3];
        report.lengths(lengths);
        TreeMap<String, Integer> index = new TreeMap<>();
        report.index(index);
        assertEquals(5, report.count(new int[] {5, 2, -1}));
        assertEquals("[alpha, be]", out.toString());
        assertEquals("alpha;be;", stringWriter.toString());
        assertEquals("2", builder.toString());
        assertArrayEquals(new int[] {5, 2, -1}, lengths);
        assertEquals("{alpha=1, be=1}", index.toString());
    }

    @Test
    void addAllThenBoth() {
        Report report = new Report();
        report.add("alpha");
        report.add("be");
        ArrayList<String> out = new ArrayList<>();
        report.copyTo(out);
        Report report2 = new Report();
        report2.addAll(out);
        StringBuilder builder = new StringBuilder();
        report2.append(builder);
        ArrayList<String> arrayList = new ArrayList<>();
        int[] lengths = new int[] {0, 0};
        report2.both(lengths, arrayList);
        assertEquals("2", builder.toString());
        assertArrayEquals(new int[] {5, 2}, lengths);
        assertEquals("[alpha, be]", arrayList.toString());
    }

    @Test
    void mark() {
        boolean[] seen = new boolean[] {false, false};
        Report.mark(seen, 1);
        assertArrayEquals(new boolean[] {false, true}, seen);
    }

    @Test
    void sort() {
        double[] numbers = new double[] {2.5, 1.5};
        Report.sort(numbers);
        assertArrayEquals(new double[] {1.5, 2.5}, numbers);
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package handouts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ShapeObservedTest {

    @Test
    void growThrowsIllegalStateException() {
        Shape shape = Shape.square();
        assertEquals("square", shape.name());
        assertEquals(3, shape.grow(2));
        assertEquals("30", shape.area().toString());
        assertEquals("OptionalInt[4]", shape.corners().toString());
        IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> shape.grow(9));
        assertEquals("no room for 12", thrown.getMessage());
        assertEquals("120", shape.area().toString());
    }

    @Test
    void grid() {
        assertEquals("[[0, 0, 0], [0, 1, 2], [0, 2, 4]]", Arrays.deepToString(Shape.grid(3)));
    }

    @Test
    void pair() {
        assertEquals("[x, 1]", Arrays.deepToString(Shape.pair(1, "x")));
    }

    @Test
    void rows() {
        assertEquals("[[a, b], [end]]", Arrays.deepToString(Shape.rows("a,b").toArray()));
    }
}
