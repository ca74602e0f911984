package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.replace;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Snapshot.frameOf;
import static dev.hindsight.replay.Snapshot.roundTrip;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;
import static dev.hindsight.replay.Tests.same;

import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Tests of the program's objects: shapes, identity, classes of all kinds, patches and holes. */
final class GraphTests {
    private GraphTests() {}

    static class Node {
        Node next;
        Object item;
        private final int number;

        Node(int number) {
            this.number = number;
        }

        int number() {
            return number;
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
        equal(Redacted.placeholder("redacted, empty", String.class, 1), "");
        equal(Redacted.placeholder("redacted, length 1 to 8", String.class, 5), "xxxxxxyz");
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

    /** Obfuscators use such names for classes, which no compiler does. */
    static void aClassMayBeCalledInt() throws Exception {
        byte[] file;
        String path = One.class.getName().replace('.', '/');
        try (InputStream in = One.class.getResourceAsStream("/" + path + ".class")) {
            file = in.readAllBytes();
        }
        // There is a character for each byte.
        String text = new String(file, StandardCharsets.ISO_8859_1);
        String renamed = text.replace("\1\0" + (char) path.length() + path, "\1\0\3int");
        byte[] bytes = renamed.getBytes(StandardCharsets.ISO_8859_1);
        ClassLoader loader = new ClassLoader(GraphTests.class.getClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (!name.equals("int")) {
                    throw new ClassNotFoundException(name);
                }
                return defineClass(name, bytes, 0, bytes.length);
            }
        };
        Class<?> type = loader.loadClass("int");
        Constructor<?> make = type.getDeclaredConstructor();
        make.setAccessible(true);
        Snapshot snapshot = new Snapshot();
        snapshot.frame(row(snapshot.argument(1, make.newInstance()), snapshot.argument(2, int.class)));
        Frame frame = Frame.restore(CrashFile.read(snapshot.file(), "f"), 0, loader);
        same(frame.argument(1).getClass(), type);
        same(frame.argument(2), int.class);
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

    /** Records need a later compiler than the tests, so they are compiled at run time. */
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
        Constructor<?> make =
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

    static final class One {}

    static final class Other {}

    static void classesOfSeveralLoadersAreTold() {
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> row[1].equals(Other.class.getName())
                ? Packer.replace(row, 1, One.class.getName()) : row;
        snapshot.frame(row(snapshot.argument(1, new One()), snapshot.argument(2, new Other())));
        Frame frame = snapshot.restore(0);
        equal(frame.argument(2).getClass(), One.class);
        equal(frame.holes(), List.of(
                One.class.getName() + ": recorded of several class loaders, is one class here"));
    }
}
