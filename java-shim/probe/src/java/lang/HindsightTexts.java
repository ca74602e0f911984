package java.lang;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Clock;
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
import sun.nio.fs.DefaultFileSystemProvider;

/**
 * The text that a trace records of an object besides its class: a value that never changes and from
 * which source code can make the object again, or the member that an object of reflection stands
 * for.
 *
 * <p><b>Invariant:</b> calls nothing of the program. Of the JDK outside {@code java.lang} it calls
 * only methods of the exact classes named here, which take no locks; what they cache (a text, once
 * asked for) nobody sees. A kind of values is asked only while no class involved is instrumented.
 */
final class HindsightTexts {
    /** The longest text that is recorded; a truncated text says nothing. */
    private static final int MAX_TEXT = 256;

    /** About ten thousand years before and after 1970, which no meaningful date exceeds. */
    private static final long MAX_SECONDS = 10_000L * 366 * 86_400;

    private static final long SECONDS_OF_DAY = 86_400;

    /**
     * Bits of the kinds of values, known to the agent: values of classes that it records are not
     * asked.
     */
    private static final int TIMES = 1;

    private static final int INSTANTS = 1 << 1;
    private static final int NUMBERS = 1 << 2;
    private static final int UUIDS = 1 << 3;
    private static final int LOCALES = 1 << 4;
    private static final int CURRENCIES = 1 << 5;
    private static final int PATTERNS = 1 << 6;
    private static final int FILES = 1 << 7;
    private static final int URIS = 1 << 8;
    private static final int CHARSETS = 1 << 9;
    private static final int PATHS = 1 << 10;
    private static final int CLOCKS = 1 << 11;

    /** The kinds of values outside {@code java.lang} that are asked. */
    private static int asked;

    private HindsightTexts() {}

    /**
     * Initialises what makes the texts. Called before any probe. One value of each kind that needs
     * more than the reading of a field is asked here, so that no probe asks the first.
     */
    static void start(int values) {
        asked = values;
        of(1.25, Double.class);
        of(1.25f, Float.class);
        if (asks(TIMES)) {
            LocalDateTime time = LocalDateTime.of(2000, 1, 2, 3, 4, 5, 6_000_000);
            Object[] all = {
                time,
                Duration.ofNanos(1_000_000_001),
                Period.of(1, 2, 3),
                YearMonth.of(2000, 1),
                MonthDay.of(1, 2),
                OffsetDateTime.of(time, ZoneOffset.UTC),
                OffsetTime.of(time.toLocalTime(), ZoneOffset.UTC),
                ZonedDateTime.of(time, ZoneOffset.UTC)
            };
            for (Object one : all) {
                of(one, one.getClass());
            }
        }
        if (asks(INSTANTS)) {
            ofInstant(Instant.EPOCH);
        }
        if (asks(NUMBERS)) {
            of(BigInteger.ONE.shiftLeft(3 * MAX_TEXT), BigInteger.class);
            // No decimal is asked: on JDK 25 that class asks for the parallelism of the common
            // pool, which the program may still want to set. Code that has a decimal has
            // initialised the class.
        }
        if (asks(UUIDS)) {
            of(new UUID(1, 2), UUID.class);
        }
        if (asks(LOCALES)) {
            of(Locale.GERMANY, Locale.class);
        }
        if (asks(URIS)) {
            // Its text is composed when it is asked for.
            of(URI.create("a/b").resolve("c"), URI.class);
        }
        if (asks(PATHS)) {
            // Not the default file system, for which the program may have its own provider.
            Path path = DefaultFileSystemProvider.theFileSystem().getPath("a");
            of(path, path.getClass());
        }
    }

    /**
     * The text of an object, or null if it has none.
     *
     * @throws OutOfMemoryError if there is no memory for it
     */
    static String of(Object object, Class<?> type) {
        if (type == String.class) {
            return (String) object;
        }
        if (object instanceof Enum) {
            return ((Enum<?>) object).name();
        }
        if (type == Class.class) {
            // The name is made when it is first asked for.
            HindsightMemory.begin();
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
            HindsightMemory.begin();
            return object.toString();
        }
        if (type == Field.class || type == Method.class || type == Constructor.class) {
            HindsightMemory.begin();
            return ofMember((Member) object, type);
        }
        if (asked != 0 && type.getClassLoader0() == null && !type.isArray()) {
            try {
                return ofValue(object, type);
            } catch (RuntimeException e) {
                // The object was made without its constructor.
                return null;
            }
        }
        return null;
    }

