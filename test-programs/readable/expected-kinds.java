package readable;

import dev.hindsight.replay.Call;
import dev.hindsight.replay.Crash;
import dev.hindsight.replay.Frame;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.FileSystems;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.time.Clock;
import java.time.Instant;
import java.time.MonthDay;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
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
import org.junit.jupiter.api.Test;

class KindsCrash0001Test {

    // Frame 0 of the crash: readable.Kinds.held(Kinds.java:188)
    @Test
    void held_frame0() throws Exception {
        Frame frame = Crash.of(KindsCrash0001Test.class, "crash-0001.hsc").frame(0);
        // delays: DelayQueue
        DelayQueue<?> delays = frame.argument(9);
        Map<String, Integer> recent = new LinkedHashMap<>(16, 0.75f, true);
        recent.put("a", 1);
        recent.put("b", 2);
        Map<String, Integer> map = new HashMap<>();
        map.put("Ann", 40);
        Set<String> keys = ConcurrentHashMap.newKeySet();
        keys.add("k");
        ArrayBlockingQueue<String> bounded = new ArrayBlockingQueue<>(2);
        bounded.add("q");
        TreeSet<String> down = new TreeSet<>(Collections.reverseOrder(String.CASE_INSENSITIVE_ORDER));
        down.add("a");
        Kinds.held(recent, Collections.unmodifiableMap(map), keys, bounded, down,
                Comparator.naturalOrder(), new ConcurrentLinkedQueue<>(List.of("x")),
                new PriorityBlockingQueue<>(List.of(1, 2)), delays,
                Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    // Frame 1 of the crash: readable.Kinds.ticking(Kinds.java:179)
    @Test
    void ticking_frame1() throws Exception {
        ByteBuffer read = ByteBuffer.wrap(new byte[] {1, 2, 3});
        read.position(1);
        StringReader begun = new StringReader("a,b");
        begun.skip(1);
        ByteArrayInputStream rest = new ByteArrayInputStream(new byte[] {1, 2, 3});
        rest.skip(1);
        Kinds.ticking(Clock.fixed(Instant.parse("1970-01-01T00:00:00Z"), ZoneOffset.UTC),
                Clock.systemUTC(), new Random(204802358849579L), read, ByteBuffer.allocate(4),
                new StringTokenizer("a b"), new BufferedReader(new StringReader("x")), begun, rest,
                Pattern.compile("a", Pattern.MULTILINE | Pattern.DOTALL), Locale.US);
    }

    // Frame 2 of the crash: readable.Kinds.errors(Kinds.java:160)
    @Test
    void errors_frame2() throws Exception {
        IllegalStateException old = new IllegalStateException("old", new Error("cause"));
        old.addSuppressed(new Refused("closed", 3));
        Kinds.errors(old, new NumberFormatException("no number"), new Refused("why", 7));
    }

    // Frame 3 of the crash: readable.Kinds.host(Kinds.java:144)
    @Test
    void host_frame3() throws Exception {
        IllegalStateException old = new IllegalStateException("old", new Error("cause"));
        old.addSuppressed(new Refused("closed", 3));
        Kinds.host(System.out, Runtime.getRuntime(), FileSystems.getDefault(),
                ClassLoader.getSystemClassLoader(), ModuleLayer.boot().findModule("java.base")
                .orElseThrow(), new Desk(Thread.currentThread(), ForkJoinPool.commonPool()), old);
    }

    // Frame 4 of the crash: readable.Kinds.others(Kinds.java:138)
    @Test
    void others_frame4() throws Exception {
        LinkedBlockingQueue<String> bounded = new LinkedBlockingQueue<>(3);
        bounded.add("x");
        WeakHashMap<String, Integer> weak = new WeakHashMap<>();
        weak.put("key", 1);
        Kinds.others(new MathContext(7), new MathContext(3, RoundingMode.DOWN),
                new AtomicIntegerArray(new int[] {4, 0, 2}), bounded,
                new LinkedBlockingDeque<>(List.of(1, 2)), Collections.nCopies(3, "again"), weak);
    }

    // Frame 5 of the crash: readable.Kinds.sorted(Kinds.java:128)
    @Test
    void sorted_frame5() throws Exception {
        Map<String, Integer> ages = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        ages.put("Ann", 40);
        Comparator<Integer> comparator = Collections.reverseOrder();
        TreeSet<Integer> down = new TreeSet<>(comparator);
        down.add(3);
        down.add(2);
        down.add(1);
        PriorityQueue<Integer> heap = new PriorityQueue<>(comparator);
        heap.add(9);
        heap.add(5);
        heap.add(7);
        ConcurrentSkipListMap<String, Integer> skips = new ConcurrentSkipListMap<>();
        skips.put("a", 1);
        skips.put("b", 2);
        Properties properties = new Properties();
        properties.setProperty("host", "localhost");
        Properties settings = new Properties(properties);
        settings.setProperty("port", "80");
        Kinds.sorted(ages, down, heap, skips, new ConcurrentSkipListSet<>(List.of(1, 3)), settings);
    }

    // Frame 6 of the crash: readable.Kinds.times(Kinds.java:118)
    @Test
    void times_frame6() throws Throwable {
        Kinds.times(new Timestamp(1709164800123L), Timestamp.from(Instant.ofEpochSecond(-5L, 1001)),
                new Date(86400000L), new Time(1000L), MonthDay.of(2, 29),
                OffsetTime.parse("10:15:30+01:00"), URI.create("https://example.org:8443/a?b=c#d")
                .toURL());
    }

    // Frame 7 of the crash: readable.Kinds.texts(Kinds.java:89)
    @Test
    void texts_frame7() throws Exception {
        Kinds.texts("k7", new ArrayList<>(List.of(new String("k7"), "other")), "other");
    }

    // Frame 8 of the crash: readable.Kinds.boxes(Kinds.java:83)
    @Test
    void boxes_frame8() throws Exception {
        Integer one = 1234;
        Map<String, Long> totals = new HashMap<>();
        Long total = 5000L;
        totals.put("all", total);
        Kinds.boxes(one, one, 7, totals, total);
    }

    // Frame 9 of the crash: readable.Kinds.marked(Kinds.java:282)
    @Test
    void marked_frame9() throws Exception {
        Frame frame = Crash.of(KindsCrash0001Test.class, "crash-0001.hsc").frame(9);
        // waiting: Waiting {lock = Object[] [HashSet ["a"], TreeSet ["a"],
        //     ImmutableCollections$List12 ["a"], ArrayList [], Optional [], RegularEnumSet
        //     [RoundingMode.UP], ... 1 more], queue = DelayQueue}
        Waiting waiting = frame.argument(1);
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.marked(waiting, new HashSet<>(List.of("b")), new TreeSet<>(List.of("b")),
                List.of("b"), new ArrayList<>(), Optional.empty(), EnumSet.of(RoundingMode.DOWN),
                Pattern.compile("b"), 1234, totals);
    }

    // Frame 10 of the crash: readable.Kinds.wild(Kinds.java:274)
    @Test
    void wild_frame10() throws Exception {
        Consumer<Object> check = Call.lambda(Consumer.class, "readable.Version", "check", "()V");
        Function<Object, Object> number = Objects::hashCode;
        Supplier<Object> clock = Instant::now;
        Source<Object> source = Instant::now;
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.wild(check, number, clock, source, 1234, totals);
    }

    // Frame 11 of the crash: readable.Kinds.several(Kinds.java:267)
    @Test
    @SuppressWarnings({"rawtypes", "unchecked"})
    void several_frame11() throws Exception {
        Set<Object> same = Collections.newSetFromMap(new IdentityHashMap<>());
        same.add("k");
        Properties mixed = new Properties();
        mixed.put("tries", 5);
        mixed.put("host", "localhost");
        HashMap map = new HashMap<>();
        map.put("first", new Version(1, 0, 0));
        ArrayList<String> shown = new ArrayList<>(List.of("a"));
        Function parts = Call.lambda(Function.class, "readable.Version", "all", "()[I");
        Consumer<Version> check = Version::check;
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.several(same, mixed, new Shelf(map.values(), map), new Page(shown, shown), parts,
                check, 1234, totals);
    }

    // Frame 12 of the crash: readable.Kinds.spent(Kinds.java:261)
    @Test
    void spent_frame12() throws Exception {
        Frame frame = Crash.of(KindsCrash0001Test.class, "crash-0001.hsc").frame(12);
        // reader: StringReader
        Reader reader = frame.argument(1);
        // writer: PrintWriter
        PrintWriter writer = frame.argument(2);
        // range: ArrayList$SubList
        List<Integer> range = frame.argument(3);
        // large: BigInteger a number of 5024 bits
        BigInteger large = frame.argument(4);
        // guard: Guard {lock = Object {}}
        Guard guard = frame.argument(5);
        // waiting: Waiting {lock = Object {}, queue = DelayQueue}
        Waiting waiting = frame.argument(6);
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.spent(reader, writer, range, large, guard, waiting, 1234, totals);
    }

    // Frame 13 of the crash: readable.Kinds.lambdas(Kinds.java:247)
    @Test
    void lambdas_frame13() throws Exception {
        Function<String, Integer> length = String::length;
        Supplier<List<String>> lists = ArrayList::new;
        // Behind the slash: what finds it where the program numbers it anew.
        Predicate<String> known = Call.lambda(Predicate.class, "readable.Kinds",
                "lambda$ended$0/0/60670f95/static", "(Ljava/util/Set;Ljava/lang/String;)Z",
                new HashSet<>(List.of("k")));
        IntUnaryOperator part = new Version(1, 0, 0)::at;
        UnaryOperator<String> style = Call.lambda(UnaryOperator.class, "readable.Kinds",
                "lambda$ended$1/0/f891ccf1/static", "(Ljava/lang/String;)Ljava/lang/String;");
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.lambdas(length, lists, known, part, new Teller(style), 1234, totals);
    }

    // Frame 14 of the crash: readable.Kinds.ended(Kinds.java:228)
    @Test
    void ended_frame14() throws Exception {
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.ended(CompletableFuture.completedFuture("x"), CompletableFuture.completedFuture(null),
                CompletableFuture.failedFuture(new IllegalStateException("late")),
                new CompletableFuture<>(), 1234, totals);
    }

    // Frame 15 of the crash: readable.Kinds.parts(Kinds.java:219)
    @Test
    void parts_frame15() throws Exception {
        Map<String, Object> map = new TreeMap<>();
        map.put("a", 1);
        Map<Object, Integer> map2 = new HashMap<>();
        map2.put("b", 2);
        List<Integer> list = new ArrayList<>(List.of(1, 2, 3));
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.parts(map.keySet(), map2.values(), list.subList(1, 3), 1234, totals);
    }

    // Frame 16 of the crash: readable.Kinds.formats(Kinds.java:213)
    @Test
    void formats_frame16() throws Exception {
        SimpleDateFormat day = new SimpleDateFormat("yyyy-MM-dd", Locale.GERMANY);
        day.setTimeZone(TimeZone.getTimeZone("Asia/Tokyo"));
        day.setLenient(false);
        DecimalFormat money = new DecimalFormat("#,##0.00", new DecimalFormatSymbols(Locale.UK));
        money.setRoundingMode(RoundingMode.DOWN);
        GregorianCalendar leap = new GregorianCalendar(TimeZone.getTimeZone("Asia/Tokyo"));
        leap.setFirstDayOfWeek(1);
        leap.setMinimalDaysInFirstWeek(1);
        leap.setTimeInMillis(1709164800000L);
        AtomicReferenceArray<String> last = new AtomicReferenceArray<>(3);
        last.set(1, "x");
        Map<String, Long> totals = new HashMap<>();
        totals.put("all", 5000L);
        Kinds.formats(day, money, new DecimalFormat("#,##0%", new DecimalFormatSymbols(Locale.US)),
                leap, new ParsePosition(3), last, new ReentrantReadWriteLock(true),
                new Version(1, 4, 2), 1234, totals);
    }

    // Frame 17 of the crash: readable.Kinds.main(Kinds.java:205)
    @Test
    void main_frame17() throws Exception {
        Kinds.main(new String[0]);
    }
}
