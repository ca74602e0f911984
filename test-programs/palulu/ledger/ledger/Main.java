package ledger;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
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

/** Keeps a ledger. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Ledger ledger = new Ledger(Currency.getInstance("EUR"));
        ledger.firstDay();
        LocalDate day = LocalDate.of(2024, 2, 29);
        ledger.book(new UUID(1, 2), day, new BigDecimal("12.50"));
        ledger.book(new UUID(3, 4), day, new BigDecimal("1E+2"));
        ledger.book(new UUID(3, 5), day.plusDays(1), BigDecimal.ONE);
        try {
            ledger.book(new UUID(5, 6), day, new BigDecimal("0.125"));
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(ledger.firstDay() + " " + ledger.last());
        System.out.println(ledger.daysFrom(Instant.parse("2024-02-29T23:30:00Z"), ZoneOffset.UTC));
        Instant late = Instant.ofEpochSecond(1_709_249_400, 5_000_000);
        System.out.println(ledger.daysFrom(late, ZoneId.of("Europe/Berlin")));
        System.out.println(ledger.isDue(day.plusDays(3), Clock.fixed(late, ZoneId.of("Europe/Berlin"))));
        System.out.println(ledger.isDue(day, Clock.systemUTC()));
        System.out.println(ledger.isOf(Year.of(2024)));
        System.out.println(ledger.title(Locale.GERMANY, Pattern.compile("[aeiou]")));
        System.out.println(ledger.bytes(StandardCharsets.UTF_16BE));
        URI uri = URI.create("https://ledger.example/a?b=c");
        System.out.println(ledger.place(Paths.get("books"), new File("x/y.txt"), uri));
        BigInteger many = BigInteger.ONE.shiftLeft(80);
        System.out.println(ledger.times(many, Duration.ofHours(3)));
    }
}
