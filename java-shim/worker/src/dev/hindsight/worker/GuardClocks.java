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
import java.time.chrono.ChronoLocalDate;
import java.time.chrono.Chronology;
import java.time.chrono.HijrahChronology;
import java.time.chrono.HijrahDate;
import java.time.chrono.IsoChronology;
import java.time.chrono.JapaneseChronology;
import java.time.chrono.JapaneseDate;
import java.time.chrono.MinguoChronology;
import java.time.chrono.MinguoDate;
import java.time.chrono.ThaiBuddhistChronology;
import java.time.chrono.ThaiBuddhistDate;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Locale;
import java.util.Random;
import java.util.RandomAccess;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The {@link Guard} of clocks and randomness, which differ each time. */
public final class GuardClocks {
    /** The length from which a linked list is shuffled as a copy, as the JDK does. */
    private static final int MIN_COPIED = 5;

    /**
     * The milliseconds by which all clocks are wrong in a JVM that tries tests that must not depend
     * on them.
     */
    private static final long SHIFT = Long.getLong("hindsight.shift", 0) * 3_600_000;
    private static final AtomicInteger ASKED = new AtomicInteger();
    /** The time of all clocks at the beginning of a search's sequence, in milliseconds. */
    private static final long START = 1_715_707_422_508L;
    /** Spreads numbers that are near each other. */
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;
    private static final long MORE = 0xbf58476d1ce4e5b9L;
    /** The milliseconds to which a passing time is rounded. */
    private static final long COARSE = 250;

    private static int tries;
    /** The sequence whose randomness and clock are the same each time; null if there is none. */
    private static volatile Sequence lot;
    private static volatile Sequence clock;

    private GuardClocks() {}

    /** The state of clocks and randomness in one sequence. */
    private static final class Sequence {
        private final Thread thread;
        private final long started = System.nanoTime();
        private final AtomicInteger asked = new AtomicInteger();
        /** The number of random decisions, and of random objects that were made. */
        private final AtomicInteger decided = new AtomicInteger();
        private final AtomicLong made = new AtomicLong();
        private final long seed;
        private final Random chance;
        /**
         * How long its thread has slept: the milliseconds that it asked for, and the nanoseconds
         * that it took.
         */
        private volatile long slept;
        private volatile long sleptReally;

        Sequence(Thread thread, long turn) {
            this.thread = thread;
            seed = (31 * turn + Program.PLACE) * GOLDEN;
            chance = new Random(seed);
        }

        /**
         * The time in milliseconds: what it has slept, and one for each request, so that waiting
         * for a time ends.
         */
        long time() {
            long waited = (System.nanoTime() - started - sleptReally) / 1_000_000 / COARSE * COARSE;
            return START + asked.incrementAndGet() + slept + waited;
        }

        void slept(long milliseconds, long since) {
            if (Thread.currentThread() == thread) {
                slept += milliseconds;
                sleptReally += System.nanoTime() - since;
            }
        }
    }

    /**
     * Called when a sequence begins. In a search, which goes on with what it finds, clocks and
     * randomness are the same for each sequence. In a trial, randomness differs each time, in the
     * same way each time that the same is done, and clocks are those of this JVM.
     */
    static void begin(boolean isSearch) {
        Sequence sequence = new Sequence(Thread.currentThread(), isSearch ? 0 : ++tries);
        lot = sequence;
        clock = isSearch ? sequence : null;
    }

    /** The seed for an object that is made without one. */
    static long seed() {
        Sequence sequence = lot;
        return sequence == null
                ? ThreadLocalRandom.current().nextLong()
                : sequence.seed + sequence.made.incrementAndGet() * MORE;
    }

    /** Fills bytes at random, if randomness is to be the same each time. */
    static boolean fill(byte[] bytes) {
        Sequence sequence = lot;
        if (sequence != null) {
            sequence.chance.nextBytes(bytes);
        }
        return sequence != null;
    }

    private static Random chance(Random otherwise) {
        Sequence sequence = lot;
        return sequence == null ? otherwise : sequence.chance;
    }

    // Clocks and randomness. A wrong clock also runs fast, so that everything takes some time; the
    // name of `now` is followed by its result's.

    public static long currentTimeMillis() {
        Sequence sequence = clock;
        return sequence == null ? System.currentTimeMillis() + shift() : sequence.time();
    }

    public static long nanoTime() {
        Sequence sequence = clock;
        return sequence == null
                ? System.nanoTime() + shift() * 1_000_000
                : (sequence.time() - START) * 1_000_000;
    }

    public static void sleep(long milliseconds) throws InterruptedException {
        long since = System.nanoTime();
        Thread.sleep(milliseconds);
        slept(milliseconds, since);
    }

    public static void sleep(long milliseconds, int nanoseconds) throws InterruptedException {
        long since = System.nanoTime();
        Thread.sleep(milliseconds, nanoseconds);
        slept(milliseconds, since);
    }

