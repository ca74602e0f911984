package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Snapshot.roundTrip;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;

import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.SimpleDateFormat;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** Tests that compare graphs and try recipes. */
final class SameTests {
    private SameTests() {}

    /** A class whose {@code equals} must not count. */
    static class Node {
        Node next;
        Object item;
        int number;

        Node(Object item) {
            this.item = item;
        }

        void setNumber(int number) {
            this.number = number;
        }

        void setNext(Node next) {
            this.next = next;
        }

        @Override
        public boolean equals(Object other) {
            throw new AssertionError("code of the program runs");
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private static void alike(Object one, Object other) {
        Same same = new Same();
        check(same.compare(one, other), same.difference());
    }

    private static void differ(Object one, Object other, String what) {
        Same same = new Same();
        check(!same.compare(one, other), "no difference: " + what);
        check(same.difference().contains(what), same.difference());
    }

    static void lambdasAreWhatTheyCallAndCapture() {
        Function<String, Integer> one = String::length;
        Function<String, Integer> two = String::length;
        Function<String, Integer> other = String::hashCode;
        check(one.getClass() != two.getClass(), "one place for both");
        alike(one, two);
        differ(one, other, "instead of a");
        ToIntFunction<String> another = String::length;
        differ(one, another, "instead of a");
        Node node = new Node("a");
        Runnable captured = node::hashCode;
        Runnable alike = new Node("a")::hashCode;
        Runnable unlike = new Node("b")::hashCode;
        alike(captured, alike);
        differ(captured, unlike, "another java.lang.String");
        alike(new HashMap<>(Map.of("k", captured)), new HashMap<>(Map.of("k", alike)));
        // Numbers are boxed and unboxed on the way.
        Function<Integer, Integer> squared = Math::abs;
        Function<Integer, Integer> again = Math::abs;
        alike(squared, again);
        Function<Integer, Integer> boxing = Integer::valueOf;
        differ(squared, boxing, "instead of a");
        Comparator<String> order = Comparator.comparing(String::length).reversed();
        alike(order, Comparator.comparing(String::length).reversed());
        differ(order, Comparator.comparing(String::hashCode).reversed(), "instead of a");
    }

    static void formatsAndLocksAreWhatTheyDo() throws Exception {
        SimpleDateFormat day = new SimpleDateFormat("yyyy-MM-dd", Locale.UK);
        day.parse("1999-12-31");
        alike(day, new SimpleDateFormat("yyyy-MM-dd", Locale.UK));
        differ(day, new SimpleDateFormat("yyyy", Locale.UK), "another java.text.SimpleDateFormat");
        SimpleDateFormat old = new SimpleDateFormat("dd.MM.yy", Locale.UK);
        old.set2DigitYearStart(new java.util.Date(-2208988800000L));
        differ(old, new SimpleDateFormat("dd.MM.yy", Locale.UK), "another java.text.SimpleDateFormat");
        alike(DateTimeFormatter.ofPattern("uuuu", Locale.UK), DateTimeFormatter.ofPattern("uuuu", Locale.UK));
        differ(DateTimeFormatter.ofPattern("uuuu", Locale.UK), DateTimeFormatter.ofPattern("uuuu", Locale.US),
                "another format");
        alike(new ReentrantReadWriteLock(), new ReentrantReadWriteLock());
        differ(new ReentrantReadWriteLock(), new ReentrantReadWriteLock(true), "held in another way");
        ReentrantReadWriteLock held = new ReentrantReadWriteLock();
        held.readLock().lock();
        differ(new ReentrantReadWriteLock(), held, "held in another way");
        // They are mutable, so one object in two places differs from two.
        differ(new Object[] {day, day}, new Object[] {day.clone(), day.clone()}, "shared in another way");
    }

    static void fieldsAndArrays() {
        alike(new Node("a"), new Node(new String("a")));
        differ(new Node("a"), new Node("b"), "field item: another java.lang.String");
        differ(new Node(1), new Node(1L), "field item: a java.lang.Integer instead of");
        differ(new Node(null), new Node("a"), "a null instead of a java.lang.String");
        Node changed = new Node("a");
        changed.number = 3;
        differ(changed, new Node("a"), "field number: 3 instead of 0");
        alike(new int[][] {{1}, {2}}, new int[][] {{1}, {2}});
        differ(new int[] {1}, new int[] {2}, "another element 0");
        differ(new int[1], new int[2], "1 elements instead of 2");
        differ(new Object[] {"a"}, new String[] {"a"}, "a [Ljava.lang.Object;");
        alike(new double[] {Double.NaN, -0.0}, new double[] {Double.NaN, -0.0});
        differ(new double[] {0.0}, new double[] {-0.0}, "another element");
        double told = Double.longBitsToDouble(0x7ff8000000000123L);
        alike(new Object[] {told}, new Object[] {told});
        differ(new double[] {told}, new double[] {Double.NaN}, "another element");
        differ(new Object[] {told}, new Object[] {Double.NaN}, "element 0: another");
        double divided = Double.longBitsToDouble(0xfff8000000000000L);
        alike(new Object[] {divided}, new Object[] {Double.NaN});
        alike(new float[] {Float.intBitsToFloat(0xffc00000)}, new float[] {Float.NaN});
    }

    static void cyclesAndSharing() {
        Node one = new Node("a");
        one.next = one;
        Node other = new Node("a");
        other.next = other;
        alike(one, other);
        Node longer = new Node("a");
        longer.next = new Node("a");
        longer.next.next = longer;
        differ(one, longer, "shared in another way");
        Object shared = new ArrayList<>();
        differ(new Object[] {shared, shared}, new Object[] {new ArrayList<>(), new ArrayList<>()},
                "shared in another way");
        differ(new Object[] {new ArrayList<>(), new ArrayList<>()}, new Object[] {shared, shared},
                "shared in another way");
        // Roots that are compared one after the other may share objects as well.
        Same same = new Same();
        check(same.compare(shared, shared), "itself");
        Node again = new Node(null);
        Node loaded = new Node(null);
        check(same.compare(again, loaded) && same.compare(again, loaded), "twice");
        check(!same.compare(new Node(null), loaded), "two for one");
        // A long list shows that there is no recursion.
        Node last = null;
        Node lastOther = null;
        for (int i = 0; i < 200_000; i++) {
            Node node = new Node(null);
            node.next = last;
            last = node;
            node = new Node(null);
            node.next = lastOther;
            lastOther = node;
        }
        alike(last, lastOther);
    }

    static void collectionsByContent() {
        List<Integer> large = new ArrayList<>(1000);
        large.add(1);
        alike(large, new ArrayList<>(List.of(1)));
        differ(large, new LinkedList<>(List.of(1)), "a java.util.ArrayList");
        differ(large, new ArrayList<>(List.of(2)), "element 0: another");
        differ(large, new ArrayList<>(), "1 elements instead of 0");
        Map<String, Integer> table = new HashMap<>(512);
        table.put("a", 1);
        table.put("b", 2);
        alike(table, new HashMap<>(Map.of("b", 2, "a", 1)));
        differ(table, new HashMap<>(Map.of("b", 2, "a", 3)), "value: another");
        differ(table, new HashMap<>(Map.of("b", 2, "c", 1)), "other keys");
        Map<String, Integer> ordered = new LinkedHashMap<>();
        ordered.put("b", 2);
        ordered.put("a", 1);
        differ(new LinkedHashMap<>(table), ordered, "key 0");
        differ(new TreeMap<>(Comparator.naturalOrder()), new TreeMap<>(), "comparator");
        differ(new TreeSet<>(Comparator.naturalOrder()), new TreeSet<>(), "comparator");
        differ(new LinkedBlockingQueue<>(3), new LinkedBlockingQueue<>(), "field capacity: 3");
        differ(new ArrayBlockingQueue<>(3), new ArrayBlockingQueue<>(2), "room for 3 more instead of 2");
        alike(Set.of("a", "b", "c"), Set.of("c", "b", "a"));
        alike(new IdentityHashMap<>(Map.of(new Node("k"), 1)),
                new IdentityHashMap<>(Map.of(new Node("k"), 1)));
        alike(new HashSet<>(Set.of(new Node("x"))), new HashSet<>(Set.of(new Node("x"))));
        differ(new HashSet<>(Set.of(new Node("x"))), new HashSet<>(Set.of(new Node("y"))), "other");
        alike(Collections.unmodifiableList(large), Collections.unmodifiableList(large));
        differ(Collections.unmodifiableMap(table), Collections.unmodifiableMap(ordered), "a java");
        alike(Arrays.asList(1, null), Arrays.asList(1, null));
    }

    static void keysThatNobodyFinds() {
        List<Integer> key = new ArrayList<>(List.of(1));
        List<Integer> grown = new ArrayList<>(List.of(1, 2));
        List<Set<Object>> sets = List.of(new HashSet<>(), new LinkedHashSet<>());
        for (Set<Object> stale : sets) {
            key.remove(Integer.valueOf(2));
            stale.add(key);
            key.add(2);
            Set<Object> sound = stale instanceof LinkedHashSet
                    ? new LinkedHashSet<>(List.of(grown)) : new HashSet<>(List.of(grown));
            differ(sound, stale, "keys that have changed since");
            alike(stale, roundTrip(stale));
        }
        for (Map<Object, Object> stale : List.<Map<Object, Object>>of(
                new HashMap<>(), new java.util.Hashtable<>(), new java.util.concurrent.ConcurrentHashMap<>())) {
            key.remove(Integer.valueOf(2));
            stale.put(key, 1);
            alike(stale, roundTrip(stale));
            key.add(2);
            check(!stale.containsKey(key), stale.getClass());
            check(!((Map<?, ?>) roundTrip(stale)).containsKey(grown), stale.getClass());
            check(StaleKeys.count(stale) == 1 && StaleKeys.count(roundTrip(stale)) == 1, stale.getClass());
        }
        alike(new java.util.WeakHashMap<>(Map.of("a", 1)), new java.util.WeakHashMap<>(Map.of("a", 1)));
    }

    static void exceptionsButForTheirPlace() {
        Exception one = new IllegalStateException("a", new Error("b"));
        Exception other = new IllegalStateException("a", new Error("b"));
        alike(one, other);
        one.addSuppressed(new Error("c"));
        differ(one, other, "field suppressedExceptions");
        other.addSuppressed(new Error("c"));
        alike(one, other);
        alike(roundTrip(one), one);
        differ(new Error("a"), new Error("b"), "field detailMessage");
        differ(new Error("a", null), new Error("a"), "field cause");
    }

    static void valuesOfTheJdk() throws Exception {
        alike(new BigDecimal("1.50"), new BigDecimal("1.50"));
        differ(new Node(new BigDecimal("1.5")), new Node(new BigDecimal("1.50")), "another");
        alike(LocalDate.of(2024, 2, 29), LocalDate.parse("2024-02-29"));
        alike(new StringBuilder(100).append("a"), new StringBuilder("a"));
        differ(new StringBuilder("b"), new StringBuilder("a"), "another text");
        alike(URI.create("http://a/b").toURL(), URI.create("http://a/b").toURL());
        differ(URI.create("http://a/b").toURL(), URI.create("http://a/c").toURL(), "another URL");
    }

    static void whatIsRestoredIsTheSame() {
        Map<String, Object> map = new HashMap<>();
        map.put("list", new ArrayList<>(List.of(1, 2)));
        map.put("node", new Node(LocalDate.of(2024, 1, 1)));
        alike(roundTrip(map), map);
        equal(Same.differingFields(new Node("a"), new Node("b")),
                Set.of(Node.class.getName() + ".item"));
    }

    static void recipes() throws Throwable {
        Node node = new Node("a");
        node.number = 7;
        node.next = node;
        Snapshot snapshot = new Snapshot();
        snapshot.frame(row((Object) snapshot.argument(1, node)));
        Path file = Files.createTempFile("recipes", ".hsc");
        try {
            Files.write(file, snapshot.file());
            String owner = Node.class.getName();
            String of = "L" + owner.replace('.', '/') + ";";
            long object = snapshot.number(node);
            Object text = row("o", snapshot.number("a"));
            Object[] create = row(0L, owner, "<init>", "(Ljava/lang/Object;)V", -1L, null, row(text));
            Object[] number = row(2L, owner, "setNumber", "(I)V", 0L, owner + ".number",
                    row((Object) row("I", 7L)));
            Object[] wrong = row(2L, owner, "setNumber", "(I)V", 0L, owner + ".number",
                    row((Object) row("I", 8L)));
            Object[] next = row(4L, owner, "next", of, 0L, owner + ".next",
                    row((Object) row("o", object)));
            Object[] item = row(4L, owner, "item", "Ljava/lang/Object;", 0L, owner + ".item",
                    row((Object) row("n", null)));
            equal(tried(file, object, create, item, number, next), "yes\t0,2,3\t\t\texact");
            check(tried(file, object, create, wrong, next).startsWith("no\t-1\tfield number: 8"),
                    "another number");
            check(tried(file, object, (Object) create).startsWith("no\t-1\t"), "fields are missing");
            Object[] open = row(owner + ".next", owner + ".number");
            equal(Trial.recipe(row(file.toString(), 0L, object, 0L, row((Object) create), open)),
                    "yes\t0\t" + owner + ".next," + owner + ".number\t\t");
        } finally {
            Files.delete(file);
        }
    }

    private static String tried(Path file, long object, Object... steps) throws Throwable {
        return Trial.recipe(row(file.toString(), 0L, object, 0L, steps, row()));
    }

    /** Static state that {@code main} of a program may have filled. */
    static class State {
        static final Node CONSTANT = new Node(null);
        static Map<String, Object> map = new HashMap<>();
        static Object[] array = new Object[2];
        static Object value;
        static Node node = new Node("default");
        static int number = 1;
    }

    /**
     * Whether {@code name} is lacking if it is to have a value, while the constant's item is to be
     * another one.
     */
    private static boolean lacks(String name, Object value, Object item) throws Exception {
        Statics.Setting field = Statics.Setting.of(State.class.getDeclaredField(name));
        field.field = "State." + name;
        field.value = value;
        Statics.Setting ofConstant =
                Statics.Setting.of(State.CONSTANT, Layout.named(Node.class, "item"));
        ofConstant.value = item;
        Set<String> lacking = new Lacking(List.of(field, ofConstant)).fields();
        equal(lacking.isEmpty() ? Set.of("State." + name) : lacking, Set.of("State." + name));
        return !lacking.isEmpty();
    }

    static void whatIsMissingInStaticStateIsKnown() throws Exception {
        Node full = new Node(new ArrayList<>(List.of("x")));
        Node cycle = new Node("other");
        cycle.setNext(cycle);
        check(lacks("map", Map.of("a", 1), null), "an entry");
        check(!lacks("map", new TreeMap<>(), null), "the kind of map");
        check(lacks("array", new Object[] {null, "x"}, null), "an element");
        check(lacks("value", "x", null), "a null");
        check(!lacks("value", null, null), "a null that was");
        check(lacks("node", cycle, null), "a field");
        check(!lacks("node", new Node("other"), null), "a text behind it");
        check(lacks("number", 2, null), "a number");
        check(!lacks("number", 1, null), "the same number");
        check(!lacks("CONSTANT", State.CONSTANT, null), "the constant");
        check(lacks("CONSTANT", State.CONSTANT, full), "what the constant had");
        Runnable lambda = () -> { };
        State.value = "x";
        check(!lacks("value", lambda, null), "a lambda");
        State.value = null;
        State.array = new Object[] {"x", null, new Node("a")};
        Node elsewhere = new Node("a");
        elsewhere.next = full;
        check(!lacks("array", new Object[] {null, elsewhere, "x", null}, null), "another order");
        check(lacks("array", new Object[] {"y", null, elsewhere}, null), "an element's field");
        State.array = new Object[2];
    }

    enum Filled {
        ONE {
            @Override
            Object get() {
                return parts;
            }
        };

        final Map<String, Object> parts = new HashMap<>();
        int count;

        abstract Object get();
    }

    static void constantsLackTheirState() throws Exception {
        Statics.Setting parts =
                Statics.Setting.of(Filled.ONE, Layout.named(Filled.class, "parts"));
        parts.value = Map.of("a", 1);
        Statics.Setting count =
                Statics.Setting.of(Filled.ONE, Layout.named(Filled.class, "count"));
        count.value = 7;
        String name = Filled.class.getName() + ".ONE";
        equal(new Lacking(List.of(count, parts)).fields(), Set.of(name));
        Lacking noted = new Lacking(List.of(count, parts));
        noted.note();
        equal(noted.fields(), Set.of(name));
        Filled.ONE.parts.put("b", 1);
        equal(new Lacking(List.of(count, parts)).fields(), Set.of());
        Filled.ONE.parts.clear();
    }

    /** Whether {@code value} is lacking if it is to have a value, once a call has run. */
    private static boolean lacksAfter(Object here, Object recorded, Runnable call)
            throws Exception {
        State.value = here;
        Statics.Setting field = Statics.Setting.of(State.class.getDeclaredField("value"));
        field.field = "State.value";
        field.value = recorded;
        Lacking lacking = new Lacking(List.of(field));
        lacking.note();
        call.run();
        check(!new Lacking(List.of(field)).fields().isEmpty(), "it lacks something");
        boolean found = !lacking.fields().isEmpty();
        State.value = null;
        return found;
    }

    /** An object of another library than the tests. */
    private static Statics.Setting foreign(Object value) {
        Statics.Setting setting =
                Statics.Setting.of(new Node(null), Layout.named(Node.class, "item"));
        setting.value = value;
        return setting;
    }

    static void whatACallFillsByItselfIsNotMissing() throws Exception {
        Node recorded = new Node(List.of(1, 2));
        recorded.next = new Node(List.of(3, 4));
        List<Object> cache = new ArrayList<>();
        Node here = new Node(cache);
        here.next = new Node(List.of(3, 4));
        check(lacksAfter(here, recorded, () -> { }), "nothing fills it");
        check(!lacksAfter(here, recorded, () -> cache.add(1)), "less than was recorded");
        here.next.item = new ArrayList<>();
        check(lacksAfter(here, recorded, () -> cache.add(2)), "the other one is not filled");
        here.next.item = null;
        check(!lacksAfter(here, recorded, () -> here.next.item = List.of()), "a field");
        check(!lacksAfter("x", "z", () -> State.value = "y"), "the static field");

        Object[] full = {new ArrayList<>(List.of(1, 2, 3)), new ArrayList<>(List.of(4))};
        Object ofLibrary = foreign(full);
        List<Object> one = new ArrayList<>();
        List<Object> other = new ArrayList<>();
        Object lacking = foreign(new Object[] {one, other});
        check(lacksAfter(lacking, ofLibrary, () -> { }), "a library's that nothing fills");
        check(!lacksAfter(lacking, ofLibrary, () -> one.add(1)), "what else a library keeps");
        check(lacksAfter(new Object[] {one, other}, full, () -> one.add(1)), "the program's own");
    }
}
