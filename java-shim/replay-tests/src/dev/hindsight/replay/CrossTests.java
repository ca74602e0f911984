package dev.hindsight.replay;

import static dev.hindsight.replay.Tests.check;

import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.SimpleDateFormat;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * What one JDK recorded, another restores: {@code CrossTests dump FILE}, {@code CrossTests load
 * FILE}. Run by the script for each pair.
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
        if (value instanceof StringReader) {
            try {
                StringReader reader = (StringReader) value;
                String rest = new Scanner(reader).next();
                reader.reset();
                return rest + " " + new Scanner(reader).next();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        String text = String.valueOf(value);
        return value.getClass().getName() + " " + text.replaceAll("@[0-9a-f]+", "");
    }

    private static List<Object> values() throws Exception {
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
        StringReader reader = new StringReader("read already, rest");
        reader.skip(5);
        reader.mark(0);
        reader.skip(9);
        return List.of("text", 5, 'c', 1.5, new ArrayList<>(words), new LinkedList<>(words),
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
                new Semaphore(2), reader, new Object[] {1, "a"}, new int[0].getClass());
    }
}
