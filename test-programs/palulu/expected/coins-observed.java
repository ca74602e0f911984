// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CoinObservedTest {

    @Test
    void buys() {
        assertTrue(Coin.EURO.buys(Coin.CENT));
    }

    @Test
    void grams() {
        assertEquals(12, Coin.CENT.grams(3));
    }

    @Test
    void metalOnEURO() {
        assertEquals("gold", Coin.EURO.metal());
    }

    @Test
    void metalOnCENT() {
        assertEquals("copper", Coin.CENT.metal());
    }

    @Test
    void showWith5() {
        assertEquals("5 x 1", Coin.CENT.show(5L));
    }

    @Test
    void showWith7() {
        assertEquals("7 x 100", Coin.EURO.show(7L));
    }

    @Test
    void showThrowsIllegalArgumentException() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Coin.CENT.show(-1L));
        assertEquals("no debts", thrown.getMessage());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class LettersObservedTest {

    @Test
    void putThenText() {
        Letters letters = new Letters().put('a');
        assertEquals('a', letters.last());
        assertSame(letters, letters.put('\ud83d'));
        assertEquals('\ud83d', letters.last());
        assertSame(letters, letters.put('\ude00'));
        assertEquals('\ude00', letters.last());
        assertEquals("\ud83d\ude00", letters.text("\ud83d"));
        assertEquals("\ude00\ude00", letters.text("\ude00"));
        assertEquals(3, letters.count());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PurseObservedTest {

    @Test
    void putThenSpill() {
        Purse purse = Coin.EURO.purse();
        assertEquals(200, purse.put(2));
        purse.spill();
        assertEquals(1, purse.count());
        assertEquals("purse", purse.unit());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RowTwoObservedTest {

    @Test
    void ofThenIsShort() {
        Row row = Row.of(5, 3);
        assertEquals(3, row.first());
        assertEquals(2, row.size());
        assertTrue(Row.isShort(row));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class RoyalObservedTest {

    @Test
    void ofThenStrike() {
        Mint mint = Mint.of("bern");
        mint.strike(5L);
        mint.strike(2L);
        assertEquals("https://bern.example", mint.site().toString());
        assertEquals(Integer.valueOf(2), mint.struck());
        assertArrayEquals(new long[] {5L, 2L}, mint.values());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class TagsObservedTest {

    @Test
    void accept() {
        Tags tags = new Tags();
        assertEquals("[]", tags.all().toString());
        tags.accept(7L);
        tags.mark(9L, 'q');
        Tags.Untagged thrown = assertThrows(Tags.Untagged.class, () -> tags.accept(null));
        assertEquals("a coin without a tag can be told from no other one, so it is not marked",
                thrown.getMessage());
        assertEquals("[7, 9]", tags.all().toString());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package coins;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TagsUntaggedObservedTest {

    @Test
    void newUntagged() {
        Tags.Untagged untagged = new Tags.Untagged("a coin without a tag can be told from no other "
                + "one, so it is not marked");
        assertEquals("a coin without a tag can be told from no other one, so it is not marked",
                untagged.getMessage());
    }
}
