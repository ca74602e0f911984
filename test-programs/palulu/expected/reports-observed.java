// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package reports;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class CodesObservedTest {

    @Test
    void all() {
        assertEquals(60, Codes.all(60).size());
    }

    @Test
    void describe() {
        StringBuilder out = new StringBuilder();
        Codes.describe(2, out);
        assertEquals("2 codes", out.toString());
    }

    @Test
    void distinct() {
        assertEquals("[a, b]", Arrays.deepToString(Codes.distinct(new Object[] {"a", "b", "a"})));
    }

    @Test
    void length() {
        assertEquals(6, Codes.length(new char[] {'s', 'e', 'c', 'r', 'e', 't'}));
    }

    @Test
    void some() {
        assertEquals("[a, b, a]", Arrays.deepToString(Codes.some()));
    }

    @Test
    void sum() {
        assertEquals(6, Codes.sum(new int[][] {{1, 2}, {3}}));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package reports;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class PricesObservedTest {

    @Test
    void putThenBelow() {
        Prices<Integer> prices = new Prices<>();
        assertNull(prices.put("apple", 30));
        assertNull(prices.put("pear", 50));
        assertEquals("{apple=30}", prices.below("m").toString());
        assertEquals("{apple=30, pear=50}", prices.rows().toString());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package reports;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ReportObservedTest {

    @Test
    void line() throws Exception {
        StringBuilder out = new StringBuilder();
        Report report = new Report(out);
        report.line("apples", 3);
        report.line("pears", 5);
        assertEquals("apples: 3\npears: 5\n", out.toString());
    }
}