    /** The member that reflection writes or calls, which no other event names. */
    @DontInline
    private static String ofMember(Member member, Class<?> type) {
        Class<?> owner = member.getDeclaringClass();
        if (owner == null) {
            // The object was made without its constructor.
            return null;
        }
        String name = type == Constructor.class ? "<init>" : member.getName();
        return owner.getName() + "." + name;
    }

    /** The field of a class and a name, or of its reflection. */
    static String ofField(Object owner, Object name) {
        return owner instanceof Class
                ? ((Class<?>) owner).getName() + "." + name
                : ofMember((Member) owner, owner.getClass());
    }

    /** Whether values of this kind have texts, which are made then. */
    private static boolean asks(int kind) {
        if ((asked & kind) == 0) {
            return false;
        }
        HindsightMemory.begin();
        return true;
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
                || type == ZonedDateTime.class) {
            text = asks(TIMES) ? object.toString() : null;
        } else if (type == UUID.class) {
            text = asks(UUIDS) ? object.toString() : null;
        } else if (type == Instant.class) {
            text = asks(INSTANTS) ? ofInstant((Instant) object) : null;
        } else if (type == BigInteger.class && asks(NUMBERS)) {
            text = ofInteger((BigInteger) object) ? object.toString() : null;
        } else if (type == BigDecimal.class && asks(NUMBERS)) {
            text = ofInteger(((BigDecimal) object).unscaledValue()) ? object.toString() : null;
        } else if (type == Year.class && asks(TIMES)) {
            int year = ((Year) object).getValue();
            text = year >= 1000 && year <= 9999 ? Integer.toString(year) : null;
        } else if (object instanceof ZoneId) {
            text = asks(TIMES) ? ((ZoneId) object).getId() : null;
        } else if (type == File.class) {
            text = asks(FILES) ? ((File) object).getPath() : null;
        } else if (type == URI.class) {
            text = asks(URIS) ? object.toString() : null;
        } else if (type == Locale.class) {
            text = asks(LOCALES) ? ofLocale((Locale) object) : null;
        } else if (type == Currency.class) {
            text = asks(CURRENCIES) ? ((Currency) object).getCurrencyCode() : null;
        } else if (type == Pattern.class && asks(PATTERNS)) {
            text = ((Pattern) object).flags() == 0 ? ((Pattern) object).pattern() : null;
        } else if (object instanceof Charset && asks(CHARSETS)) {
            text = type.getName().startsWith("sun.nio.cs.") ? ((Charset) object).name() : null;
        } else if (object instanceof Path && asks(PATHS)) {
            text = type.getName().startsWith("sun.nio.fs.") ? object.toString() : null;
        } else if (object instanceof Clock) {
            text = asks(CLOCKS) ? ofClock((Clock) object, type.getName()) : null;
        }
        return text == null || text.length() > MAX_TEXT ? null : text;
    }

    /** The instant and zone of a fixed clock, or the zone of a running one. */
    private static String ofClock(Clock clock, String name) {
        switch (name) {
            case "java.time.Clock$FixedClock":
                String instant = ofInstant(clock.instant());
                return instant == null ? null : instant + " " + clock.getZone().getId();
            case "java.time.Clock$SystemClock":
                return clock.getZone().getId();
            default:
                return null;
        }
    }

    /**
     * As {@link Instant#toString}, but without the formatter, which this would initialise, and
     * without {@code java.util}, which is recorded when generated tests are to rebuild collections.
     */
    private static String ofInstant(Instant instant) {
        long second = instant.getEpochSecond();
        if (Math.abs(second) > MAX_SECONDS) {
            return null;
        }
        LocalDate date = LocalDate.ofEpochDay(Math.floorDiv(second, SECONDS_OF_DAY));
        long nanos = Math.floorMod(second, SECONDS_OF_DAY) * 1_000_000_000L + instant.getNano();
        LocalTime time = LocalTime.ofNanoOfDay(nanos);
        String seconds = time.getSecond() == 0 && time.getNano() == 0 ? ":00Z" : "Z";
        return date + "T" + time + seconds;
    }

    /** Whether the number's text is short, and so is made quickly. */
    private static boolean ofInteger(BigInteger value) {
        return value.bitLength() <= 4 * MAX_TEXT;
    }

    /** The tag of a locale's language and country. */
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
