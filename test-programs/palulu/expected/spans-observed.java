// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package spans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class MarksObservedTest {

    @Test
    void ofWith10() {
        assertEquals("F", Marks.of(10));
    }

    @Test
    void ofWith55() {
        assertEquals("C", Marks.of(55));
    }

    @Test
    void ofWith95() {
        assertEquals("A", Marks.of(95));
    }

    @Test
    void pointsThrowsIllegalArgumentExceptionWithEmptyText() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Marks.points(""));
        assertEquals("nothing there", thrown.getMessage());
    }

    @Test
    void points() {
        assertEquals(77, Marks.points("77"));
    }

    @Test
    void pointsThrowsIllegalArgumentExceptionBelowZero() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Marks.points("-1"));
        assertEquals("below zero", thrown.getMessage());
    }

    @Test
    void pointsThrowsIllegalArgumentExceptionNoSignIsNeeded() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Marks.points("+1"));
        assertEquals("no sign is needed", thrown.getMessage());
    }

    @Test
    void pointsThrowsIllegalArgumentExceptionTooMany() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Marks.points("1000"));
        assertEquals("too many", thrown.getMessage());
    }

    @Test
    void squareWith0() {
        assertEquals(0, Marks.square(0));
    }

    @Test
    void squareWith2() {
        assertEquals(4, Marks.square(2));
    }

    @Test
    void squareWith3() {
        assertEquals(9, Marks.square(3));
    }

    @Test
    void squareWith4() {
        assertEquals(16, Marks.square(4));
    }

    @Test
    void squareWith5() {
        assertEquals(25, Marks.square(5));
    }

    @Test
    void squareWith6() {
        assertEquals(36, Marks.square(6));
    }

    @Test
    void squareWith7() {
        assertEquals(49, Marks.square(7));
    }

    @Test
    void squareWith8() {
        assertEquals(64, Marks.square(8));
    }

    @Test
    void squareWith9() {
        assertEquals(81, Marks.square(9));
    }

    @Test
    void squareWith10() {
        assertEquals(100, Marks.square(10));
    }

    @Test
    void squareWith11() {
        assertEquals(121, Marks.square(11));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package spans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class SpanObservedTest {

    @Test
    void nearest() {
        Span span = new Span(2, 5);
        assertNotNull(span.nearest(10));
        assertEquals("2..5", span.text().toString());
    }

    @Test
    void nextThrowsNoSuchElementException() {
        Iterator<Integer> iterator = new Span(2, 5).iterator();
        assertTrue(iterator.hasNext());
        assertEquals(Integer.valueOf(2), iterator.next());
        assertEquals(Integer.valueOf(3), iterator.next());
        assertEquals(Integer.valueOf(4), iterator.next());
        assertFalse(iterator.hasNext());
        NoSuchElementException thrown =
                assertThrows(NoSuchElementException.class, () -> iterator.next());
        assertEquals("after 5", thrown.getMessage());
    }

    @Test
    void nearestThenCompare() {
        Comparator<Integer> comparator = new Span(2, 5).nearest(10);
        assertEquals(-4, comparator.compare(9, 15));
    }

    @Test
    void charAtThenSubSequence() {
        CharSequence charSequence = new Span(2, 5).text();
        assertEquals(4, charSequence.length());
        assertEquals('.', charSequence.charAt(1));
        assertEquals("2..", charSequence.subSequence(0, 3).toString());
    }
}
