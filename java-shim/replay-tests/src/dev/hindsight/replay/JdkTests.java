package dev.hindsight.replay;

import static dev.hindsight.replay.Snapshot.frameOf;
import static dev.hindsight.replay.Snapshot.roundTrip;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.same;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.file.Paths;
import java.text.DecimalFormat;
import java.text.MessageFormat;
import java.text.SimpleDateFormat;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tests that record and restore objects of the running JDK. */
final class JdkTests {
    private JdkTests() {}

    enum Many {
        A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9,
        C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, D0, D1, D2, D3, D4, D5, D6, D7, D8, D9,
        E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9,
        G0, G1, G2, G3, G4, G5, G6, G7, G8, G9,
    }

    static void valuesThatAreEqual() throws Exception {
        List<Object> values = new ArrayList<>(List.of(
                new BigInteger("-123456789012345678901234567890"), BigInteger.ZERO,
                new BigDecimal("1.50"), new BigDecimal("12345678901234567890.123"),
                LocalDate.of(2020, 2, 29), LocalTime.NOON, LocalDateTime.of(2020, 1, 2, 3, 4),
                ZonedDateTime.of(2020, 1, 2, 3, 4, 5, 6, ZoneId.of("Europe/Berlin")),
                OffsetDateTime.of(2020, 1, 2, 3, 4, 5, 6, ZoneOffset.ofHours(2)),
                Instant.ofEpochSecond(5, 7), Duration.ofMillis(77), Period.ofDays(3),
                Year.of(2020), DayOfWeek.MONDAY, ZoneOffset.UTC, ZoneId.of("Asia/Tokyo"),
                Optional.of("x"), Optional.empty(), OptionalInt.of(3),
                UUID.fromString("123e4567-e89b-12d3-a456-426614174000"), new Date(1234567890L),
                new java.io.File("a/b"), Paths.get("/x/y"), URI.create("http://a.b/c?d#e"),
                new GregorianCalendar(2020, 1, 29), TimeZone.getTimeZone("America/New_York"),
                new SimpleTimeZone(3600, "X"), Currency.getInstance("EUR"),
                java.nio.charset.StandardCharsets.UTF_16, new SimpleDateFormat("yyyy-MM-dd"),
                new DecimalFormat("#,##0.00"), new MessageFormat("{0} of {1}"),
                Locale.GERMANY, Locale.ROOT, new Locale("de", "DE", "POSIX"),
                new Locale("xx_bad", "", ""), Locale.forLanguageTag("th-TH-u-nu-thai"),
                Locale.forLanguageTag("zh-Hant-TW"), BitSet.valueOf(new long[] {5, 9}),
                ByteBuffer.wrap(new byte[] {1, 2, 3}, 1, 2), CharBuffer.wrap("chars"),
                ByteBuffer.wrap(new byte[] {1, 2, 3, 4}, 1, 3).slice()));
        for (Object value : values) {
            Frame frame = frameOf(value);
            Object back = frame.argument(1);
            equal(back, value);
            equal(back.hashCode(), value.hashCode());
            equal(back.toString(), value.toString());
            equal(frame.holes(), List.of());
        }
        for (String told : List.of("http://example.org:8080/a?b#c", "http://joe@example.org:80/a?b#c",
                "ftp://joe:pw@[::1]/a", "file:/a", "http:///a", "mailto:a@b", "jar:file:/a.jar!/b")) {
            URL url = new URL(told);
            URL back = (URL) roundTrip(url);
            equal(back.toString(), url.toString());
            equal(back.getUserInfo(), url.getUserInfo());
            equal(back.getAuthority(), url.getAuthority());
            equal(back.getHost(), url.getHost());
            equal(back.getPort(), url.getPort());
        }
    }

    /** A key whose hash code changes with it. */
    static final class Changing {
        int number;
        final Object beside;

        Changing(int number, Object beside) {
            this.number = number;
            this.beside = beside;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Changing && ((Changing) other).number == number;
        }

        @Override
        public int hashCode() {
            return 31 * number + Objects.hashCode(beside);
        }
    }

