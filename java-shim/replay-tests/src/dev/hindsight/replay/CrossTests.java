package dev.hindsight.replay;

import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.SimpleDateFormat;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One JDK restores what another one has recorded: {@code CrossTests dump FILE}, {@code CrossTests
 * load FILE}. The script runs this for each pair.
 */
final class CrossTests {
    private CrossTests() {}

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[1]);
        List<Object> values = values();
        if (arguments[0].equals("dump")) {
            Snapshot snapshot = new Snapshot();
            for (Object value : values) {
                snapshot.frame(Packer.one(snapshot.argument(1, value)));
            }
            Files.write(file, snapshot.file());
            return;
        }
        int failed = 0;
        for (int i = 0; i < values.size(); i++) {
            Object expected = values.get(i);
            try {
                Frame frame = Crash.of(file).frame(i);
                Object back = frame.argument(1);
                if (i < USES.size()) {
                    Use use = USES.get(i);
                    equal(use.of(back), use.of(expected));
                    continue;
                }
                boolean same = back instanceof Collection && !(back instanceof List)
                        && !(back instanceof Set)
                        ? new ArrayList<>((Collection<?>) back)
                                .equals(new ArrayList<>((Collection<?>) expected))
                        : Objects.equals(back, expected)
                                || described(back).equals(described(expected));
                check(same, expected.getClass() + " " + expected + " became " + back);
                for (String hole : frame.holes()) {
                    check(hole.contains("degraded"), hole);
                }
            } catch (Throwable e) {
                failed++;
                e.printStackTrace(System.out);
            }
        }
        System.out.println((values.size() - failed) + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static String described(Object value) {
        String text = String.valueOf(value);
        return value.getClass().getName() + " " + text.replaceAll("@[0-9a-f]+", "");
    }

    /** Shows the content of a value by using it. */
    private interface Use {
        Object of(Object value) throws Exception;
    }

    private interface TypedUse<T> {
        Object of(T value) throws Exception;
    }

    /** Values that show their content when they are used, and how to use each, once. */
    private static final List<Object> USED = new ArrayList<>();
    private static final List<Use> USES = new ArrayList<>();

    @SuppressWarnings("unchecked")
    private static <T> void use(T value, TypedUse<T> use) {
        USED.add(value);
        USES.add(back -> use.of((T) back));
    }

    private static void uses() throws Exception {
        StringReader reader = new StringReader("read already, rest");
        reader.skip(5);
        reader.mark(0);
        reader.skip(9);
        use(reader, r -> {
            String rest = new Scanner(r).next();
            r.reset();
            return rest + " " + new Scanner(r).next();
        });
        LinkedTransferQueue<Integer> transfer = new LinkedTransferQueue<>(List.of(0, 2, 4, 1));
        transfer.remove(4);
        transfer.poll();
        use(transfer, q -> q.add(9) + " " + q + q.poll() + q.size());
        use(new SynchronousQueue<>(), q -> q.offer(1) + " " + q.poll());
        use(new SynchronousQueue<>(true), q -> q.offer(1) + " " + q.poll());
        use(new Exchanger<String>(), CrossTests::alone);
        use(new ByteArrayInputStream(new byte[] {1, 2}), s -> s.read() + s.available());
        use(new BufferedInputStream(new ByteArrayInputStream(new byte[] {1, 2})),
                s -> s.read() + s.available());
        BufferedInputStream begun =
                new BufferedInputStream(new ByteArrayInputStream(new byte[] {1, 2}), 1);
        begun.mark(5);
        begun.read();
        use(begun, s -> {
            int second = s.read();
            s.reset();
            return second + " " + s.read();
        });
        use(new Formatter(Locale.US), f -> f.format("%,d", 12345).toString());
        Matcher matcher = Pattern.compile("(?<y>\\d+)").matcher("a12b345");
        matcher.find();
        matcher.find();
        use(matcher.toMatchResult(), m -> m.group(1) + m.start() + m.end(1) + m.groupCount());
        use(DateTimeFormatter.ofPattern("yyyy/MM/dd HH:mm:ss[.SSS] VV", Locale.US),
                f -> f.format(ZonedDateTime.of(2020, 3, 29, 1, 30, 0, 5000000, ZoneId.of("UTC")))
                        + f.parse("2020/01/02 03:04:05 UTC", ZonedDateTime::from));
        use(DateTimeFormatter.ISO_OFFSET_DATE_TIME,
                f -> f.parse("2020-03-29T01:30:00.25Z", OffsetDateTime::from));
        use(new DateTimeFormatterBuilder().appendValue(ChronoField.HOUR_OF_DAY, 2)
                        .appendFraction(ChronoField.MINUTE_OF_HOUR, 0, 9, true)
                        .toFormatter(Locale.ROOT),
                f -> f.parse("05.5", LocalTime::from));
        ByteBuffer bytes = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(5).putLong(7);
        use(bytes.asIntBuffer(), b -> b.put(3).flip() + " " + b.get(0) + b.order());
        bytes.flip().position(4);
        use(bytes.slice().order(ByteOrder.BIG_ENDIAN).asLongBuffer().asReadOnlyBuffer(),
                b -> b.get() + " " + b.remaining() + b.order());
        use(ByteBuffer.wrap("\0h\0i".getBytes("UTF-8")).asCharBuffer(), b -> b + " " + b.get());
        for (Object shared : List.of(Collections.emptyList(), Collections.emptyMap(),
                Collections.emptySet(), Collections.emptyIterator(), List.of(), Set.of(), Map.of(),
                Optional.empty(), OptionalInt.empty(), String.CASE_INSENSITIVE_ORDER,
                Collections.reverseOrder())) {
            use(shared, back -> back == shared);
        }
        use(Stream.empty().toArray(), back -> back.length);
        Class<?> hex;
        try {
            hex = Class.forName("java.util.HexFormat");
        } catch (ClassNotFoundException e) {
            // JDK 17 is the first that has it.
            return;
        }
        Object upper = hex.getMethod("withUpperCase")
                .invoke(hex.getMethod("ofDelimiter", String.class).invoke(null, ":"));
        for (Object format : List.of(upper, hex.getMethod("of").invoke(null))) {
            use(format, back -> hex.getMethod("formatHex", byte[].class)
                    .invoke(back, new byte[] {1, (byte) 0xab}));
        }
    }

    private static Object alone(Exchanger<String> exchanger) throws InterruptedException {
        try {
            return exchanger.exchange("a", 1, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return "nobody came";
        }
    }

    private static List<Object> values() throws Exception {
        uses();
        List<String> words = List.of("one", "two", "three");
        Map<String, Integer> map = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            map.put("key " + i, i);
        }
        EnumMap<Thread.State, String> byEnum = new EnumMap<>(Thread.State.class);
        byEnum.put(Thread.State.BLOCKED, "b");
        Exception thrown = new Exception("message", new Error("cause"));
        thrown.setStackTrace(new StackTraceElement[] {new StackTraceElement("a", "b", "c", 1)});
        Properties properties = new Properties();
        properties.setProperty("a", "b");
        List<Object> values = new ArrayList<>(USED);
        values.addAll(List.of("text", 5, 'c', 1.5, new ArrayList<>(words), new LinkedList<>(words),
                new ArrayDeque<>(words), new PriorityQueue<>(words), new Vector<>(words),
                new CopyOnWriteArrayList<>(words), new LinkedBlockingQueue<>(words),
                new ConcurrentLinkedQueue<>(words), words, List.of(1), List.of(), Set.of(1),
                Set.of("a", "b", "c"), Map.of("a", 1), Map.of("a", 1, "b", 2),
                map, new LinkedHashMap<>(map), new TreeMap<>(map), new Hashtable<>(map),
                new ConcurrentHashMap<>(map), new ConcurrentSkipListMap<>(map),
                new WeakHashMap<>(map), new HashSet<>(map.keySet()), new TreeSet<>(map.keySet()),
                new LinkedHashSet<>(map.keySet()), byEnum, EnumSet.of(Thread.State.NEW),
                properties, Collections.unmodifiableMap(map), Collections.synchronizedList(
                        new ArrayList<>(words)), Arrays.asList(1, 2), Optional.of("x"),
                new BigInteger("123456789012345678901234567890"), new BigDecimal("1.50"),
                LocalDate.of(2020, 2, 29), ZonedDateTime.of(2020, 1, 2, 3, 4, 5, 6,
                        ZoneId.of("Europe/Berlin")), Locale.GERMANY, new Date(5),
                new GregorianCalendar(2020, 1, 29), TimeZone.getTimeZone("Asia/Tokyo"),
                new SimpleDateFormat("yyyy", Locale.US), new DecimalFormat("#,##0.0"),
                new StringBuilder("built\u20ac"), new StringBuilder("latin"), Pattern.compile("a+"),
                new UUID(1, 2), new java.io.File("a"), java.net.URI.create("a:b"),
                new java.net.URL("http://a/b"), ByteBuffer.wrap(new byte[] {1, 2}), new BitSet(),
                Currency.getInstance("EUR"), new AtomicLong(5), new ReentrantLock(), thrown,
                new Random(5), new Scanner("x").delimiter(), new StringJoiner(","),
                new Semaphore(2), new Object[] {1, "a"}, new int[0].getClass()));
        return values;
    }
}
