// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package shop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

public class DoorObservedTest {

    @Test
    public void openThenClose() {
        Office office = Office.in("ZRH-8001");
        Ticket ticket = office.order().kind(Ticket.Kind.DAY).owner("Ann Lee").visits(1).sell();
        Ticket ticket2 = office.order()
                .owner("Bob Ray")
                .kind(Ticket.Kind.SEASON)
                .visits(1, 2)
                .sell();
        Door door = new Door();
        door.open("sesame:8");
        assertEquals(1, door.enter(ticket));
        assertEquals(2, door.enter(ticket2));
        IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> door.enter(ticket));
        assertEquals("used up", thrown.getMessage());
        assertEquals(3, door.enter(ticket2));
        assertEquals(3, door.visitors());
        door.close();
        assertFalse(door.isOpen());
        assertEquals(3, door.visitors());
        assertEquals(0, ticket.left());
        assertEquals(1, ticket2.left());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class OfficeObservedTest {

    @Test
    public void order() {
        Office office = Office.in("ZRH-8001");
        office.order().kind(Ticket.Kind.DAY).owner("Ann Lee").visits(1).sell();
        office.order().owner("Bob Ray").kind(Ticket.Kind.SEASON).visits(1, 2).sell();
        assertEquals(2, office.sold());
        assertEquals("ZRH", office.city());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class OfficeOrderObservedTest {

    @Test
    public void kindThenSell() {
        Ticket ticket = Office.in("ZRH-8001")
                .order()
                .kind(Ticket.Kind.DAY)
                .owner("Ann Lee")
                .visits(1)
                .sell();
        assertEquals(Ticket.Kind.DAY, ticket.kind());
        assertEquals(1, ticket.left());
    }

    @Test
    public void ownerThenSell() {
        Ticket ticket = Office.in("ZRH-8001")
                .order()
                .owner("Bob Ray")
                .kind(Ticket.Kind.SEASON)
                .visits(1, 2)
                .sell();
        assertEquals(Ticket.Kind.SEASON, ticket.kind());
        assertEquals(3, ticket.left());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package shop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

public class TicketObservedTest {

    @Test
    public void enterIs0() {
        Ticket ticket = Office.in("ZRH-8001")
                .order()
                .kind(Ticket.Kind.DAY)
                .owner("Ann Lee")
                .visits(1)
                .sell();
        Door door = new Door();
        door.open("sesame:8");
        assertEquals(1, door.enter(ticket));
        IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> door.enter(ticket));
        assertEquals("used up", thrown.getMessage());
        assertEquals(0, ticket.left());
        assertEquals(Ticket.Kind.DAY, ticket.kind());
        assertEquals("Ann Lee", ticket.owner());
        assertEquals(1, door.visitors());
    }

    @Test
    public void enterIs1() {
        Office office = Office.in("ZRH-8001");
        Ticket ticket = office.order().kind(Ticket.Kind.DAY).owner("Ann Lee").visits(1).sell();
        Ticket ticket2 = office.order()
                .owner("Bob Ray")
                .kind(Ticket.Kind.SEASON)
                .visits(1, 2)
                .sell();
        Door door = new Door();
        door.open("sesame:8");
        door.enter(ticket);
        assertEquals(2, door.enter(ticket2));
        assertEquals(3, door.enter(ticket2));
        assertEquals(1, ticket2.left());
        assertEquals(Ticket.Kind.SEASON, ticket2.kind());
        assertEquals("Bob Ray", ticket2.owner());
        assertEquals(3, door.visitors());
    }
}
