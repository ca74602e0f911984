package readable;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.sql.Time;
import java.sql.Timestamp;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.time.Clock;
import java.time.Instant;
import java.time.MonthDay;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.StringTokenizer;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** Strings and boxes that are told by identity, and more of what the JDK has. */
public class Kinds {
    static void boxes(Integer one, Integer same, Integer small, Map<String, Long> totals, Long total) {
        if (one == same && totals.get("all") == total) {
            texts("k" + small, new ArrayList<>(Arrays.asList("k" + small, "other")), "other");
        }
    }

    static void texts(String key, List<String> keys, String other) {
        if (key != keys.get(0)) {
            times(new Timestamp(1709164800123L), Timestamp.from(Instant.ofEpochSecond(-5, 1001)),
                    new java.sql.Date(86400000L), new Time(1000L), MonthDay.of(2, 29),
                    OffsetTime.parse("10:15:30+01:00"), url("https://example.org:8443/a?b=c#d"));
        }
    }

    static URL url(String text) {
        try {
            return URI.create(text).toURL();
        } catch (java.net.MalformedURLException e) {
            throw new AssertionError(e);
        }
    }

    static void times(Timestamp exact, Timestamp fine, java.sql.Date date, Time time, MonthDay leap,
            OffsetTime opens, URL url) {
        Map<String, Integer> ages = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        ages.put("Ann", 40);
        TreeSet<Integer> down = new TreeSet<>(Comparator.reverseOrder());
        Collections.addAll(down, 1, 2, 3);
        PriorityQueue<Integer> heap = new PriorityQueue<>(Collections.reverseOrder());
        Collections.addAll(heap, 5, 9, 7);
        ConcurrentSkipListMap<String, Integer> skips = new ConcurrentSkipListMap<>();
        skips.put("b", 2);
        skips.put("a", 1);
        Properties defaults = new Properties();
        defaults.setProperty("host", "localhost");
        Properties settings = new Properties(defaults);
        settings.setProperty("port", "80");
        sorted(ages, down, heap, skips, new ConcurrentSkipListSet<>(List.of(3, 1)), settings);
    }

    static void sorted(Map<String, Integer> ages, TreeSet<Integer> down, PriorityQueue<Integer> heap,
            ConcurrentSkipListMap<String, Integer> skips, ConcurrentSkipListSet<Integer> set,
            Properties settings) {
        LinkedBlockingQueue<String> bounded = new LinkedBlockingQueue<>(3);
        bounded.add("x");
        WeakHashMap<String, Integer> weak = new WeakHashMap<>();
        weak.put("key", 1);
        others(new MathContext(7), new MathContext(3, RoundingMode.DOWN),
                new AtomicIntegerArray(new int[] {4, 0, 2}), bounded,
                new LinkedBlockingDeque<>(List.of(1, 2)), Collections.nCopies(3, "again"), weak);
    }

    static void others(MathContext seven, MathContext down, AtomicIntegerArray counts,
            LinkedBlockingQueue<String> bounded, LinkedBlockingDeque<Integer> open,
            List<String> copies, WeakHashMap<String, Integer> weak) {
        Exception old = new IllegalStateException("old", new Error("cause"));
        old.addSuppressed(new Refused("closed", 3));
        host(System.out, Runtime.getRuntime(), FileSystems.getDefault(), Kinds.class.getClassLoader(),
                Object.class.getModule(), new Desk(Thread.currentThread(), ForkJoinPool.commonPool()), old);
    }

    static void host(PrintStream out, Runtime runtime, FileSystem files, ClassLoader loader,
            Module module, Desk desk, Exception old) {
        errors(old, new NumberFormatException("no number"), new Refused("why", 7));
    }

    static void errors(Exception old, Exception plain, Refused refused) {
        ByteBuffer read = ByteBuffer.wrap(new byte[] {1, 2, 3});
        read.get();
        Random random = new Random(42);
        random.nextInt();
        Reader begun = new StringReader("a,b");
        InputStream rest = new ByteArrayInputStream(new byte[] {1, 2, 3});
        try {
            begun.read();
            rest.read();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        ticking(Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), Clock.systemUTC(), random, read,
                ByteBuffer.allocate(4), new StringTokenizer("a b"), new BufferedReader(new StringReader("x")),
                begun, rest, Pattern.compile("a", Pattern.DOTALL | Pattern.MULTILINE), Locale.US);
    }

