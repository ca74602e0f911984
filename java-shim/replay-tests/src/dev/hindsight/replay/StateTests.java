package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.replace;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Snapshot.roundTrip;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.same;

import dev.hindsight.replay.GraphTests.Node;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tests of the state of classes: static fields, constants and their state, and the time of
 * initialisation.
 */
final class StateTests {
    private StateTests() {}

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

        // This is a version in which the bodies of constants are in another order.
        snapshot.classes = row -> row[1].equals("dev.hindsight.replay.StateTests$Counter$1")
                ? replace(row, 1, "dev.hindsight.replay.StateTests$Counter$2") : row;
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
        String name = "dev.hindsight.replay.StateTests$";
        try (Statics kept = Statics.keep(StateTests.class, name + "Started", name + "Counter", "no.Such")) {
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
        snapshot.classes = row -> replace(row, 1, "dev.hindsight.replay.StateTests$Utc");
        snapshot.frame(one(snapshot.argument(1, new AnyZone())));
        check(snapshot.restore(0).argument(1) instanceof Utc, "restored");
        check(Zone.UTC != null, "the constant of the superclass is null");

        Call.staticMethod("dev.hindsight.replay.StateTests$Metre", "of",
                "()Ldev/hindsight/replay/StateTests$Unit;");
        check(Unit.METRE != null, "the constant of the superclass is null");
    }

    /** A constant that a program recognises by identity. */
    static final Object END = new Object() {};
    static final Object FIRST = mark();

    static Object mark() {
        return new Object() {};
    }

    static void constantsOfAnonymousClassesAreTheRunningOnes() {
        Node holder = new Node(1);
        holder.item = END;
        same(((Node) roundTrip(holder)).item, END);
        // One of several objects that the same expression has made may be any of them.
        Node second = new Node(2);
        second.item = mark();
        holder.item = FIRST;
        holder.next = second;
        Node restored = (Node) roundTrip(holder);
        check(restored.item != FIRST && restored.next.item != FIRST, "copies");
        check(restored.item != restored.next.item, "different objects");
    }

    /** An enum whose {@code values()} has another name. */
    enum Hue { RED, GREEN }

    static void constantsAreFoundWithoutValues() throws Exception {
        byte[] bytes;
        try (InputStream in = Hue.class.getResourceAsStream("StateTests$Hue.class")) {
            bytes = in.readAllBytes();
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        byte[] renamed = text.replace("\u0001\u0000\u0006values", "\u0001\u0000\u0006sorted")
                .getBytes(StandardCharsets.ISO_8859_1);
        ClassLoader loader = new ClassLoader(StateTests.class.getClassLoader()) {
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
}
