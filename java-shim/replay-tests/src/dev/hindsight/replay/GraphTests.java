package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Snapshot.frameOf;
import static dev.hindsight.replay.Snapshot.roundTrip;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;
import static dev.hindsight.replay.Tests.same;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Objects of the program: shapes, identity, classes of all kinds, patches and holes. */
final class GraphTests {
    private GraphTests() {}

    static class Node {
        Node next;
        Object item;
        private final int number;

        Node(int number) {
            this.number = number;
        }
    }

    static class Deeper extends Node {
        // Hides the field of the superclass.
        String item = "mine";
        final double real = 1.25;
        final float small = -0f;
        final char unit = '\uffff';
        final short half = -2;
        final byte tiny = -3;
        final boolean yes = true;
        final long wide = Long.MIN_VALUE;

        Deeper() {
            super(-7);
        }
    }

    enum Color { RED, GREEN { @Override int code() { return 2; } }, BLUE; int code() { return 1; } }

    static void arrays() {
        Object[] all = {
            new boolean[] {true, false}, new byte[] {-1, 2}, new char[] {'a', '\ud800'},
            new short[] {-1}, new int[] {Integer.MIN_VALUE, 7}, new long[] {Long.MAX_VALUE},
            new float[] {1.5f, Float.NaN}, new double[] {-0.0}, new int[0], new String[] {"x", null},
            new int[][] {{1}, null, {2, 3}}, new Object[] {1, "a", 'c'}, new Color[] {Color.GREEN},
        };
        Object[] back = (Object[]) roundTrip(all);
        equal(back, all);
        for (int i = 0; i < all.length; i++) {
            same(back[i].getClass(), all[i].getClass());
            check(back[i] != all[i], "the same array");
        }
    }

    static void fieldsOfAllTypes() {
        Deeper back = (Deeper) roundTrip(new Deeper());
        equal(back.item, "mine");
        equal(((Node) back).item, null);
        equal(((Node) back).number, -7);
        for (Layout.Slot slot : Layout.declared(Deeper.class)) {
            equal(slot.get(back), slot.get(new Deeper()));
        }
    }

    static void stringsWithLoneSurrogates() {
        for (String text : List.of("", "plain", "äß€😀", "\ud800", "a\udfff\u0000b")) {
            equal(roundTrip(text), text);
        }
    }

    static void boxesAreTheCachedOnes() {
        for (Object box : new Object[] {5, 7L, 'a', (byte) 1, (short) 2, true}) {
            same(roundTrip(box), box);
        }
        equal(roundTrip(1_000_000), 1_000_000);
        equal(roundTrip(1.5f), 1.5f);
        equal(roundTrip(Double.NaN), Double.NaN);
    }

    static void sharedAndCyclic() {
        Node a = new Node(1);
        Node b = new Node(2);
        a.next = b;
        b.next = a;
        a.item = new Object[] {a, b, b};
        Frame frame = frameOf(a, b);
        Node back = frame.argument(1);
        same(back.next, frame.argument(2));
        same(back.next.next, back);
        same(((Object[]) back.item)[2], back.next);
        check(frame.holes().isEmpty(), frame.holes());
    }

    static void longList() {
        Node head = null;
        for (int i = 0; i < 100_000; i++) {
            Node node = new Node(i);
            node.next = head;
            head = node;
        }
        int length = 0;
        for (Node node = (Node) roundTrip(head); node != null; node = node.next) {
            equal(node.number, 99_999 - length++);
        }
        equal(length, 100_000);
    }

