package dev.hindsight.worker;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Locale;
import java.util.TimeZone;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** {@link Guard} for clocks and chance: they are not the same each time. */
public final class GuardClocks {
    /** Milliseconds by which all clocks are wrong, where tests are tried that must not depend on them. */
    private static final long SHIFT = Long.getLong("hindsight.shift", 0) * 3_600_000;
    private static final AtomicInteger ASKED = new AtomicInteger();

    private GuardClocks() {}

    // Clocks, and chance. A wrong clock goes fast, too, so that nothing takes no time; `now` has the name
    // of what it gives behind it.

    public static long currentTimeMillis() {
        return System.currentTimeMillis() + shift();
    }

    public static long nanoTime() {
        return System.nanoTime() + shift() * 1_000_000;
    }

    private static long shift() {
        return SHIFT == 0 ? 0 : SHIFT + 37L * ASKED.incrementAndGet();
    }

    public static double random() {
        double random = Math.random();
        return isLeft() ? random : isSmall() ? random / 1000 : 1 - (1 + random) / 1000;
    }

    /** Whether chance is small, or large if not, where it is neither left alone nor to be relied upon. */
    static boolean isLeft() {
        return SHIFT == 0;
    }

    static boolean isSmall() {
        return SHIFT < 0;
    }

    public static int nextInt(ThreadLocalRandom random, int bound) {
        return isLeft() || bound <= 0 ? random.nextInt(bound) : isSmall() ? 0 : bound - 1;
    }

    public static int nextInt(ThreadLocalRandom random, int origin, int bound) {
        boolean isLeft = isLeft() || origin >= bound;
        return isLeft ? random.nextInt(origin, bound) : isSmall() ? origin : bound - 1;
    }

    public static long nextLong(ThreadLocalRandom random, long bound) {
        return isLeft() || bound <= 0 ? random.nextLong(bound) : isSmall() ? 0 : bound - 1;
    }

    public static boolean nextBoolean(ThreadLocalRandom random) {
        return isLeft() ? random.nextBoolean() : isSmall();
    }

    public static double nextDouble(ThreadLocalRandom random) {
        return isLeft() ? random.nextDouble() : random();
    }

    private static Clock clock(ZoneId zone) {
        return Clock.offset(Clock.system(zone), Duration.ofMillis(shift()));
    }

    public static Clock systemUTC() {
        return SHIFT == 0 ? Clock.systemUTC() : clock(ZoneOffset.UTC);
    }

    public static Clock systemDefaultZone() {
        return SHIFT == 0 ? Clock.systemDefaultZone() : clock(ZoneId.systemDefault());
    }

    public static Clock system(ZoneId zone) {
        return SHIFT == 0 ? Clock.system(zone) : clock(zone);
    }

    public static Clock tickMillis(ZoneId zone) {
        return Clock.tick(system(zone), Duration.ofMillis(1));
    }

    public static Clock tickSeconds(ZoneId zone) {
        return Clock.tick(system(zone), Duration.ofSeconds(1));
    }

    public static Clock tickMinutes(ZoneId zone) {
        return Clock.tick(system(zone), Duration.ofMinutes(1));
    }

    public static Instant nowInstant() {
        return Instant.now(systemUTC());
    }

    public static LocalDate nowLocalDate() {
        return LocalDate.now(systemDefaultZone());
    }

    public static LocalDate nowLocalDate(ZoneId zone) {
        return LocalDate.now(system(zone));
    }

    public static LocalTime nowLocalTime() {
        return LocalTime.now(systemDefaultZone());
    }

    public static LocalTime nowLocalTime(ZoneId zone) {
        return LocalTime.now(system(zone));
    }

    public static LocalDateTime nowLocalDateTime() {
        return LocalDateTime.now(systemDefaultZone());
    }

    public static LocalDateTime nowLocalDateTime(ZoneId zone) {
        return LocalDateTime.now(system(zone));
    }

    public static ZonedDateTime nowZonedDateTime() {
        return ZonedDateTime.now(systemDefaultZone());
    }

    public static ZonedDateTime nowZonedDateTime(ZoneId zone) {
        return ZonedDateTime.now(system(zone));
    }

    public static OffsetDateTime nowOffsetDateTime() {
        return OffsetDateTime.now(systemDefaultZone());
    }

    public static OffsetDateTime nowOffsetDateTime(ZoneId zone) {
        return OffsetDateTime.now(system(zone));
    }

    public static OffsetTime nowOffsetTime() {
        return OffsetTime.now(systemDefaultZone());
    }

    public static MonthDay nowMonthDay() {
        return MonthDay.now(systemDefaultZone());
    }

    public static Year nowYear(ZoneId zone) {
        return Year.now(system(zone));
    }

    public static YearMonth nowYearMonth(ZoneId zone) {
        return YearMonth.now(system(zone));
    }

    public static Year nowYear() {
        return Year.now(systemDefaultZone());
    }

    public static YearMonth nowYearMonth() {
        return YearMonth.now(systemDefaultZone());
    }

    private static Calendar shifted(Calendar calendar) {
        if (SHIFT != 0) {
            calendar.setTimeInMillis(currentTimeMillis());
        }
        return calendar;
    }

    public static Calendar getInstance() {
        return shifted(Calendar.getInstance());
    }

    public static Calendar getInstance(TimeZone zone) {
        return shifted(Calendar.getInstance(zone));
    }

    public static Calendar getInstance(Locale locale) {
        return shifted(Calendar.getInstance(locale));
    }

    public static Calendar getInstance(TimeZone zone, Locale locale) {
        return shifted(Calendar.getInstance(zone, locale));
    }
}
