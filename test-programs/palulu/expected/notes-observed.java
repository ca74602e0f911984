// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package notes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LabelObservedTest {

    @Test
    void text() {
        assertEquals("red", new Label("red").text());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package notes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class NotesObservedTest {

    @Test
    void addThenAttach() {
        Notes notes = new Notes().add("tea").add("milk");
        assertEquals("[TEA, MILK]", notes.upper().toString());
        ArrayList<String> more = new ArrayList<>();
        more.add("rice");
        assertEquals("[tea, milk, rice]", notes.with(more).toString());
        assertEquals("{milk=4, tea=3}", notes.lengths().toString());
        assertEquals(2, notes.size());
        new Notes().attach(notes);
        assertEquals("{milk=4, tea=3}", notes.lengths().toString());
        assertEquals("[TEA, MILK]", notes.upper().toString());
        assertEquals(2, notes.size());
    }

    @Test
    void addThenPart() {
        Notes part = new Notes();
        Notes notes = new Notes().add("week");
        notes.attach(part);
        assertSame(part, notes.part(0));
    }

    @Test
    void addThenTitled() {
        Notes notes = new Notes().add("ink");
        assertEquals(1, notes.size());
        assertEquals("for today: [ink]", Notes.titled("for today: ", notes));
    }

    @Test
    void addThrowsNoSuchElementException() {
        Iterator<String> iterator = new Notes().add("pen").iterator();
        assertEquals("pen", iterator.next());
        NoSuchElementException thrown =
                assertThrows(NoSuchElementException.class, () -> iterator.next());
        assertEquals("nothing at 1", thrown.getMessage());
    }

    @Test
    void add() {
        assertEquals("[CUP, JUG]", new Notes().add("cup").add("jug").upper().toString());
    }
}
