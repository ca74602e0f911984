// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AttemptsObservedTest {

    @Test
    void askThenCount() {
        Attempts attempts = new Attempts();
        assertEquals("tea", attempts.ask(() -> "tea", () -> null));
        assertEquals("water",
                attempts.ask(() -> { throw new IllegalStateException(); }, () -> "water"));
        assertEquals("no milk",
                attempts.ask(() -> { throw new Attempts.Shortage("milk"); }, () -> null));
        assertEquals(12, attempts.count("12", Integer::parseInt));
        assertEquals(5, attempts.count("seven", x -> 5));
        assertEquals(2, attempts.failures());
        assertFalse(attempts.isFine());
    }

    @Test
    void ask() {
        Attempts attempts = new Attempts();
        assertEquals("salt", attempts.ask(() -> "salt", () -> null));
        assertTrue(attempts.isFine());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class AttemptsShortageObservedTest {

    @Test
    void newShortage() {
        assertEquals("milk", new Attempts.Shortage("milk").getMessage());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Iterator;
import org.junit.jupiter.api.Test;

class JournalEntryObservedTest {

    @Test
    void upperIsOne() {
        Iterator<Journal.Entry> iterator = new Journal("one,three").iterator();
        Journal.Entry entry = iterator.next();
        assertEquals(3, entry.length());
        assertEquals("ONE", entry.upper());
    }

    @Test
    void upperIsThree() {
        Iterator<Journal.Entry> iterator = new Journal("one,three").iterator();
        iterator.next();
        Journal.Entry entry = iterator.next();
        assertEquals(5, entry.length());
        assertEquals("THREE", entry.upper());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Iterator;
import org.junit.jupiter.api.Test;

class JournalObservedTest {

    @Test
    void iterator() {
        Iterator<Journal.Entry> iterator = new Journal("one,three").iterator();
        assertTrue(iterator.hasNext());
        assertNotNull(iterator.next());
        assertTrue(iterator.hasNext());
        assertNotNull(iterator.next());
        assertFalse(iterator.hasNext());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LineObservedTest {

    @Test
    void more() {
        Line line = new Order().add("bolt", 3).line(0);
        line.more(2);
        assertEquals(5, line.count());
        assertEquals("bolt", line.article());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class OrderObservedTest {

    @Test
    void addThenReceipt() {
        Order order = new Order().add("bolt", 3).add("nut", 1);
        Line line = order.line(0);
        assertEquals("bolt", line.article());
        assertEquals(3, line.count());
        line.more(2);
        assertArrayEquals(new int[] {5, 1}, order.counts());
        assertEquals("bolt;nut;", order.label(Line::article));
        order.close();
        assertEquals("paid Stamp[lines=2]", order.receipt().text());
        assertArrayEquals(new int[] {5, 1}, order.counts());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ReceiptObservedTest {

    @Test
    void text() {
        Order order = new Order().add("bolt", 3).add("nut", 1);
        order.close();
        assertEquals("paid Stamp[lines=2]", order.receipt().text());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class SumsObservedTest {

    @Test
    void drawn() {
        assertEquals(42, Sums.drawn(() -> 42));
    }

    @Test
    void largest() {
        assertEquals(7, Sums.largest(new int[] {6, 7}));
    }

    @Test
    void ofIs4() {
        assertEquals(4, Sums.of("8/2"));
    }

    @Test
    void ofIs3() {
        assertEquals(3, Sums.of("9/3"));
    }

    @Test
    void ofIs1() {
        assertEquals(1, Sums.of("1/1"));
    }

    @Test
    void ofThrowsArithmeticException() {
        assertThrows(ArithmeticException.class, () -> Sums.of("8/0"));
    }

    @Test
    void ofThrowsIllegalArgumentException() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Sums.of("8-2"));
        assertEquals("no division: 8-2", thrown.getMessage());
    }

    @Test
    void ofThrowsNumberFormatException() {
        assertThrows(NumberFormatException.class, () -> Sums.of("x/1"));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import org.junit.jupiter.api.Test;

class TillObservedTest {

    @Test
    void putThenAdd() {
        Till till = new Till();
        till.put(LocalDate.parse("2024-01-31"), 100L);
        till.add(5L);
        assertEquals(105L, till.total());
    }

    @Test
    void addThenGuard() {
        Till till = new Till();
        till.add(7L);
        till.add(8L);
        assertEquals(15L, till.total());
        assertTrue(till.guard(x -> false));
        assertEquals(15L, till.total());
    }

    @Test
    void add() {
        Till till = new Till();
        till.add(2L);
        assertEquals(41, till.receipt(() -> 41));
        till.add(3L);
        assertEquals(6L, till.total());
    }

    @Test
    void addThenRing() {
        Till till = new Till();
        till.add(4L);
        assertFalse(till.ring(Till::next));
        assertEquals(4L, till.total());
    }
}
