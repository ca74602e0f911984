import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Writes inside collections of the JDK, and by its bulk operations. */
public class Collections {
    enum Colour {
        RED,
        GREEN
    }

    final List<String> list = new ArrayList<>(List.of("a", "b"));
    final Map<String, Integer> hashed = new HashMap<>(Map.of("a", 1, "b", 2));
    final Map<String, Integer> linkedMap = new LinkedHashMap<>();
    final Set<String> linkedSet = new LinkedHashSet<>(List.of("x"));
    final TreeMap<String, Integer> tree = new TreeMap<>(Map.of("a", 1, "b", 2, "c", 3));
    final ArrayDeque<String> deque = new ArrayDeque<>(List.of("p", "q"));
    final LinkedList<String> linked = new LinkedList<>(List.of("p", "q"));
    final PriorityQueue<Integer> heap = new PriorityQueue<>(List.of(3, 1, 2));
    final BitSet bits = new BitSet();
    final EnumMap<Colour, String> byColour = new EnumMap<>(Colour.class);
    final ConcurrentHashMap<String, Integer> concurrent = new ConcurrentHashMap<>(Map.of("a", 1, "b", 2));
    final List<String> copied = new CopyOnWriteArrayList<>(List.of("c"));
    final LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>(List.of("s", "t"));
    final Iterator<Integer> keys = new HashMap<>(Map.of(1, 1, 2, 2)).keySet().iterator();
    final AtomicInteger counter = new AtomicInteger(4);
    final AtomicReference<String> latest = new AtomicReference<>("first");
    final StringBuilder text = new StringBuilder("abc");
    final int[] numbers = {3, 1, 2};
    final long[] longs = {1, 2, 3, 4};
    final double[] doubles = {0.5, 1.5};
    final boolean[] flags = {true, false};
    final byte[] bytes = {-1, -2, -3};
    final char[] chars = {'x', 'y', '\uffff'};
    final short[] shorts = {-5};
    final float[] floats = {Float.NaN};
    final Object[] objects = {"o", null, list};

    void change() {
        list.remove(0);
        for (int i = 0; i < 40; i++) {
            list.add("n" + i);
            hashed.put("n" + i, i);
            deque.addFirst("n" + i);
            concurrent.put("n" + i, i);
        }
        java.util.Collections.reverse(list);
        hashed.remove("a");
        hashed.merge("b", 5, Integer::sum);
        linkedMap.put("one", 1);
        linkedSet.clear();
        tree.pollFirstEntry();
        tree.put("z", 26);
        deque.pollLast();
        linked.removeFirst();
        linked.add("r");
        heap.poll();
        bits.set(100);
        byColour.put(Colour.GREEN, "g");
        concurrent.remove("a");
        concurrent.computeIfPresent("b", (key, value) -> value + 1);
        copied.add("d");
        queue.poll();
        queue.add("u");
        counter.incrementAndGet();
        counter.addAndGet(7);
        latest.compareAndSet("first", "second");
        text.append("def").setCharAt(0, 'X');
        text.deleteCharAt(1);
        Arrays.sort(numbers);
        System.arraycopy(longs, 0, longs, 1, 3);
        Arrays.fill(doubles, 9);
        flags[1] = true;
        bytes[2]++;
        chars[2] = 'z';
        shorts[0] = 5;
        floats[0] = 1;
        System.arraycopy(new Object[] {1, 2}, 0, objects, 1, 2);
        // Of a class in the JVM's archive, where the call of its superclass's method may be bound already.
        if (keys.next() != 1) {
            throw new AssertionError("an iterator that has gone on");
        }
    }

    String describe() {
        return list + " " + new TreeMap<>(hashed) + linkedMap + linkedSet + tree + deque + linked + heap + bits
                + byColour + new TreeMap<>(concurrent) + copied + queue + counter + latest + text
                + Arrays.toString(numbers) + Arrays.toString(longs) + Arrays.toString(doubles)
                + Arrays.toString(flags) + Arrays.toString(bytes) + (int) chars[2] + shorts[0] + floats[0]
                + Arrays.toString(objects);
    }

    void run(String expected) {
        if (!describe().equals(expected)) {
            throw new AssertionError(describe() + " instead of " + expected);
        }
        change();
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        Collections all = new Collections();
        all.run(all.describe());
    }
}