    public static void sleep(TimeUnit unit, long time) throws InterruptedException {
        long since = System.nanoTime();
        unit.sleep(time);
        slept(Math.max(unit.toMillis(time), 0), since);
    }

    private static void slept(long milliseconds, long since) {
        Sequence sequence = clock;
        if (sequence != null) {
            sequence.slept(milliseconds, since);
        }
    }

    private static long shift() {
        return SHIFT == 0 ? 0 : SHIFT + 37L * ASKED.incrementAndGet();
    }

    public static double random() {
        Sequence sequence = lot;
        double random = sequence == null ? Math.random() : sequence.chance.nextDouble();
        return isLeft() ? random : isSmall() ? random / 1000 : 1 - (1 + random) / 1000;
    }

    /** The {@code shuffle} of {@code Collections}. */
    public static void shuffle(List<?> list) {
        if (isLeft() && lot == null) {
            Collections.shuffle(list);
        } else if (list instanceof RandomAccess || list.size() < MIN_COPIED) {
            shuffleInPlace(list);
        } else {
            shuffleCopy(list);
        }
    }

    private static void shuffleInPlace(List<?> list) {
        for (int left = list.size(); left > 1; left--) {
            Collections.swap(list, left - 1, nextInt(ThreadLocalRandom.current(), left));
        }
    }

    private static <T> void shuffleCopy(List<T> list) {
        List<T> copy = new ArrayList<>(list);
        shuffleInPlace(copy);
        Iterator<T> next = copy.iterator();
        for (ListIterator<T> at = list.listIterator(); at.hasNext(); ) {
            at.next();
            at.set(next.next());
        }
    }

    public static UUID randomUUID() {
        Sequence sequence = lot;
        if (sequence == null) {
            return UUID.randomUUID();
        }
        long most = sequence.chance.nextLong() & ~0xf000L | 0x4000;
        return new UUID(most, sequence.chance.nextLong() >>> 2 | Long.MIN_VALUE);
    }

    /**
     * Whether random numbers are small (else they are large), in JVMs where they are neither left
     * alone nor reliable.
     */
    static boolean isLeft() {
        return SHIFT == 0;
    }

    static boolean isSmall() {
        return SHIFT < 0;
    }

    public static int nextInt(ThreadLocalRandom random) {
        return chance(random).nextInt();
    }

    public static int nextInt(ThreadLocalRandom random, int bound) {
        return isLeft() || bound <= 0
                ? chance(random).nextInt(bound)
                : isSmall() ? 0 : bound - 1;
    }

    public static int nextInt(ThreadLocalRandom random, int origin, int bound) {
        if (origin >= bound || isLeft() && lot == null) {
            return random.nextInt(origin, bound);
        }
        return isLeft() ? (int) within(origin, bound) : isSmall() ? origin : bound - 1;
    }

    public static long nextLong(ThreadLocalRandom random) {
        return chance(random).nextLong();
    }

    public static long nextLong(ThreadLocalRandom random, long bound) {
        return bound <= 0 ? random.nextLong(bound) : nextLong(random, 0, bound);
    }

    public static long nextLong(ThreadLocalRandom random, long origin, long bound) {
        if (origin >= bound || isLeft() && lot == null) {
            return random.nextLong(origin, bound);
        }
        return isLeft() ? within(origin, bound) : isSmall() ? origin : bound - 1;
    }

    /** A number from one bound up to another that is the same each time. */
    private static long within(long origin, long bound) {
        Random chance = chance(ThreadLocalRandom.current());
        long size = bound - origin;
        if (size > 0) {
            return origin + Math.floorMod(chance.nextLong(), size);
        }
        // More than half of all numbers are: soon there is one.
        long number;
        do {
            number = chance.nextLong();
        } while (number < origin || number >= bound);
        return number;
    }

    public static boolean nextBoolean(ThreadLocalRandom random) {
        Sequence sequence = lot;
        if (isLeft() && sequence != null && clock == null && sequence.decided.incrementAndGet() == 1) {
            // If the sequence is tried with small random numbers, it is not.
            return true;
        }
        return isLeft() ? chance(random).nextBoolean() : isSmall();
    }

    public static double nextDouble(ThreadLocalRandom random) {
        return isLeft() ? chance(random).nextDouble() : random();
    }

    public static double nextDouble(ThreadLocalRandom random, double bound) {
        return 0 < bound ? nextDouble(random, 0, bound) : random.nextDouble(bound);
    }

    public static double nextDouble(ThreadLocalRandom random, double origin, double bound) {
        boolean isBounded = origin < bound && bound - origin < Double.POSITIVE_INFINITY;
        if (!isBounded || isLeft() && lot == null) {
            return random.nextDouble(origin, bound);
        }
        return Math.min(origin + nextDouble(random) * (bound - origin), Math.nextDown(bound));
    }

