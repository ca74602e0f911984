package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.renamed;
import static dev.hindsight.replay.Packer.replace;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;
import static dev.hindsight.replay.Tests.same;

import dev.hindsight.replay.GraphTests.Node;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tests of objects of another version of the program: fields that were removed, added, moved or
 * have another type.
 */
final class VersionTests {
    private VersionTests() {}

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
        // This holds for an argument itself, too: a fix may have removed the field.
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

    /** Those who run tests of another version are shown once what its objects lack. */
    static void whatAnotherVersionLacksIsTold() {
        Before before = new Before();
        Snapshot snapshot = new Snapshot();
        snapshot.classes = row -> renamed(row, "$Before", "$Refuses");
        snapshot.frame(one(snapshot.argument(1, before)));
        PrintStream usual = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true));
        try {
            Notes.TOLD.clear();
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
        // The field that the subclass does not have any more is not that of the superclass.
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

    /** A class whose two fields get the same name. */
    static class Twins {
        String one = "text";
        long two = 0x123456789abcL;
    }

    static void fieldsOfOneNameAreToldApartByTheirTypes() throws Exception {
        byte[] bytes;
        try (InputStream in = Twins.class.getResourceAsStream("VersionTests$Twins.class")) {
            bytes = in.readAllBytes();
        }
        // In the constant pool it is a text preceded by its length.
        for (int i = 0; i + 5 < bytes.length; i++) {
            if (bytes[i] == 1 && bytes[i + 1] == 0 && bytes[i + 2] == 3 && bytes[i + 3] == 't'
                    && bytes[i + 4] == 'w' && bytes[i + 5] == 'o') {
                System.arraycopy("one".getBytes(StandardCharsets.UTF_8), 0, bytes, i + 3, 3);
            }
        }
        Class<?> twins = new ClassLoader(VersionTests.class.getClassLoader()) {
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

    /**
     * Whatever a field's type, such as int for a reference, a value of another type must never be
     * written.
     */
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
        equal(restored.number(), 0);
        for (String field : List.of("next", "number")) {
            check(frame.holes().toString().contains(
                    "Node." + field + " cannot hold what was recorded and has"), frame.holes());
        }
    }
}
