package java.lang;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;
import jdk.internal.vm.annotation.DontInline;

/**
 * What is worth telling of an object besides its class: what never changes in it, and what a source can
 * make it of again.
 *
 * <p><b>Invariant:</b> calls nothing of the program. Of the JDK beyond {@code java.lang}, only methods of
 * the exact classes that are named here: they take no locks, and what they keep (a text that was asked
 * for) nobody sees. Those are asked only while none of them is instrumented.
 */
final class HindsightTexts {
    /** Beyond this a text is not worth its bytes; a text that is cut says nothing. */
    private static final int MAX_TEXT = 256;

    /** Whether values of the JDK beyond {@code java.lang} are asked. */
    private static boolean asksValues;

    private HindsightTexts() {}

    /** Called before any probe. What is asked initialises nothing later. */
    static void start(boolean withValues) {
        asksValues = withValues;
        if (withValues) {
            ofInstant(Instant.EPOCH);
        }
    }

    /** Null if there is nothing to tell. */
    static String of(Object object, Class<?> type) {
        if (type == String.class) {
            return (String) object;
        }
        if (object instanceof Enum) {
            return ((Enum<?>) object).name();
        }
        if (type == Class.class) {
            return ((Class<?>) object).getName();
        }
        if (type == Integer.class
                || type == Long.class
                || type == Boolean.class
                || type == Character.class
                || type == Double.class
                || type == Float.class
                || type == Short.class
                || type == Byte.class) {
            return object.toString();
        }
        if (asksValues && type.getClassLoader0() == null && !type.isArray()) {
            return ofValue(object, type);
        }
        return null;
    }

    @DontInline
    private static String ofValue(Object object, Class<?> type) {
        String text = null;
        if (type == LocalDate.class
                || type == LocalDateTime.class
                || type == LocalTime.class
                || type == Duration.class
                || type == Period.class
                || type == YearMonth.class
                || type == MonthDay.class
                || type == OffsetDateTime.class
                || type == OffsetTime.class
                || type == ZonedDateTime.class
                || type == UUID.class) {
            text = object.toString();
        } else if (type == Instant.class) {
            text = ofInstant((Instant) object);
        } else if (type == BigInteger.class) {
            text = ofInteger((BigInteger) object) ? object.toString() : null;
        } else if (type == BigDecimal.class) {
            text = ofInteger(((BigDecimal) object).unscaledValue()) ? object.toString() : null;
        } else if (type == Year.class) {
            int year = ((Year) object).getValue();
            text = year >= 1000 && year <= 9999 ? Integer.toString(year) : null;
        } else if (object instanceof ZoneId) {
            text = ((ZoneId) object).getId();
        } else if (type == File.class) {
            text = ((File) object).getPath();
        } else if (type == URI.class) {
            text = object.toString();
        } else if (type == Locale.class) {
            text = ofLocale((Locale) object);
        } else if (type == Currency.class) {
            text = ((Currency) object).getCurrencyCode();
        } else if (type == Pattern.class) {
            text = ((Pattern) object).flags() == 0 ? ((Pattern) object).pattern() : null;
        } else if (object instanceof Charset) {
            text = type.getName().startsWith("sun.nio.cs.") ? ((Charset) object).name() : null;
        } else if (object instanceof Path) {
            text = type.getName().startsWith("sun.nio.fs.") ? object.toString() : null;
        }
        return text == null || text.length() > MAX_TEXT ? null : text;
    }

    /** As {@link Instant#toString}, without the formatter, which would be initialised for it. */
    private static String ofInstant(Instant instant) {
        LocalDateTime time =
                LocalDateTime.ofEpochSecond(
                        instant.getEpochSecond(), instant.getNano(), ZoneOffset.UTC);
        String seconds = time.getSecond() == 0 && time.getNano() == 0 ? ":00Z" : "Z";
        return time + seconds;
    }

    /** Whether its text can be short, and so is made quickly. */
    private static boolean ofInteger(BigInteger value) {
        return value.bitLength() <= 4 * MAX_TEXT;
    }

    /** The tag of a language and country. */
    private static String ofLocale(Locale locale) {
        boolean isPlain =
                !locale.getLanguage().isEmpty()
                        && locale.getVariant().isEmpty()
                        && locale.getScript().isEmpty()
                        && !locale.hasExtensions();
        if (!isPlain) {
            return null;
        }
        String country = locale.getCountry();
        return country.isEmpty() ? locale.getLanguage() : locale.getLanguage() + "-" + country;
    }
}
