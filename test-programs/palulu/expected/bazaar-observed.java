// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class ChestObservedTest {

    @Test
    void lock() {
        Chest chest = new Chest();
        Chest.Lock lock = chest.lock();
        assertEquals(1, chest.open());
        assertSame(lock, chest.lock());
        assertEquals(2, chest.open());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CounterObservedTest {

    @Test
    void ringThenNoes() {
        Item appleItem = new Item("apple");
        Item pearItem = new Item("pear");
        Counter counter = new Counter(appleItem, pearItem);
        assertEquals(3, counter.ring("b"));
        assertEquals(6, counter.ring("c", "d", 1));
        assertEquals(8, counter.call("ann", "bob"));
        assertEquals(8, counter.call());
        assertEquals(11, counter.add(1, 2, 3));
        assertEquals(13, counter.add(new int[] {4, 5}));
        assertEquals(55, counter.add(6, 7));
        assertEquals(58, counter.add(0, 0, 0));
        assertEquals(61, counter.noes(new Boolean[] {false, false, false}));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Comparator;
import org.junit.jupiter.api.Test;

class ItemObservedTest {

    @Test
    void compare() {
        Comparator<Item> comparator = Item.BY_NAME;
        assertEquals(-15, comparator.compare(new Item("apple"), new Item("pear")));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

class LogEntryObservedTest {

    @Test
    void isEmpty() {
        assertFalse(new Log().entry().isEmpty());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class LogObservedTest {

    @Test
    void entryThenRefuse() {
        Log log = new Log();
        log.caller();
        assertEquals(1, log.entries());
        assertNotNull(log.entry());
        assertEquals(2, log.entries());
        assertThrows(IllegalStateException.class, () -> log.refuse());
        assertEquals(3, log.entries());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import org.junit.jupiter.api.Test;

class ShelfObservedTest {

    @Test
    void get() {
        Shelf shelf = Shelf.of("soap", "rope");
        assertNotNull(shelf.get(0));
        assertNotNull(shelf.get(1));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package bazaar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class WareObservedTest {

    @Test
    void getWith0() {
        Ware ware = Shelf.of("soap", "rope").get(0);
        assertEquals("soap", ware.name());
    }

    @Test
    void getWith1() {
        Ware ware = Shelf.of("soap", "rope").get(1);
        assertEquals("rope", ware.name());
    }
}