    public static float nextFloat(ThreadLocalRandom random) {
        return isLeft() ? chance(random).nextFloat() : isSmall() ? 0 : Math.nextDown(1f);
    }

    public static void nextBytes(ThreadLocalRandom random, byte[] bytes) {
        chance(random).nextBytes(bytes);
    }

    public static double nextGaussian(ThreadLocalRandom random) {
        return chance(random).nextGaussian();
    }

    /** A clock that reads the time that is given here. */
    private static final class Asked extends Clock {
        private final ZoneId zone;

        Asked(ZoneId zone) {
            this.zone = zone;
        }

        @Override
        public ZoneId getZone() {
            return zone;
        }

        @Override
        public Clock withZone(ZoneId other) {
            return other.equals(zone) ? this : new Asked(other);
        }

        @Override
        public long millis() {
            return currentTimeMillis();
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochMilli(millis());
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Asked && zone.equals(((Asked) other).zone);
        }

        @Override
        public int hashCode() {
            return zone.hashCode() + 1;
        }

        @Override
        public String toString() {
            return "SystemClock[" + zone + "]";
        }
    }

    private static Clock clock(ZoneId zone) {
        if (clock != null) {
            return new Asked(zone);
        }
        return Clock.offset(Clock.system(zone), Duration.ofMillis(shift()));
    }

    private static boolean isReal() {
        return SHIFT == 0 && clock == null;
    }

    public static Clock systemUTC() {
        return isReal() ? Clock.systemUTC() : clock(ZoneOffset.UTC);
    }

    /** A source of instants, which is a clock in releases that have such sources. */
    public static Object system() {
        return systemUTC();
    }

    public static Clock systemDefaultZone() {
        return isReal() ? Clock.systemDefaultZone() : clock(ZoneId.systemDefault());
    }

    public static Clock system(ZoneId zone) {
        return isReal() || zone == null ? Clock.system(zone) : clock(zone);
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

    public static OffsetTime nowOffsetTime(ZoneId zone) {
        return OffsetTime.now(system(zone));
    }

    public static MonthDay nowMonthDay() {
        return MonthDay.now(systemDefaultZone());
    }

    public static MonthDay nowMonthDay(ZoneId zone) {
        return MonthDay.now(system(zone));
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

    public static HijrahDate nowHijrahDate() {
        return HijrahDate.now(systemDefaultZone());
    }

    public static HijrahDate nowHijrahDate(ZoneId zone) {
        return HijrahDate.now(system(zone));
    }

    public static JapaneseDate nowJapaneseDate() {
        return JapaneseDate.now(systemDefaultZone());
    }

    public static JapaneseDate nowJapaneseDate(ZoneId zone) {
        return JapaneseDate.now(system(zone));
    }

    public static MinguoDate nowMinguoDate() {
        return MinguoDate.now(systemDefaultZone());
    }

    public static MinguoDate nowMinguoDate(ZoneId zone) {
        return MinguoDate.now(system(zone));
    }

    public static ThaiBuddhistDate nowThaiBuddhistDate() {
        return ThaiBuddhistDate.now(systemDefaultZone());
    }

    public static ThaiBuddhistDate nowThaiBuddhistDate(ZoneId zone) {
        return ThaiBuddhistDate.now(system(zone));
    }

    public static ChronoLocalDate dateNow(Chronology chronology) {
        return chronology.dateNow(systemDefaultZone());
    }

    public static ChronoLocalDate dateNow(Chronology chronology, ZoneId zone) {
        return chronology.dateNow(system(zone));
    }

    public static HijrahDate dateNow(HijrahChronology chronology) {
        return chronology.dateNow(systemDefaultZone());
    }

    public static HijrahDate dateNow(HijrahChronology chronology, ZoneId zone) {
        return chronology.dateNow(system(zone));
    }

    public static LocalDate dateNow(IsoChronology chronology) {
        return chronology.dateNow(systemDefaultZone());
    }

    public static LocalDate dateNow(IsoChronology chronology, ZoneId zone) {
        return chronology.dateNow(system(zone));
    }

    public static JapaneseDate dateNow(JapaneseChronology chronology) {
        return chronology.dateNow(systemDefaultZone());
    }

    public static JapaneseDate dateNow(JapaneseChronology chronology, ZoneId zone) {
        return chronology.dateNow(system(zone));
    }

    public static MinguoDate dateNow(MinguoChronology chronology) {
        return chronology.dateNow(systemDefaultZone());
    }

    public static MinguoDate dateNow(MinguoChronology chronology, ZoneId zone) {
        return chronology.dateNow(system(zone));
    }

    public static ThaiBuddhistDate dateNow(ThaiBuddhistChronology chronology) {
        return chronology.dateNow(systemDefaultZone());
    }

    public static ThaiBuddhistDate dateNow(ThaiBuddhistChronology chronology, ZoneId zone) {
        return chronology.dateNow(system(zone));
    }

    private static Calendar shifted(Calendar calendar) {
        if (!isReal()) {
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