    static void deepNestingOfMaps() {
        Map<Object, Object> map = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            Map<Object, Object> outer = new HashMap<>();
            outer.put("inner", map);
            map = outer;
        }
        Map<?, ?> back = (Map<?, ?>) roundTrip(map);
        int depth = 0;
        while (back.get("inner") != null) {
            back = (Map<?, ?>) back.get("inner");
            depth++;
        }
        equal(depth, 20_000);
    }

    static void eachFrameHasItsOwnGraph() {
        Snapshot snapshot = new Snapshot();
        Object[] argument = snapshot.argument(0, new Node(3));
        snapshot.frame(one(argument)).frame(one(argument));
        CrashFile file = CrashFile.read(snapshot.file(), "f");
        check(Frame.restore(file, 0, null).receiver() != Frame.restore(file, 0, null).receiver(),
                "one graph");
        check(Frame.restore(file, 0, null).receiver() != Frame.restore(file, 1, null).receiver(),
                "one graph");
    }

    static void patches() {
        Node node = new Node(3);
        node.item = "at the failure";
        Map<String, Integer> map = new HashMap<>(Map.of("a", 1));
        Snapshot snapshot = new Snapshot();
        Object[] argument = snapshot.argument(0, node);
        Object[] second = snapshot.argument(1, map);
        snapshot.frame(row(argument, second),
                snapshot.patch(node, Node.class, "item", "Ljava/lang/Object;",
                        snapshot.number("at entry")),
                snapshot.patch(node, Node.class, "number", "I", 9L));
        snapshot.frame(one(argument), (Object) snapshot.patch(node, Node.class, "item",
                "Ljava/lang/Object;", null));
        snapshot.frame(one(argument),
                (Object) snapshot.patch(node, Node.class, "none", "I", 1L));
        byte[] bytes = snapshot.file();
        CrashFile file = CrashFile.read(bytes, "f");
        Node first = Frame.restore(file, 0, null).receiver();
        equal(first.item, "at entry");
        equal(first.number, 9);
        Node plain = Frame.restore(file, 1, null).receiver();
        equal(plain.item, null);
        equal(plain.number, 3);
        Frame odd = Frame.restore(file, 2, null);
        equal(((Node) odd.receiver()).item, "at the failure");
        check(odd.holes().get(0).contains("none"), odd.holes());
    }

    static void patchesOfElements() throws Hole {
        Object[] all = {
            new Object[] {"a", "b"}, new int[] {1, 2}, new boolean[] {true, false},
            new char[] {'x'}, new byte[] {1, 2}, new long[] {1}, new float[] {1}, new double[] {1},
            new short[] {1}, new java.util.ArrayList<>(List.of("p", "q")),
        };
        Object[] elements = elementsOf((List<?>) all[9]);
        Snapshot snapshot = new Snapshot();
        Object[] argument = snapshot.argument(1, all);
        Object[][] patches = {
            snapshot.patch(all[0], 1, "L", snapshot.number("at entry")),
            snapshot.patch(all[1], 0, "I", -7L),
            snapshot.patch(all[2], 1, "Z", true),
            snapshot.patch(all[3], 0, "C", (long) '\uffff'),
            snapshot.patch(all[4], 1, "B", -1L),
            snapshot.patch(all[5], 0, "J", Long.MIN_VALUE),
            snapshot.patch(all[6], 0, "F", 0.5f),
            snapshot.patch(all[7], 0, "D", 0.25),
            snapshot.patch(all[8], 0, "S", -2L),
            snapshot.patch(elements, 0, "L", snapshot.number("first")),
            snapshot.patch(all[1], 2, "I", 1L),
        };
        snapshot.frame(one(argument), (Object[]) patches);
        snapshot.frame(one(argument));
        CrashFile file = CrashFile.read(snapshot.file(), "f");
        Frame frame = Frame.restore(file, 0, null);
        Object[] back = frame.argument(1);
        equal(java.util.Arrays.deepToString(java.util.Arrays.copyOf(back, 3)),
                "[[a, at entry], [-7, 2], [true, true]]");
        equal((int) ((char[]) back[3])[0], 0xffff);
        equal(java.util.Arrays.toString((byte[]) back[4]), "[1, -1]");
        equal(((long[]) back[5])[0], Long.MIN_VALUE);
        equal(((float[]) back[6])[0], 0.5f);
        equal(((double[]) back[7])[0], 0.25);
        equal(((short[]) back[8])[0], (short) -2);
        equal(back[9], List.of("first", "q"));
        check(frame.holes().get(0).contains("element 2"), frame.holes());
        Object[] plain = Frame.restore(file, 1, null).argument(1);
        equal(java.util.Arrays.toString((int[]) plain[1]), "[1, 2]");
    }

    /** The array in an {@code ArrayList}. */
    private static Object[] elementsOf(List<?> list) throws Hole {
        return (Object[]) Layout.need(java.util.ArrayList.class, "elementData").get(list);
    }

    static void holesAreToldAndNull() {
        Node node = new Node(1);
        node.item = new Thread("x");
        node.next = new Node(2);
        node.next.item = node.item;
        Frame frame = frameOf(node);
        Node back = frame.argument(1);
        same(back.item, null);
        String item = Node.class.getName() + ".item";
        equal(frame.holes(), List.of("java.lang.Thread (" + item + "): thread"));
        equal(frameOf(new Thread("y")).argument(1), null);
        equal(frameOf(new Thread("y")).holes(), List.of("java.lang.Thread: thread"));
    }

    static void textsStandForRedactedOnes() {
        equal(Redacted.placeholder("redacted, length 1 to 8", String.class), "xxxxxxxx");
        equal(Redacted.placeholder("redacted, empty", String.class), "");
        equal(((char[]) Redacted.placeholder("redacted, length 9 to 16", char[].class)).length, 9);
        equal(Redacted.placeholder("redacted, length 9 to 16", byte[].class), "xxxxxxxxx".getBytes());
        equal(((byte[]) Redacted.placeholder("redacted, length above 4096", byte[].class)).length, 4097);
        equal(Redacted.placeholder("redacted", String.class), null);
        equal(Redacted.placeholder("redacted, length of a", String.class), null);
        equal(Redacted.placeholder("redacted, empty", Integer.class), null);
        equal(Redacted.placeholder("thread", String.class), null);
    }

    static void onlyWhatTheFrameReaches() {
        Snapshot snapshot = new Snapshot();
        snapshot.frame(one(snapshot.argument(1, new Node(1))));
        snapshot.frame(one(snapshot.argument(1, new Thread("x"))));
        equal(snapshot.restore(0).holes(), List.of());
        snapshot.frame(row());
        fails(ReplayException.class, () -> snapshot.restore(2).argument(1), "without an argument 1");
        fails(ReplayException.class, () -> snapshot.restore(2).receiver(), "without a receiver");
    }

    static void primitiveArguments() {
        Snapshot snapshot = new Snapshot();
        snapshot.frame(row(row(1, "a", "I", -5L), row(2, "b", "C", 97L), row(3, "c", "Z", true),
                row(4, "d", "F", 1.5f), row(5, "e", "D", 2.5), row(6, "f", "J", 1L << 40),
                row(7, "g", "B", -1L), row(8, "h", "S", null)));
        Frame frame = snapshot.restore(0);
        equal(frame.argument(1), -5);
        equal(frame.argument(2), 'a');
        equal(frame.argument(3), true);
        equal(frame.argument(4), 1.5f);
        equal(frame.argument(5), 2.5);
        equal(frame.argument(6), 1L << 40);
        equal(frame.argument(7), (byte) -1);
        equal(frame.argument(8), (short) 0);
        equal(frame.holes(), List.of("short: argument 8 was not stored"));
    }

    static void framesThatWereNotCaptured() {
        byte[] file = new Packer().record(2, row(row(), one(row("a.B", "m", "", null, null, 0, 0,
                "native method", null, row(), row(), 0)))).end();
        fails(ReplayException.class, () -> Frame.restore(CrashFile.read(file, "f"), 0, null),
                "a.B.m", "was not captured", "native method");
    }

    static void enumsAndClasses() {
        for (Object object : new Object[] {
            Color.RED, Color.GREEN, String.class, int.class, int[].class, Node[].class, void.class,
        }) {
            same(roundTrip(object), object);
        }
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> replace(row, 1, "dev.hindsight.replay.GraphTests$Gone");
        snapshot.frame(one(snapshot.argument(1, Color.BLUE)));
        fails(ReplayException.class, () -> snapshot.restore(0).argument(1),
                "GraphTests$Gone", "the class is missing", "class path differs");
        Snapshot generated = new Snapshot();
        generated.classes = row -> replace(replace(row, 1, "Script1"), 6, "groovy.Loader");
        generated.frame(one(generated.argument(1, Color.BLUE)));
        fails(ReplayException.class, () -> generated.restore(0).argument(1),
                "Script1", "the class is missing", "its loader, groovy.Loader, has made it");
    }

    enum Counter {
        ONE, TWO { }, THREE { };

        int count;
        final List<Object> seen = new java.util.ArrayList<>();
    }

    static void constantsHaveStateUntilItIsPutBack() {
        Node shared = new Node(7);
        Counter.TWO.count = 3;
        Counter.TWO.seen.add(Counter.ONE);
        Counter.TWO.seen.add(shared);
        Snapshot snapshot = new Snapshot();
        Object[] arguments = row(snapshot.argument(0, Counter.TWO), snapshot.argument(1, shared));
        snapshot.frame(arguments,
                (Object) snapshot.patch(Counter.TWO, Counter.class, "count", "I", 2L));
        snapshot.file();
        Counter.TWO.count = 9;
        List<Object> now = List.copyOf(Counter.TWO.seen);

        same(snapshot.restore(0).receiver(), Counter.TWO);
        equal(Counter.TWO.count, 9);
        Frame frame = snapshot.restore(0, true);
        equal(Counter.TWO.count, 9);
        try (Statics statics = frame.setStatics()) {
            equal(Counter.TWO.count, 2);
            equal(Counter.TWO.seen.size(), 2);
            same(Counter.TWO.seen.get(0), Counter.ONE);
            same(Counter.TWO.seen.get(1), frame.argument(1));
            check(Counter.TWO.seen.get(1) != shared, "restored anew");
        }
        equal(Counter.TWO.count, 9);
        equal(Counter.TWO.seen, now);
        check(frame.holes().isEmpty(), frame.holes());
        Snapshot set = new Snapshot();
        Counter.THREE.count = 4;
        set.frame(one(set.argument(1, java.util.EnumSet.of(Counter.THREE)))).file();
        Counter.THREE.count = 5;
        try (Statics statics = set.restore(0, true).setStatics()) {
            equal(Counter.THREE.count, 4);
        }
        equal(Counter.THREE.count, 5);

        // A version in which the bodies of constants stand in another order.
        snapshot.classes = row -> row[1].equals("dev.hindsight.replay.GraphTests$Counter$1")
                ? replace(row, 1, "dev.hindsight.replay.GraphTests$Counter$2") : row;
        Frame other = snapshot.restore(0, true);
        try (Statics statics = other.setStatics()) {
            same(other.receiver(), Counter.TWO);
            equal(Counter.TWO.count, 9);
        }
        check(other.holes().get(0).contains("is not the class of its constant TWO"), other.holes());
    }

    static final class Started {
        static boolean once;
        static final Map<String, Node> ALL = new HashMap<>();
        static int[] numbers = {1, 2};
    }

    static void staticStateIsKept() {
        Node first = new Node(1);
        Started.ALL.put("a", first);
        Counter.ONE.count = 5;
        Map<String, Node> before = Map.copyOf(Started.ALL);
        int[] numbers = Started.numbers;
        String name = "dev.hindsight.replay.GraphTests$";
        try (Statics kept = Statics.keep(GraphTests.class, name + "Started", name + "Counter", "no.Such")) {
            Started.once = true;
            first.item = "changed";
            for (int i = 0; i < 100; i++) {
                Started.ALL.put("more " + i, new Node(i));
            }
            Started.numbers[0] = 9;
            Started.numbers = new int[0];
            Counter.ONE.count = 6;
            Counter.ONE.seen.add("x");
        }
        check(!Started.once, "as before");
        equal(Started.ALL, before);
        same(Started.ALL.get("a"), first);
        equal(first.item, null);
        same(Started.numbers, numbers);
        equal(numbers[0], 1);
        equal(Counter.ONE.count, 5);
        check(Counter.ONE.seen.isEmpty(), Counter.ONE.seen);
    }

    static final class AnyZone {}

    abstract static class Zone {
        static final Zone UTC = Utc.INSTANCE;
    }

    static final class Utc extends Zone {
        static final Zone INSTANCE = new Utc();
    }

    abstract static class Unit {
        static final Unit METRE = Metre.of();
    }

    static final class Metre extends Unit {
        private static final Unit INSTANCE = new Metre();

        static Unit of() {
            return INSTANCE;
        }
    }

    static void superclassesAreInitialisedFirst() throws Throwable {
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> replace(row, 1, "dev.hindsight.replay.GraphTests$Utc");
        snapshot.frame(one(snapshot.argument(1, new AnyZone())));
        check(snapshot.restore(0).argument(1) instanceof Utc, "restored");
        check(Zone.UTC != null, "the constant of the superclass is null");

        Call.staticMethod("dev.hindsight.replay.GraphTests$Metre", "of",
                "()Ldev/hindsight/replay/GraphTests$Unit;");
        check(Unit.METRE != null, "the constant of the superclass is null");
    }

    class Inner {
        final int x = 4;

        GraphTests outer() {
            return GraphTests.this;
        }
    }

    static void innerAndAnonymousClasses() {
        GraphTests outer = new GraphTests();
        Inner inner = outer.new Inner();
        int local = 11;
        Object anonymous = new Object() {
            @Override
            public String toString() {
                return "anonymous " + local + (inner.outer() == outer);
            }
        };
        equal(roundTrip(anonymous).toString(), "anonymous 11true");
        Frame frame = frameOf(outer, inner);
        same(((Inner) frame.argument(2)).outer(), frame.argument(1));
    }

    /** A key that is equal by identity. */
    static final class Identity {}

    /** A key whose hash code is that of a collection. */
    static final class Composite implements Serializable {
        private static final long serialVersionUID = 1L;
        final Set<Object> parts = new HashSet<>();

        @Override
        public int hashCode() {
            return parts.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Composite && ((Composite) other).parts.equals(parts);
        }
    }

    static void mapsWithIdentityHashes() {
        Map<Object, Object> map = new HashMap<>();
        Object[] keys = new Object[300];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i % 2 == 0 ? new Identity() : i % 3 == 0 ? Color.class : new Object();
            map.put(keys[i], i);
        }
        map.put(Color.RED, "red");
        map.put(null, "null");
        Frame frame = frameOf(map, keys);
        Map<?, ?> back = frame.argument(1);
        Object[] backKeys = frame.argument(2);
        equal(back.size(), map.size());
        for (int i = 0; i < keys.length; i++) {
            equal(back.get(backKeys[i]), map.get(keys[i]));
        }
        equal(back.get(Color.RED), "red");
        equal(back.get(null), "null");
    }

    static void keysWhoseHashIsThatOfATable() {
        Map<Object, Object> map = new HashMap<>();
        Composite key = new Composite();
        Composite deep = new Composite();
        deep.parts.add("deep");
        key.parts.add(deep);
        map.put(key, "value");
        key.parts.add("later");
        Map<Object, Object> sound = new HashMap<>(map);
        Map<?, ?> back = (Map<?, ?>) roundTrip(sound);
        equal(back, sound);
        check(back.containsKey(key), "key not found");
    }

    /** A value leads to a set whose element depends on the map that holds it. */
    static void keysWithinCycles() {
        Map<Object, Object> outer = new HashMap<>();
        Composite key = new Composite();
        Set<Object> set = new HashSet<>();
        outer.put("a", 1);
        key.parts.add(outer);
        set.add(key);
        Node node = new Node(1);
        node.item = set;
        outer.put("node", node);
        set.clear();
        set.add(key);
        for (Object root : new Object[] {outer, set, node, key}) {
            Frame frame = frameOf(root, set, key);
            Set<?> back = frame.argument(2);
            check(back.contains(frame.argument(3)), "from " + root.getClass());
            equal(frame.holes(), List.of());
        }
    }

    static class Lru<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1L;
        static int calls;
        final int limit;
        transient String name = "lru";

        Lru(int limit) {
            super(16, 0.5f, true);
            this.limit = limit;
        }

        @Override
        public V put(K key, V value) {
            calls++;
            return super.put(key, value);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            calls++;
            return size() > limit;
        }
    }

    static void subclassesOfMapsKeepTheirOwnState() {
        Lru<String, Integer> lru = new Lru<>(2);
        lru.put("a", 1);
        lru.put("b", 2);
        lru.get("a");
        Lru.calls = 0;
        @SuppressWarnings("unchecked")
        Lru<String, Integer> back = (Lru<String, Integer>) roundTrip(lru);
        equal(Lru.calls, 0);
        equal(back.limit, 2);
        equal(back.name, "lru");
        equal(new ArrayList<>(back.keySet()), List.of("b", "a"));
        back.put("c", 3);
        equal(new ArrayList<>(back.keySet()), List.of("a", "c"));
    }

    static final class Faulty {
        @Override
        public int hashCode() {
            throw new IllegalStateException("no hash");
        }
    }

    static void keysThatThrow() throws Exception {
        // An unsuspecting map cannot have such a key, but one that was changed since can.
        Map<Object, Object> map = new HashMap<>();
        map.put("a", 1);
        map.put("b", 2);
        for (Map.Entry<Object, Object> entry : map.entrySet()) {
            if (entry.getKey().equals("a")) {
                Layout.find(entry.getClass(), "key", "Ljava/lang/Object;").put(entry, new Faulty());
            }
        }
        Frame frame = frameOf(map);
        equal(frame.argument(1), Map.of("b", 2));
        check(frame.holes().get(0).contains("without an entry"), frame.holes());
    }

    interface Greeter {
        String greet(String name);
    }

    static final class Echo implements InvocationHandler {
        Object self;

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            return (proxy == self) + " " + arguments[0];
        }
    }

    static void proxies() {
        Echo echo = new Echo();
        echo.self = Proxy.newProxyInstance(
                GraphTests.class.getClassLoader(), new Class<?>[] {Greeter.class}, echo);
        equal(((Greeter) roundTrip(echo.self)).greet("x"), "true x");
    }

    static class Before {
        int kept = 1;
        int removed = 2;
    }

    static class After {
        int kept;
        long changed;
    }

    static void classesThatChanged() {
        Node holder = new Node(1);
        holder.item = new Before();
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$After");
        snapshot.frame(one(snapshot.argument(1, holder)));
        snapshot.frame(one(snapshot.argument(1, holder.item)));
        Frame frame = snapshot.restore(0);
        equal(((After) ((Node) frame.argument(1)).item).kept, 1);
        check(frame.holes().toString().contains("removed"), frame.holes());
        check(frame.holes().toString().contains("changed was not recorded"), frame.holes());
        // In an argument itself, too: a fix may have removed the field.
        Frame direct = snapshot.restore(1);
        equal(((After) direct.argument(1)).kept, 1);
        check(direct.holes().toString().contains("removed"), direct.holes());
    }

    /** As {@link Before}, with what a later release might add. */
    static class Grown {
        final int kept;
        final List<String> log = new ArrayList<>();
        final Object self = this;
        final Runnable back;
        final int twice;
        int removed;

        Grown(int kept, int removed) {
            this.kept = kept;
            this.removed = removed;
            twice = 2 * kept;
            back = new Runnable() {
                @Override
                public void run() {
                    Grown.this.removed++;
                }
            };
        }
    }

    /** As {@link Before}, but no recorded object can be made anew. */
    static class Refuses {
        int kept;
        int removed;
        Object added = "";

        Refuses(int kept) {
            throw new IllegalStateException();
        }

        Refuses(Thread unknown) {
            unknown.getName();
        }
    }

    /** As {@link Before}, with a constructor that takes something new. */
    static class Asks {
        int kept;
        int removed;
        final List<Object> added = new ArrayList<>();

        Asks(Thread unknown, int kept) {
            this.kept = kept;
        }

        Asks(int kept, Thread first, Thread second) {
            added.add("of another constructor");
        }
    }

    static void addedFieldsComeFromAConstructor() {
        Before before = new Before();
        before.kept = 21;
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$Grown");
        snapshot.frame(one(snapshot.argument(1, before)));
        Frame frame = snapshot.restore(0);
        Grown grown = frame.argument(1);
        equal(grown.kept, 21);
        equal(grown.log, List.of());
        same(grown.self, grown);
        equal(grown.twice, 42);
        grown.back.run();
        equal(grown.removed, 3);
        check(frame.holes().toString().contains("log was not recorded and has what a constructor"),
                frame.holes());

        snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$Refuses");
        snapshot.frame(one(snapshot.argument(1, before)));
        frame = snapshot.restore(0);
        Refuses refuses = frame.argument(1);
        equal(refuses.kept, 21);
        same(refuses.added, null);
        check(frame.holes().toString().contains("added was not recorded and keeps its default"),
                frame.holes());
    
        snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$Asks");
        snapshot.frame(one(snapshot.argument(1, before)));
        frame = snapshot.restore(0);
        Asks asks = frame.argument(1);
        equal(asks.kept, 21);
        equal(asks.added, List.of());
        check(frame.holes().toString().contains("added was not recorded and has what a constructor"),
                frame.holes());
    }

    /** Who runs tests of another version sees what its objects lack, once. */
    static void whatAnotherVersionLacksIsTold() {
        Before before = new Before();
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$Refuses");
        snapshot.frame(one(snapshot.argument(1, before)));
        PrintStream usual = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true));
        try {
            Restorer.TOLD.clear();
            snapshot.restore(0);
            snapshot.restore(0);
        } finally {
            System.setErr(usual);
        }
        String told = said.toString();
        check(told.contains("added was not recorded and keeps its default; " + Classes.DIFFERS), told);
        equal(told.split("\n").length, 1);
    }

    static class Typed {
        int wide = 7;
        int narrow = 8;
        long large = 1L << 40;
        int boxed = 9;
        Integer unboxed = 1000;
        Integer none;
        char letter = 'x';
        double real = 0.5;
        int any = 10;
        boolean flag = true;
        HashMap<Object, Object> map = new HashMap<>();
        HashMap<Object, Object> other = new HashMap<>();
        java.util.Stack<Object> stack = new java.util.Stack<>();
        List<Object> list = new ArrayList<>();
        Object text = "text";
        ArrayList<Object> shared = new ArrayList<>();
    }

    /** As {@link Typed}, with other types. */
    static class Retyped {
        long wide;
        short narrow;
        int large = -1;
        Integer boxed;
        int unboxed;
        int none = -2;
        int letter;
        float real;
        Object any;
        Boolean flag;
        Map<Object, Object> map = new HashMap<>();
        java.util.concurrent.ConcurrentHashMap<Object, Object> other =
                new java.util.concurrent.ConcurrentHashMap<>();
        java.util.Deque<Object> stack = new java.util.ArrayDeque<>();
        Set<Object> list = new HashSet<>(List.of("default"));
        String text;
        Set<Object> shared;
    }

    static void fieldsOfAnotherTypeKeepTheirValues() {
        Typed typed = new Typed();
        typed.map.put("self", typed);
        typed.other.put("key", typed.map);
        typed.stack.push("first");
        typed.stack.push("second");
        typed.list.add(1);
        typed.shared.add(typed.map);
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Typed", "$Retyped");
        snapshot.frame(one(snapshot.argument(1, typed)));
        Frame frame = snapshot.restore(0);
        Retyped back = frame.argument(1);
        equal(back.wide, 7L);
        equal(back.narrow, (short) 8);
        equal(back.large, -1);
        equal(back.boxed, 9);
        equal(back.unboxed, 1000);
        equal(back.none, -2);
        equal(back.letter, (int) 'x');
        equal(back.real, 0.5f);
        equal(back.any, 10);
        equal(back.flag, true);
        same(back.map.getClass(), HashMap.class);
        same(back.map.get("self"), back);
        same(back.other.get("key"), back.map);
        equal(back.stack.pop(), "second");
        equal(back.stack.pop(), "first");
        equal(back.list, Set.of("default"));
        equal(back.text, "text");
        same(back.shared, null);
        String holes = frame.holes().toString();
        for (String field : List.of("large", "none", "list", "shared")) {
            check(holes.contains("Retyped." + field
                    + " cannot hold what was recorded and has what a constructor"), holes);
        }
        check(holes.contains("Retyped.other cannot hold what was recorded and has only the"), holes);
        equal(frame.holes().size(), 6);
    }

    static class Above {
        int shadowed = 1;
        String pushed = "pushed";
    }

    static class Below extends Above {
        int shadowed = 2;
        int pulled = 3;
        Object ambiguous = "a";
        HashMap<Object, Object> unlike = new HashMap<>();
    }

    /** As {@link Above}. */
    static class AboveSince {
        int shadowed;
        long pulled;
        Object ambiguous;
        Thread unlike;
    }

    static class Between extends AboveSince {
        Object ambiguous;
    }

    /** As {@link Below}. */
    static class BelowSince extends Between {
        CharSequence pushed;
    }

    static void fieldsThatMovedInTheirHierarchyKeepTheirValues() {
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> {
            Object[] copy = renamed(renamed(row, "$Below", "$BelowSince"), "$Above", "$AboveSince");
            if (copy[1].toString().endsWith("$BelowSince")) {
                List<Object> fields = new ArrayList<>();
                for (Object field : (List<?>) copy[5]) {
                    Object[] one = (Object[]) field;
                    fields.add(replace(one, 0, one[0].toString().replaceFirst("Above$", "AboveSince")));
                }
                copy = replace(replace(copy, 5, fields), 3, one(AboveSince.class.getName()));
            }
            return copy;
        };
        snapshot.frame(one(snapshot.argument(1, new Below())));
        Frame frame = snapshot.restore(0);
        BelowSince back = frame.argument(1);
        // The one that the subclass has no more is not that of the superclass.
        equal(back.shadowed, 1);
        equal(back.pulled, 3L);
        equal(back.pushed, "pushed");
        same(back.ambiguous, null);
        same(back.unlike, null);
        String holes = frame.holes().toString();
        for (String field : List.of("shadowed", "ambiguous", "unlike")) {
            check(holes.contains("BelowSince." + field + " is not in the running class"), holes);
        }
        check(!holes.contains("pulled") && !holes.contains("pushed"), holes);
    }

    /** A program knows its constants by identity. */
    static final Object END = new Object() {};
    static final Object FIRST = mark();

    static Object mark() {
        return new Object() {};
    }

    static void constantsOfAnonymousClassesAreTheRunningOnes() {
        Node holder = new Node(1);
        holder.item = END;
        same(((Node) roundTrip(holder)).item, END);
        // One of several that the same expression has made may be any.
        Node second = new Node(2);
        second.item = mark();
        holder.item = FIRST;
        holder.next = second;
        Node restored = (Node) roundTrip(holder);
        check(restored.item != FIRST && restored.next.item != FIRST, "copies");
        check(restored.item != restored.next.item, "different objects");
    }

    static class Fails {
        static final int X = Integer.parseInt("x");
        int y;
    }

    static void classesThatCannotBeInitialised() {
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$Fails");
        snapshot.frame(one(snapshot.argument(1, new Before())));
        fails(ReplayException.class, () -> snapshot.restore(0).argument(1),
                "Fails", "NumberFormatException");
    }

    /** A field's type, int as a reference, must never be written as something else. */
    /** Two fields that get one name. */
    static class Twins {
        String one = "text";
        long two = 0x123456789abcL;
    }

    static void fieldsOfOneNameAreToldApartByTheirTypes() throws Exception {
        byte[] bytes;
        try (InputStream in = Twins.class.getResourceAsStream("GraphTests$Twins.class")) {
            bytes = in.readAllBytes();
        }
        // In the constant pool, as text with its length before it.
        for (int i = 0; i + 5 < bytes.length; i++) {
            if (bytes[i] == 1 && bytes[i + 1] == 0 && bytes[i + 2] == 3 && bytes[i + 3] == 't'
                    && bytes[i + 4] == 'w' && bytes[i + 5] == 'o') {
                System.arraycopy("one".getBytes(StandardCharsets.UTF_8), 0, bytes, i + 3, 3);
            }
        }
        Class<?> twins = new ClassLoader(GraphTests.class.getClassLoader()) {
            Class<?> define() {
                return defineClass(Twins.class.getName(), bytes, 0, bytes.length);
            }
        }.define();
        Layout.Slot text = Layout.find(twins, "one", "Ljava/lang/String;");
        Layout.Slot number = Layout.find(twins, "one", "J");
        check(text.offset != number.offset, text.offset);
        check(Layout.named(twins, "one") == null, twins);
        equal(Trusted.offset(twins, "one", String.class), text.offset);
        equal(Trusted.offset(twins, "one", long.class), number.offset);
        java.lang.reflect.Constructor<?> constructor = twins.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object object = constructor.newInstance();
        equal(text.get(object), "text");
        equal(number.get(object), 0x123456789abcL);
        number.put(object, 1L);
        equal(text.get(object), "text");
    }

    /** An enum whose {@code values()} has another name. */
    enum Hue { RED, GREEN }

    static void constantsAreFoundWithoutValues() throws Exception {
        byte[] bytes;
        try (InputStream in = Hue.class.getResourceAsStream("GraphTests$Hue.class")) {
            bytes = in.readAllBytes();
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        byte[] renamed = text.replace("\u0001\u0000\u0006values", "\u0001\u0000\u0006sorted")
                .getBytes(StandardCharsets.ISO_8859_1);
        ClassLoader loader = new ClassLoader(GraphTests.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                return name.equals(Hue.class.getName()) && findLoadedClass(name) == null
                        ? defineClass(name, renamed, 0, renamed.length) : super.loadClass(name, resolve);
            }
        };
        Snapshot snapshot = new Snapshot();
        snapshot.frame(new Object[] {snapshot.argument(1, Hue.GREEN)});
        Frame frame = Frame.restore(CrashFile.read(snapshot.file(), "test.hsc"), 0, loader, false);
        Object constant = frame.argument(1);
        check(constant.getClass().getEnumConstants() == null, constant);
        equal(constant.toString(), "GREEN");
    }

    static void typesAreCheckedBeforeWriting() {
        Node node = new Node(1);
        node.next = new Node(2);
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> row[1].toString().endsWith("$Node")
                ? replace(row, 5, row(
                        row(Node.class.getName(), "next", "I", 0),
                        row(Node.class.getName(), "item", "Ljava/lang/String;", 0),
                        row(Node.class.getName(), "number", "Ljava/lang/Object;", 0))) : row;
        snapshot.frame(one(snapshot.argument(1, node)));
        Frame frame = snapshot.restore(0);
        Node restored = frame.argument(1);
        check(restored.next == null, "a field of another type has what the constructor gives it");
        equal(restored.number, 0);
        for (String field : List.of("next", "number")) {
            check(frame.holes().toString().contains(
                    "Node." + field + " cannot hold what was recorded and has"), frame.holes());
        }
    }

    /** Records need a later compiler than the tests, so they are compiled on the way. */
    static void recordsWithCycles() throws Exception {
        javax.tools.JavaCompiler javac = javax.tools.ToolProvider.getSystemJavaCompiler();
        if (Runtime.version().feature() < 16 || javac == null) {
            return;
        }
        Path folder = Files.createTempDirectory("hindsight");
        Path source = Files.writeString(folder.resolve("Ring.java"),
                "record Ring(int size, String name, java.util.List<Object> members) {"
                + " Ring { if (size > 99) throw new IllegalArgumentException(); } }");
        equal(javac.run(null, null, null, "-d", folder.toString(), source.toString()), 0);
        URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, GraphTests.class.getClassLoader());
        Class<?> type = loader.loadClass("Ring");
        java.lang.reflect.Constructor<?> make =
                type.getDeclaredConstructor(int.class, String.class, List.class);
        make.setAccessible(true);
        List<Object> members = new ArrayList<>();
        Object ring = make.newInstance(7, "ring", members);
        members.add(ring);
        Snapshot snapshot = new Snapshot();
        snapshot.frame(one(snapshot.argument(1, ring)));
        Object back = Frame.restore(CrashFile.read(snapshot.file(), "f"), 0, loader).argument(1);
        same(back.getClass(), type);
        equal(Layout.find(type, "size", "I").get(back), 7);
        equal(Layout.find(type, "name", "Ljava/lang/String;").get(back), "ring");
        same(((List<?>) Layout.find(type, "members", "Ljava/util/List;").get(back)).get(0), back);
        loader.close();
        for (String file : List.of("Ring.java", "Ring.class", "")) {
            Files.delete(folder.resolve(file));
        }
    }

    private static Object[] renamed(Object[] row, String from, String to) {
        if (!row[1].toString().endsWith(from)) {
            return row;
        }
        List<Object> fields = new ArrayList<>();
        for (Object field : (List<?>) row[5]) {
            Object[] copy = ((Object[]) field).clone();
            copy[0] = copy[0].toString().replace(from, to);
            fields.add(copy);
        }
        return replace(replace(row, 1, row[1].toString().replace(from, to)), 5, fields);
    }

    private static Object[] replace(Object[] row, int index, Object value) {
        Object[] copy = row.clone();
        copy[index] = value;
        return copy;
    }
}
