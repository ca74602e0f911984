import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

// What collections and the like ask of what they are given, and maps that
// reading reorders.
class Asking {
    static class Counts implements Comparable<Counts> {
        int times;
        @Override public String toString() { return "" + ++times; } // expect this: mutable
        @Override public int hashCode() { return ++times; } // expect this: mutable
        @Override public boolean equals(Object o) { return ++times == 0 || this == o; } // expect this: mutable, o: immutable
        @Override public int compareTo(Counts o) { return ++times; } // expect this: mutable, o: immutable
    }

    static class Still {
        int value;
        @Override public String toString() { return "" + value; } // expect this: immutable
        @Override public int hashCode() { return value; } // expect this: immutable
        @Override public boolean equals(Object o) { return o instanceof Still s && s.value == value; } // expect this: immutable, o: immutable
    }

    static int hash(Counts c, Counts d) { return Objects.hash(c, d); } // expect c: mutable, d: mutable
    static int hashStill(Still s, Still t) { return Objects.hash(s, t); } // expect s: immutable, t: immutable
    static boolean key(Counts c) { return new HashMap<Object, String>().containsKey(c); } // expect c: mutable
    static boolean keyStill(Still s) { return new HashMap<Object, String>().containsKey(s); } // expect s: immutable
    static void add(Counts c) { new HashSet<Object>().add(c); } // expect c: mutable
    static void sorted(Counts c) { new TreeSet<Object>().add(c); } // expect c: mutable
    static boolean among(List<String> list, Counts c) { return list.contains(c); } // expect list: immutable, c: mutable
    static boolean amongStill(List<String> list, Still s) { return list.contains(s); } // expect list: immutable, s: immutable
    static String format(Counts c) { return String.format("%s", c); } // expect c: mutable
    static String formatStill(Still s) { return String.format("%s", s); } // expect s: immutable
    static String formatAny(List<String> all) { return String.format("%s of %s", all.size(), all); } // expect all: immutable
    static String words(Counts[] all) { return Arrays.toString(all); } // expect all: mutable
    static String wordsStill(Still[] all) { return Arrays.toString(all); } // expect all: immutable
    static void sort(Counts[] all) { Arrays.sort(all); } // expect all: mutable
    static String ofPart(Part p) { return p.still.toString(); } // expect p: immutable

    static class Part {
        final Still still = new Still();
        final Map<String, Still> recent = new LinkedHashMap<>(16, 0.75f, true);
        final Map<String, Still> plain = new LinkedHashMap<>();

        Still find(String key) { return recent.get(key); } // expect this: mutable
        Still look(String key) { return plain.get(key); } // expect this: immutable
        int size() { return recent.size(); } // expect this: immutable
    }

    static Still any(LinkedHashMap<String, Still> map) { return map.get("q"); } // expect map: mutable

    static byte next(ByteBuffer b) { return b.get(); } // expect b: mutable
    static byte at(ByteBuffer b) { return b.get(0); } // expect b: immutable
    static byte twin(ByteBuffer b) { return b.duplicate().get(); } // expect b: immutable
    static void twinPut(ByteBuffer b) { b.duplicate().putInt(1); } // expect b: mutable
    static byte wrapped(byte[] bytes) { return ByteBuffer.wrap(bytes).get(); } // expect bytes: immutable
    static void wrappedPut(byte[] bytes) { ByteBuffer.wrap(bytes).put((byte) 1).put((byte) 2); } // expect bytes: mutable
    static String message(RuntimeException e) { return e.getMessage(); } // expect e: immutable
    static void sink(java.io.OutputStream out, byte[] bytes) throws java.io.IOException { out.write(bytes); } // expect out: mutable, bytes: immutable
    static String built(StringBuilder b) { return new StringBuilder(b).append("q").reverse().toString(); } // expect b: immutable
    static List<String> copied(List<String> list) { List<String> copy = new java.util.ArrayList<>(list); Collections.sort(copy); return copy; } // expect list: immutable
}
