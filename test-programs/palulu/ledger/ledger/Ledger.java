package ledger;

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
import java.util.Currency;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

/** What was booked on which day: all that it takes and gives are values of the JDK. */
public final class Ledger {
    private final Currency currency;
    private final Map<LocalDate, BigDecimal> days = new TreeMap<>();
    private UUID last;

    public Ledger(Currency currency) {
        this.currency = currency;
    }

    public BigDecimal book(UUID number, LocalDate day, BigDecimal amount) {
        if (amount.scale() > currency.getDefaultFractionDigits()) {
            throw new IllegalArgumentException("no such coin: " + amount);
        }
        last = number;
        return days.merge(day, amount, BigDecimal::add);
    }

    public LocalDate firstDay() {
        return days.isEmpty() ? null : days.keySet().iterator().next();
    }

    public UUID last() {
        return last;
    }

    public int daysFrom(Instant start, ZoneId zone) {
        LocalDate from = start.atZone(zone).toLocalDate();
        return (int) days.keySet().stream().filter(day -> !day.isBefore(from)).count();
    }

    public boolean isDue(LocalDate day, Clock clock) {
        return !LocalDate.now(clock).isBefore(day);
    }

    public boolean isOf(Year year) {
        return days.keySet().stream().allMatch(day -> day.getYear() == year.getValue());
    }

    public String title(Locale locale, Pattern vowels) {
        return vowels.matcher(currency.getCurrencyCode().toLowerCase(locale)).replaceAll("-");
    }

    public int bytes(Charset charset) {
        return (currency.getCurrencyCode() + '\u20ac').getBytes(charset).length;
    }

    public String place(Path directory, File file, URI uri) {
        return directory.resolve(file.getName()).getFileName() + " " + uri.getHost();
    }

    public BigInteger times(BigInteger factor, Duration time) {
        return factor.multiply(BigInteger.valueOf(time.toMinutes()));
    }
}