    /** A changed key is not found where it is, nor is it lost beside one that is equal now. */
    static void keysThatHaveChanged() throws Exception {
        for (Map<Object, Object> map : List.of(new HashMap<>(), new LinkedHashMap<>(),
                new Hashtable<>(), new ConcurrentHashMap<>(), new Lru<Object, Object>())) {
            Changing changed = new Changing(1, "x");
            Changing same = new Changing(7, null);
            Changing twin = new Changing(2, "x");
            for (int i = 20; i < 40; i++) {
                map.put(new Changing(i, null), i);
            }
            map.put(changed, "changed");
            map.put(same, "same");
            map.put(twin, "twin");
            changed.number = 2;
            Object[] back = (Object[]) roundTrip(new Object[] {map, changed, same, twin});
            Map<?, ?> there = (Map<?, ?>) back[0];
            equal(there.getClass(), map.getClass());
            equal(there.size(), map.size());
            equal(there.get(back[1]), "twin");
            equal(there.get(back[2]), "same");
            equal(there.get(back[3]), "twin");
            equal(there.get(new Changing(1, "x")), null);
            equal(there.get(new Changing(33, null)), 33);
            check(there.keySet().stream().anyMatch(key -> key == back[1]), "it is in it");
            check(there.keySet().stream().allMatch(Changing.class::isInstance), "as the key");
        }
        Set<Object> set = new HashSet<>();
        List<Object> list = new ArrayList<>();
        set.add(list);
        list.add("later");
        Set<?> found = (Set<?>) roundTrip(set);
        equal(found.size(), 1);
        equal(found.contains(List.of("later")), false);
        equal(found.iterator().next(), list);
    }

    /** If the class of a key has been fixed, another hash code says nothing. */
    static void keysOfAMendedClass() throws Exception {
        Map<Object, Object> map = new HashMap<>();
        Changing key = new Changing(1, "x");
        map.put(key, "found");
        key.number = 2;
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> {
            if (row[1].equals(Changing.class.getName())) {
                row[7] = "00";
            }
            return row;
        };
        Object[] rows = {snapshot.argument(1, map), snapshot.argument(2, key)};
        Frame frame = snapshot.frame(rows).restore(0);
        equal(frame.<Map<?, ?>>argument(1).get(frame.argument(2)), "found");
    }

    /** Hash codes that differ in each JVM do not show that a key has changed. */
    static void keysOfThisJvm() throws Exception {
        Object plain = new Object();
        Object[] keys = {new Changing(1, Many.A3), new Changing(2, plain), plain, Many.B1,
            new Changing(3, String.class), List.of(Many.C1), new Changing(4, List.of(plain))};
        Map<Object, Object> map = new HashMap<>();
        for (Object key : keys) {
            map.put(key, key);
        }
        // This imitates another JVM, where constants and classes have other hash codes.
        for (Object node : (Object[]) Layout.need(HashMap.class, "table").get(map)) {
            while (node != null) {
                Class<?> type = Class.forName("java.util.HashMap$Node");
                Layout.Slot hash = Layout.need(type, "hash");
                hash.put(node, (int) hash.get(node) ^ 0x0123_4567);
                node = Layout.need(type, "next").get(node);
            }
        }
        Object[] back = (Object[]) roundTrip(new Object[] {map, keys});
        for (Object key : (Object[]) back[1]) {
            same(((Map<?, ?>) back[0]).get(key), key);
        }
    }