    static void ticking(Clock still, Clock clock, Random random, ByteBuffer read, ByteBuffer empty,
            StringTokenizer words, Reader reader, Reader begun, InputStream rest, Pattern pattern,
            Locale locale) {
        Map<String, Integer> recent = new LinkedHashMap<>(16, 0.75f, true);
        recent.put("a", 1);
        recent.put("b", 2);
        Map<String, Integer> ages = new HashMap<>();
        ages.put("Ann", 40);
        Set<String> keys = ConcurrentHashMap.newKeySet();
        keys.add("k");
        ArrayBlockingQueue<String> bounded = new ArrayBlockingQueue<>(2);
        bounded.add("q");
        TreeSet<String> down = new TreeSet<>(Collections.reverseOrder(String.CASE_INSENSITIVE_ORDER));
        down.add("a");
        held(recent, Collections.unmodifiableMap(ages), keys, bounded, down, Comparator.naturalOrder(),
                new ConcurrentLinkedQueue<>(List.of("x")), new PriorityBlockingQueue<>(List.of(1, 2)),
                new DelayQueue<>(), Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    static void held(Map<String, Integer> recent, Map<String, Integer> ages, Set<String> keys,
            ArrayBlockingQueue<String> bounded, TreeSet<String> down, Comparator<String> natural,
            ConcurrentLinkedQueue<String> linked, PriorityBlockingQueue<Integer> ordered, DelayQueue<?> delays,
            Set<Object> same) {
        throw new UnsupportedOperationException("deep");
    }

    public static void main(String[] args) {
        Integer one = 1234 + args.length;
        Long total = 5000L + args.length;
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", total);
        SimpleDateFormat day = new SimpleDateFormat("yyyy-MM-dd", Locale.GERMANY);
        day.setTimeZone(TimeZone.getTimeZone("Asia/Tokyo"));
        day.setLenient(false);
        DecimalFormat money = new DecimalFormat("#,##0.00", new DecimalFormatSymbols(Locale.UK));
        money.setRoundingMode(RoundingMode.DOWN);
        GregorianCalendar leap = new GregorianCalendar(TimeZone.getTimeZone("Asia/Tokyo"), Locale.US);
        leap.setTimeInMillis(1709164800000L);
        AtomicReferenceArray<String> last = new AtomicReferenceArray<>(3);
        last.set(1, "x");
        formats(day, money, (DecimalFormat) NumberFormat.getPercentInstance(Locale.US), leap,
                new ParsePosition(3), last, new ReentrantReadWriteLock(true), new Version(1, 4, 2), one,
                totals);
    }

    static void formats(SimpleDateFormat day, DecimalFormat money, DecimalFormat share,
            GregorianCalendar leap, ParsePosition at, AtomicReferenceArray<String> last,
            ReentrantReadWriteLock lock, Version version, Integer one, Map<String, Long> totals) {
        parts(new TreeMap<>(Map.of("a", 1)).keySet(), new HashMap<>(Map.of("b", 2)).values(),
                new ArrayList<>(List.of(1, 2, 3)).subList(1, 3), one, totals);
    }

    static void parts(Set<String> keys, Collection<Integer> values, List<Integer> range, Integer one,
            Map<String, Long> totals) {
        ended(CompletableFuture.completedFuture("x"), CompletableFuture.completedFuture(null),
                CompletableFuture.failedFuture(new IllegalStateException("late")),
                new CompletableFuture<>(), one, totals);
    }

    static void ended(CompletableFuture<String> done, CompletableFuture<Void> empty,
            CompletableFuture<String> failed, CompletableFuture<String> open, Integer one,
            Map<String, Long> totals) {
        Set<String> known = new HashSet<>(Set.of("k"));
        lambdas(String::length, ArrayList::new, name -> known.contains(name), new Version(1, 0, 0)::at,
                new Teller(text -> "<" + text + ">"), one, totals);
    }

    static void lambdas(Function<String, Integer> length, Supplier<List<String>> lists,
            Predicate<String> known, IntUnaryOperator part, Teller teller, Integer one,
            Map<String, Long> totals) {
        Reader reader = new StringReader("x");
        PrintWriter writer = new PrintWriter(new StringWriter());
        try {
            reader.close();
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
        writer.close();
        List<Integer> numbers = new ArrayList<>(List.of(1, 2, 3));
        List<Integer> range = numbers.subList(1, 3);
        numbers.remove(0);
        Object lock = new Object();
        spent(reader, writer, range, BigInteger.ONE.shiftLeft(5000), new Guard(lock),
                new Waiting(lock, new DelayQueue<>()), one, totals);
    }

    static void spent(Reader reader, PrintWriter writer, List<Integer> range, BigInteger large, Guard guard,
            Waiting waiting, Integer one, Map<String, Long> totals) {
        Set<Object> same = Collections.newSetFromMap(new IdentityHashMap<>());
        same.add("k");
        Properties mixed = new Properties();
        mixed.setProperty("host", "localhost");
        mixed.put("tries", 5);
        HashMap<String, Version> versions = new HashMap<>();
        versions.put("first", new Version(1, 0, 0));
        List<String> rows = new ArrayList<>(List.of("a"));
        several(same, mixed, new Shelf(versions.values(), versions), new Page(rows, rows),
                (Function<Version, int[]>) Version::all, Version::check, one, totals);
    }

    static <T> void several(Set<Object> same, Properties mixed, Shelf shelf, Page page, T parts,
            Consumer<? super Version> check, Integer one, Map<String, Long> totals) {
        wild(check, Objects::hashCode, Instant::now, Instant::now, one, totals);
    }

    static void wild(Consumer<?> check, Function<?, ?> number, Supplier<?> clock, Source<?> source, Integer one,
            Map<String, Long> totals) {
        Object[] held = {new HashSet<>(Set.of("a")), new TreeSet<>(Set.of("a")), List.of("a"),
                new ArrayList<>(), Optional.empty(), EnumSet.of(RoundingMode.UP), Pattern.compile("a")};
        marked(new Waiting(held, new DelayQueue<>()), new HashSet<>(Set.of("b")), new TreeSet<>(Set.of("b")),
                List.of("b"), new ArrayList<>(), Optional.empty(), EnumSet.of(RoundingMode.DOWN),
                Pattern.compile("b"), one, totals);
    }

    static void marked(Waiting waiting, Set<String> names, TreeSet<String> order, List<String> single,
            List<String> none, Optional<String> maybe, Set<RoundingMode> modes, Pattern pattern, Integer one,
            Map<String, Long> totals) {
        boxes(one, one, 7, totals, totals.get("all"));
    }
}

/** Shows what it holds a part of, too. */
class Shelf {
    private final Collection<Version> versions;
    private final HashMap<String, Version> byName;

    Shelf(Collection<Version> versions, HashMap<String, Version> byName) {
        this.versions = versions;
        this.byName = byName;
    }
}

/** Is given one list for two. */
class Page {
    private final Collection<String> shown;
    private final List<String> all;

    Page(Collection<String> shown, List<String> all) {
        this.shown = shown;
        this.all = all;
    }
}

/** Has a lock. */
class Guard {
    private final Object lock;

    Guard(Object lock) {
        this.lock = lock;
    }
}

/** Gives something, as the JDK's suppliers do. */
interface Source<T> {
    T next();
}

/** Has what nothing makes, beside a lock that it shares. */
class Waiting {
    private final Object lock;
    private final DelayQueue<?> queue;

    Waiting(Object lock, DelayQueue<?> queue) {
        this.lock = lock;
        this.queue = queue;
    }
}

class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final int code;

    Refused(String message, int code) {
        super(message);
        this.code = code;
    }
}

/** Keeps its parts in an array. */
class Version {
    private final int[] parts;

    Version(int major, int minor, int patch) {
        parts = new int[] {major, minor, patch};
    }

    int at(int place) {
        return parts[place];
    }

    int[] all() {
        return parts.clone();
    }

    void check() {
        at(2);
    }
}

/** Has lambdas of its own, and one that it is given. */
class Teller {
    private final UnaryOperator<String> style;
    private final Comparator<String> order = Comparator.comparing(String::length).reversed();
    private final Runnable nothing = () -> { };

    Teller(UnaryOperator<String> style) {
        this.style = style;
    }
}

/** Holds what each JVM has its own of. */
class Desk {
    private final Thread owner;
    private final ForkJoinPool pool;

    Desk(Thread owner, ForkJoinPool pool) {
        this.owner = owner;
        this.pool = pool;
    }
}
