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
    public void openThenVisitorsThenClose() {
        Office office = Office.in("ZRH-8001");
        Office.Order order = office.order();
        order.kind(Ticket.Kind.DAY);
        order.owner("Ann Lee");
        order.visits(1);
        Ticket ticket = order.sell();
        Office.Order order2 = office.order();
        order2.owner("Bob Ray");
        order2.kind(Ticket.Kind.SEASON);
        order2.visits(1, 2);
        Ticket ticket2 = order2.sell();
        Door door = new Door();
        door.open("sesame:8");
        assertEquals(1, door.enter(ticket));
        assertEquals(2, door.enter(ticket2));
        assertEquals("used up", assertThrows(IllegalStateException.class,
                () -> door.enter(ticket)).getMessage());
        assertEquals(3, door.enter(ticket2));
        assertEquals(3, door.visitors());
        door.close();
        assertFalse(door.isOpen());
        assertEquals(3, door.visitors());
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
    public void inThenOrderThenSold() {
        Office office = Office.in("ZRH-8001");
        Office.Order order = office.order();
        order.kind(Ticket.Kind.DAY);
        order.owner("Ann Lee");
        order.visits(1);
        order.sell();
        Office.Order order2 = office.order();
        order2.owner("Bob Ray");
        order2.kind(Ticket.Kind.SEASON);
        order2.visits(1, 2);
        order2.sell();
        assertEquals(2, office.sold());
        assertEquals("ZRH", office.city());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package shop;

import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertSame;

import org.junit.Test;

public class OrderObservedTest {

    @Test
    public void orderThenVisitsThenSell() {
        Office office = Office.in("ZRH-8001");
        Office.Order order = office.order();
        assertSame(order, order.kind(Ticket.Kind.DAY));
        assertSame(order, order.owner("Ann Lee"));
        assertSame(order, order.visits(1));
        assertNotNull(order.sell());
    }

    @Test
    public void orderThenVisitsThenSell_2() {
        Office office = Office.in("ZRH-8001");
        Office.Order order = office.order();
        assertSame(order, order.owner("Bob Ray"));
        assertSame(order, order.kind(Ticket.Kind.SEASON));
        assertSame(order, order.visits(1, 2));
        assertNotNull(order.sell());
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
    public void sellThenEnterThenLeft() {
        Office office = Office.in("ZRH-8001");
        Office.Order order = office.order();
        order.kind(Ticket.Kind.DAY);
        order.owner("Ann Lee");
        order.visits(1);
        Ticket ticket = order.sell();
        Door door = new Door();
        door.open("sesame:8");
        assertEquals(1, door.enter(ticket));
        assertEquals("used up", assertThrows(IllegalStateException.class,
                () -> door.enter(ticket)).getMessage());
        assertEquals(0, ticket.left());
        assertEquals(Ticket.Kind.DAY, ticket.kind());
        assertEquals("Ann Lee", ticket.owner());
    }
}