    /** A map of a class of the program. */
    static final class Lru<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1;
    }

    static void singletons() {
        for (Object value : new Object[] {
            Locale.GERMANY, ZoneOffset.UTC, java.nio.charset.StandardCharsets.UTF_8,
            java.nio.ByteOrder.BIG_ENDIAN, java.nio.charset.CodingErrorAction.REPLACE,
            java.util.logging.Level.FINE, Runtime.getRuntime(), Currency.getInstance("USD"),
            JdkTests.class.getClassLoader(), Object.class.getModule(),
            java.util.logging.Logger.getLogger("x.y"),
        }) {
            same(roundTrip(value), value);
        }
    }

    static void listsAndQueues() {
        List<String> words = List.of("one", "two", "three");
        List<List<?>> lists = new ArrayList<>(List.of(
                new ArrayList<>(words), new LinkedList<>(words), new Vector<>(words),
                Arrays.asList("a", null), words, List.of(), List.of(1), List.of(1, 2),
                Collections.emptyList(), Collections.singletonList("x"), Collections.nCopies(3, "y"),
                Collections.unmodifiableList(new ArrayList<>(words)),
                Collections.synchronizedList(new ArrayList<>(words)),
                new CopyOnWriteArrayList<>(words), new ArrayList<>(words).subList(1, 3),
                new ArrayList<>()));
        for (List<?> list : lists) {
            List<?> back = (List<?>) roundTrip(list);
            equal(back, list);
            same(back.getClass(), list.getClass());
        }
        for (Collection<String> queue : List.<Collection<String>>of(
                new ArrayDeque<>(words), new PriorityQueue<>(words),
                new ConcurrentLinkedQueue<>(words), new ConcurrentLinkedDeque<>(words),
                new LinkedBlockingQueue<>(words), new LinkedBlockingDeque<>(words),
                new PriorityBlockingQueue<>(words), new ArrayBlockingQueue<>(9, true, words))) {
            @SuppressWarnings("unchecked")
            Collection<String> back = (Collection<String>) roundTrip(queue);
            equal(new ArrayList<>(back), new ArrayList<>(queue));
            back.add("four");
            back.remove("one");
            equal(back.size(), 3);
        }
        @SuppressWarnings("unchecked")
        List<Integer> empty = (List<Integer>) roundTrip(new ArrayList<>());
        for (int i = 0; i < 100; i++) {
            empty.add(i);
        }
        equal(empty.size(), 100);
    }

    static void mapsKeepKindAndOrder() {
        for (Map<Object, Object> map : maps()) {
            fill(map);
            @SuppressWarnings("unchecked")
            Map<Object, Object> back = (Map<Object, Object>) roundTrip(map);
            equal(back, map);
            same(back.getClass(), map.getClass());
            // In trees of colliding keys the order is not preserved.
            map.keySet().removeIf(key -> !key.toString().startsWith("key"));
            back.keySet().retainAll(map.keySet());
            equal(new ArrayList<>(back.keySet()), new ArrayList<>(map.keySet()));
            back.put("new", "entry");
            equal(back.remove("new"), "entry");
            equal(back.remove("key 7"), 7);
            // They are kept alive, because one of the maps is weak.
            List<String> more = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                more.add("more " + i);
                back.put(more.get(i), i);
            }
            equal(back.size(), map.size() - 1 + more.size());
        }
        for (Map<Object, Object> map : maps()) {
            equal(roundTrip(map), map);
        }
    }

    private static List<Map<Object, Object>> maps() {
        return List.of(new HashMap<>(), new HashMap<>(500, 0.3f), new LinkedHashMap<>(),
                new LinkedHashMap<>(4, 1f, true), new Hashtable<>(), new ConcurrentHashMap<>(),
                new WeakHashMap<>(), new TreeMap<>(), new TreeMap<>(Collections.reverseOrder()),
                new ConcurrentSkipListMap<>(), new Properties(),
                Collections.synchronizedMap(new HashMap<>()));
    }

    private static void fill(Map<Object, Object> map) {
        for (int i = 0; i < 100; i++) {
            map.put("key " + i, i);
        }
        // These collide and make trees.
        for (int i = 0; i < 32; i++) {
            String bits = String.format("%5s", Integer.toBinaryString(i)).replace(' ', '0');
            map.put(bits.replace("0", "Aa").replace("1", "BB"), i);
        }
    }

    static void otherMaps() {
        Map<Object, Object> identity = new IdentityHashMap<>();
        String a = new String("a");
        String b = new String("a");
        identity.put(a, 1);
        identity.put(b, 2);
        Frame frame = frameOf(identity, a, b);
        Map<?, ?> back = frame.argument(1);
        equal(back.size(), 2);
        equal(back.get(frame.argument(2)), 1);
        equal(back.get(frame.argument(3)), 2);
        equal(back.get("a"), null);

        Map<Many, Object> byEnum = new EnumMap<>(Many.class);
        byEnum.put(Many.B2, "x");
        byEnum.put(Many.A1, null);
        equal(roundTrip(byEnum), byEnum);
        equal(roundTrip(new EnumMap<>(Many.class)), new EnumMap<>(Many.class));

        for (Map<?, ?> map : List.of(Map.of(), Map.of("a", 1), Map.of("a", 1, "b", 2, "c", 3),
                Map.of(Many.A1, Many.A2, Many.A3, Many.A4),
                Collections.unmodifiableMap(new TreeMap<>(Map.of("k", "v"))),
                Collections.singletonMap("a", "b"), Collections.emptyMap())) {
            equal(roundTrip(map), map);
            same(roundTrip(map).getClass(), map.getClass());
        }
        Map<?, ?> enums = (Map<?, ?>) roundTrip(Map.of(Many.A1, 1, Many.A2, 2, Many.A3, 3));
        equal(enums.get(Many.A2), 2);

        Properties defaults = new Properties();
        defaults.setProperty("d", "e");
        Properties properties = new Properties(defaults);
        properties.setProperty("a", "b");
        equal(((Properties) roundTrip(properties)).getProperty("d"), "e");
    }

    static void sets() {
        for (Set<Object> set : List.<Set<Object>>of(new HashSet<>(), new LinkedHashSet<>(),
                new TreeSet<>(), ConcurrentHashMap.newKeySet(), new ConcurrentSkipListSet<>(),
                new CopyOnWriteArraySet<>(), Collections.newSetFromMap(new HashMap<>()))) {
            for (int i = 0; i < 50; i++) {
                set.add("element " + i);
            }
            @SuppressWarnings("unchecked")
            Set<Object> back = (Set<Object>) roundTrip(set);
            equal(back, set);
            same(back.getClass(), set.getClass());
            equal(new ArrayList<>(back), new ArrayList<>(set));
            equal(back.remove("element 7"), true);
            equal(back.remove("element 7"), false);
            equal(back.add("element 8"), false);
            equal(back.add("new"), true);
            equal(back.size(), 50);
        }
        for (Set<?> set : List.of(Set.of(), Set.of(1), Set.of(1, 2), Set.of(1, 2, 3, "x"),
                EnumSet.noneOf(Many.class), EnumSet.of(Many.A1, Many.G9),
                EnumSet.of(Thread.State.NEW), EnumSet.allOf(Many.class))) {
            equal(roundTrip(set), set);
            same(roundTrip(set).getClass(), set.getClass());
            equal(((Set<?>) roundTrip(set)).size(), set.size());
        }
    }

    static void iteratorsGoOn() {
        for (Collection<Integer> collection : List.<Collection<Integer>>of(
                new ArrayList<>(List.of(1, 2, 3)), new LinkedList<>(List.of(1, 2, 3)),
                new HashSet<>(List.of(1, 2, 3)), new LinkedHashSet<>(List.of(1, 2, 3)),
                new TreeSet<>(List.of(1, 2, 3)), new ArrayDeque<>(List.of(1, 2, 3)))) {
            Iterator<Integer> iterator = collection.iterator();
            iterator.next();
            Iterator<?> back = (Iterator<?>) roundTrip(iterator);
            equal(back.next(), 2);
            equal(back.next(), 3);
            equal(back.hasNext(), false);
        }
    }

    static void text() {
        StringBuilder builder = new StringBuilder("abc\u20ac");
        builder.setLength(2);
        StringBuilder back = (StringBuilder) roundTrip(builder);
        equal(back.append("x").toString(), "abx");
        equal(roundTrip(new StringBuffer("plain")).toString(), "plain");
        Pattern pattern = Pattern.compile("(a+)(\\d*)", Pattern.CASE_INSENSITIVE);
        Pattern other = (Pattern) roundTrip(pattern);
        equal(other.pattern() + other.flags(), pattern.pattern() + pattern.flags());
        check(other.matcher("AA5").matches(), "no match");
        Matcher matcher = pattern.matcher("aa1 a2");
        matcher.find();
        Matcher third = (Matcher) roundTrip(matcher);
        equal(third.group(2), "1");
        check(third.find(), "no second match");
        equal(third.group(), "a2");
        equal(((StringTokenizer) roundTrip(new StringTokenizer("a b"))).nextToken(), "a");
        equal(((Scanner) roundTrip(new Scanner("12 x"))).nextInt(), 12);
    }

    static void formats() throws Exception {
        SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd HH:mm", Locale.US);
        Date date = format.parse("2020-02-29 12:30");
        SimpleDateFormat back = (SimpleDateFormat) roundTrip(format);
        equal(back.parse("2020-02-29 12:30"), date);
        equal(back.format(date), format.format(date));
        DateTimeFormatter formatter = DateTimeFormatter.ofPattern("yyyy-MM-dd", Locale.US);
        equal(LocalDate.parse("2020-02-29", (DateTimeFormatter) roundTrip(formatter)),
                LocalDate.of(2020, 2, 29));
        GregorianCalendar calendar = new GregorianCalendar(2020, 1, 29);
        GregorianCalendar copy = (GregorianCalendar) roundTrip(calendar);
        calendar.add(Calendar.YEAR, 1);
        copy.add(Calendar.YEAR, 1);
        equal(copy, calendar);
        Random random = new Random(5);
        random.nextInt();
        Random same = (Random) roundTrip(random);
        equal(same.nextInt(), random.nextInt());
    }

    static void readers() throws Exception {
        byte[] bytes = "line 1\nline 2\n".getBytes("UTF-8");
        java.io.BufferedReader reader = new java.io.BufferedReader(new java.io.InputStreamReader(
                new java.io.ByteArrayInputStream(bytes), "UTF-8"));
        reader.readLine();
        equal(((java.io.BufferedReader) roundTrip(reader)).readLine(), "line 2");
        java.io.PrintStream out = (java.io.PrintStream) roundTrip(System.out);
        out.print("");
        out.flush();
    }

    static void threadsAndLocks() throws Exception {
        ReentrantLock lock = new ReentrantLock(true);
        lock.lock();
        ReentrantLock free = (ReentrantLock) roundTrip(lock);
        check(!free.isLocked() && free.isFair(), free);
        check(free.tryLock(), "not free");
        free.unlock();
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        both.readLock().lock();
        both = (ReentrantReadWriteLock) roundTrip(both);
        check(both.writeLock().tryLock(), "not free");
        StampedLock stamped = new StampedLock();
        stamped.writeLock();
        check(((StampedLock) roundTrip(stamped)).tryWriteLock() != 0, "not free");
        equal(((Semaphore) roundTrip(new Semaphore(3))).availablePermits(), 3);
        equal(((CountDownLatch) roundTrip(new CountDownLatch(2))).getCount(), 2L);
        ThreadLocal<String> local = ThreadLocal.withInitial(() -> "x");
        local.get();
        Snapshot snapshot = new Snapshot();
        snapshot.holes = object -> object.getClass().isSynthetic();
        equal(((AtomicInteger) roundTrip(new AtomicInteger(7))).incrementAndGet(), 8);
        LongAdder adder = new LongAdder();
        adder.add(5);
        equal(((LongAdder) roundTrip(adder)).sum(), 5L);
        equal(((CompletableFuture<?>) roundTrip(CompletableFuture.completedFuture("v"))).get(), "v");
    }

    static class Worker extends Thread {
        final int[] work = {1, 2};

        Worker() {
            super("worker");
        }
    }

    static void threadsOfTheProgramsOwnClass() {
        Worker worker = new Worker();
        Snapshot snapshot = new Snapshot();
        snapshot.holes = object -> false;
        snapshot.frame(Packer.one(snapshot.argument(0, worker)));
        Worker back = snapshot.restore(0).receiver();
        equal(back.work, worker.work);
        check(!back.isAlive(), back);
        check(snapshot.restore(0).holes().contains(Worker.class.getName() + ": thread, not started"),
                snapshot.restore(0).holes());
    }

    static void resourcesAreHoles() throws Exception {
        for (Object resource : new Object[] {
            new java.net.Socket(), new java.util.zip.Inflater(),
            ByteBuffer.allocateDirect(4), java.nio.channels.Selector.open(),
            Thread.currentThread().getThreadGroup(),
            AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count"),
            java.lang.invoke.MethodHandles.lookup(),
        }) {
            Frame frame = frameOf(resource);
            same(frame.argument(1), null);
            check(frame.holes().get(0).startsWith(resource.getClass().getName() + ": "),
                    frame.holes());
        }
    }

    static void newPoolsStandForRecordedOnes() throws Exception {
        ExecutorService busy = Executors.newFixedThreadPool(2);
        busy.submit(() -> { }).get();
        ExecutorService ended = Executors.newScheduledThreadPool(3);
        ended.shutdown();
        Frame frame = frameOf(busy, ended, Executors.newCachedThreadPool(), new ForkJoinPool(5));
        ThreadPoolExecutor back = frame.argument(1);
        check(back != busy && back.getCorePoolSize() == 2 && back.getMaximumPoolSize() == 2, back);
        check(back.submit(() -> Thread.currentThread().isDaemon()).get(), back);
        ThreadPoolExecutor scheduled = frame.argument(2);
        check(scheduled instanceof java.util.concurrent.ScheduledThreadPoolExecutor, scheduled);
        check(scheduled.isShutdown() && scheduled.getCorePoolSize() == 3, scheduled);
        ThreadPoolExecutor cached = frame.argument(3);
        check(cached.getQueue() instanceof java.util.concurrent.SynchronousQueue, cached);
        equal(cached.getMaximumPoolSize(), Integer.MAX_VALUE);
        equal(((ForkJoinPool) frame.argument(4)).getParallelism(), 5);
        check(frame.holes().get(0).endsWith(Pools.STANDS_IN), frame.holes());
        busy.shutdown();
    }

    static class Counter {
        volatile int count;
    }

    static void references() {
        Object target = new ArrayList<>(List.of("kept"));
        equal(((WeakReference<?>) roundTrip(new WeakReference<>(target))).get(), target);
        SoftReference<?> soft = (SoftReference<?>) roundTrip(new SoftReference<>(target));
        equal(soft.get(), target);
        soft.clear();
        soft.enqueue();
    }

    static void members() throws Exception {
        java.lang.reflect.Field field = Counter.class.getDeclaredField("count");
        field.setAccessible(true);
        java.lang.reflect.Field back = (java.lang.reflect.Field) roundTrip(field);
        equal(back, field);
        back.setInt(new Counter(), 1);
        equal(roundTrip(String.class.getMethod("substring", int.class, int.class)),
                String.class.getMethod("substring", int.class, int.class));
        equal(roundTrip(String.class.getConstructor(char[].class)),
                String.class.getConstructor(char[].class));
    }

    static void throwables() {
        Exception cause = new IllegalStateException("cause");
        Exception thrown = new RuntimeException("message", cause);
        thrown.addSuppressed(new Error("suppressed"));
        Exception back = (Exception) roundTrip(thrown);
        equal(back.getMessage(), "message");
        equal(back.getCause().getMessage(), "cause");
        equal(back.getSuppressed()[0].getMessage(), "suppressed");
        equal(back.getStackTrace().length, 0);
        back.getCause().addSuppressed(new Error());
        back.addSuppressed(new Error());
        equal(back.getSuppressed().length, 2);
        back.printStackTrace(new java.io.PrintStream(new java.io.ByteArrayOutputStream()));
        cause.getStackTrace();
        equal(((Exception) roundTrip(cause)).getStackTrace(), cause.getStackTrace());

        Exception lazy = new Exception("lazy");
        Snapshot snapshot = new Snapshot();
        snapshot.frame(Packer.one(snapshot.argument(1, lazy)))
                .exception(lazy, (Object) Packer.row("a.B", "m", "B.java", 7));
        Exception traced = snapshot.restore(0).argument(1);
        equal(traced.getStackTrace()[0].toString(), "a.B.m(B.java:7)");
    }
}
