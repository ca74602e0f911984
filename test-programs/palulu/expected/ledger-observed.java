// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Currency;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class LedgerObservedTest {

    @Test
    void bookThenTimes() {
        Ledger ledger = new Ledger(Currency.getInstance("EUR"));
        assertNull(ledger.firstDay());
        assertEquals("12.50",
                ledger.book(
                        UUID.fromString("00000000-0000-0001-0000-000000000002"),
                        LocalDate.parse("2024-02-29"),
                        new BigDecimal("12.50")).toString());
        assertEquals("112.50",
                ledger.book(
                        UUID.fromString("00000000-0000-0003-0000-000000000004"),
                        LocalDate.parse("2024-02-29"),
                        new BigDecimal("1E+2")).toString());
        assertEquals("1",
                ledger.book(
                        UUID.fromString("00000000-0000-0003-0000-000000000005"),
                        LocalDate.parse("2024-03-01"),
                        new BigDecimal("1")).toString());
        IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class,
                () -> ledger.book(
                        UUID.fromString("00000000-0000-0005-0000-000000000006"),
                        LocalDate.parse("2024-02-29"),
                        new BigDecimal("0.125")));
        assertEquals("no such coin: 0.125", thrown.getMessage());
        assertEquals("2024-02-29", ledger.firstDay().toString());
        assertEquals("00000000-0000-0003-0000-000000000005", ledger.last().toString());
        assertEquals(2, ledger.daysFrom(Instant.parse("2024-02-29T23:30:00Z"), ZoneOffset.UTC));
        assertEquals(1,
                ledger.daysFrom(Instant.parse("2024-02-29T23:30:00.005Z"),
                        ZoneId.of("Europe/Berlin")));
        assertFalse(
                ledger.isDue(LocalDate.parse("2024-03-03"),
                        Clock.fixed(Instant.parse("2024-02-29T23:30:00.005Z"),
                                ZoneId.of("Europe/Berlin"))));
        assertTrue(ledger.isDue(LocalDate.parse("2024-02-29"), Clock.systemUTC()));
        assertTrue(ledger.isOf(Year.parse("2024")));
        assertEquals("--r",
                ledger.title(Locale.forLanguageTag("de-DE"), Pattern.compile("[aeiou]")));
        assertEquals(8, ledger.bytes(Charset.forName("UTF-16BE")));
        assertEquals("y.txt ledger.example",
                ledger.place(
                        Path.of("books"),
                        new File("x/y.txt"),
                        URI.create("https://ledger.example/a?b=c")));
        assertEquals("217606647530633251447111680",
                ledger.times(new BigInteger("1208925819614629174706176"),
                        Duration.parse("PT3H")).toString());
    }
}
