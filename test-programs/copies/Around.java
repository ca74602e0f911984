import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicStampedReference;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** Writes that no instruction of the program shows: each has one object, and a method that changes it. */
public class Around {
    interface Change {
        void run() throws Exception;
    }

    static class Own {
        static final VarHandle COUNT;
        static final VarHandle NEXT;
        static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
        static final VarHandle VIEW =
                MethodHandles.byteArrayViewVarHandle(int[].class, java.nio.ByteOrder.BIG_ENDIAN);
        static final VarHandle BUFFER =
                MethodHandles.byteBufferViewVarHandle(long[].class, java.nio.ByteOrder.BIG_ENDIAN);
        static final AtomicIntegerFieldUpdater<Own> UPDATED =
                AtomicIntegerFieldUpdater.newUpdater(Own.class, "updated");

        static {
            try {
                COUNT = MethodHandles.lookup().findVarHandle(Own.class, "count", long.class);
                NEXT = MethodHandles.lookup().findVarHandle(Own.class, "next", String.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        long count = 7;
        String next = "n";
        volatile int updated = 3;
        int reflected = 4;
        String named = "a";
        final long[] longs = {1, 2};
        final byte[] bytes = {1, 2, 3, 4, 5};
        final ByteBuffer buffer = ByteBuffer.allocate(16);
        final byte[] random = {1, 2, 3};
        final int[] elements = {9, 8};
        final char[] chars = {'a', 'b', 'c'};

        void change() throws Exception {
            COUNT.compareAndSet(this, 7L, 8L);
            COUNT.getAndAdd(this, 5L);
            NEXT.set(this, "m");
            LONGS.setVolatile(longs, 1, 5L);
            VIEW.set(bytes, 1, 0x01020304);
            BUFFER.set(buffer, 3, 5L);
            UPDATED.incrementAndGet(this);
            Field field = Own.class.getDeclaredField("reflected");
            field.setInt(this, 5);
            Own.class.getDeclaredField("named").set(this, "b");
            Array.setInt(elements, 1, 1);
            "xyz".getChars(0, 2, chars, 1);
            new Random(1).nextBytes(bytes);
            Random secure = new java.security.SecureRandom();
            secure.nextBytes(random);
        }

        @Override
        public String toString() {
            return count + next + updated + reflected + named + Arrays.toString(longs) + Arrays.toString(bytes)
                    + Arrays.toString(elements) + new String(chars)
                    + Arrays.toString(buffer.array())
                    + Arrays.toString(random);
        }
    }

    final StringBuilder inserted = new StringBuilder("abc");
    final StringBuilder reused = new StringBuilder("abcdefgh");
    final StringBuilder replaced = new StringBuilder("abc\u4e00");
    final StringBuilder reversed = new StringBuilder("abc");
    final StringBuilder set = new StringBuilder("abc");
    final StringBuffer buffer = new StringBuffer("abc");
    final ConcurrentSkipListMap<String, Integer> skips = new ConcurrentSkipListMap<>();
    final ConcurrentSkipListSet<String> skipSet = new ConcurrentSkipListSet<>(List.of("a", "b"));
    final ConcurrentLinkedQueue<String> queue = new ConcurrentLinkedQueue<>(List.of("a", "b"));
    final ConcurrentLinkedDeque<String> deque = new ConcurrentLinkedDeque<>(List.of("a", "b"));
    final ConcurrentHashMap<String, Integer> counted = new ConcurrentHashMap<>();
    final AtomicIntegerArray ints = new AtomicIntegerArray(new int[] {1, 2});
    final AtomicLongArray longs = new AtomicLongArray(new long[] {1, 2});
    final AtomicReferenceArray<String> references = new AtomicReferenceArray<>(new String[] {"a", "b"});
    final AtomicStampedReference<String> stamped = new AtomicStampedReference<>("a", 1);
    final AtomicLong number = new AtomicLong(5);
    final AtomicBoolean flag = new AtomicBoolean();
    final LongAdder adder = new LongAdder();
    final DoubleAdder doubles = new DoubleAdder();
    final LongAccumulator most = new LongAccumulator(Math::max, 1);
    final ByteArrayOutputStream written = new ByteArrayOutputStream();
    final ByteArrayInputStream in = new ByteArrayInputStream(new byte[] {1, 2, 3, 4});
    final byte[] read = {9, 9, 9, 9};
    final BufferedReader lines = new BufferedReader(new StringReader("one\ntwo\nthree"));
    final StringWriter writer = new StringWriter();
    final ByteBuffer bytes = ByteBuffer.allocate(16);
    final CharBuffer chars = CharBuffer.allocate(4);
    final CharBuffer decoded = CharBuffer.allocate(4);
    final ByteBuffer encoded = ByteBuffer.allocate(8);
    final ByteArrayOutputStream stored = new ByteArrayOutputStream();
    final java.io.ObjectOutputStream objects;
    final java.util.Calendar calendar = new java.util.GregorianCalendar(2001, 1, 2);
    final SimpleDateFormat format = new SimpleDateFormat("yyyy");
    final int[] sorted = new int[1000];
    final Integer[] boxed = {3, 1, 2, 9, 8, 7, 5};
    final List<String> names = new ArrayList<>(List.of("c", "a", "b"));
    final long[] filled = {1, 2, 3, 4};
    final Own own = new Own();

    Around() throws Exception {
        objects = new java.io.ObjectOutputStream(stored);
        skips.put("a", 1);
        skips.put("b", 2);
        counted.put("a", 1);
        adder.add(4);
        doubles.add(0.5);
        written.write(7);
        writer.write("w");
        bytes.putInt(5);
        chars.put('c');
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = i * 7919 % 1000;
        }
    }

    void change() throws Exception {
        inserted.insert(1, "X").insert(0, 5);
        reused.setLength(2);
        reused.append("ZZZ");
        replaced.replace(0, 2, "long text").delete(3, 5);
        reversed.reverse();
        set.setCharAt(1, 'X');
        buffer.insert(0, true).toString();
        for (int i = 0; i < 50; i++) {
            skips.put("n" + i, i);
            counted.put("n" + i, i);
        }
        skips.remove("a");
        skips.put("b", 3);
        skipSet.pollFirst();
        skipSet.add("c");
        queue.poll();
        queue.add("c");
        queue.remove("b");
        deque.addFirst("0");
        deque.pollLast();
        ints.incrementAndGet(0);
        ints.set(1, 9);
        longs.compareAndSet(0, 1, 5);
        longs.getAndAdd(1, 5);
        references.set(0, "c");
        references.compareAndSet(1, "b", "d");
        stamped.compareAndSet("a", "b", 1, 2);
        number.accumulateAndGet(4, Math::max);
        number.incrementAndGet();
        flag.compareAndSet(false, true);
        adder.increment();
        doubles.add(2);
        most.accumulate(9);
        written.write(new byte[] {1, 2, 3});
        written.reset();
        written.write(1);
        in.read(read, 1, 2);
        lines.readLine();
        writer.write("more");
        writer.getBuffer().setLength(1);
        bytes.putLong(77L).flip();
        chars.put("xy");
        format.applyPattern("MM");
        Arrays.sort(sorted);
        Arrays.sort(boxed, 1, 5, Comparator.reverseOrder());
        names.sort(null);
        Arrays.fill(filled, 1, 3, 0);
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(new byte[] {65, 66}), decoded, true);
        StandardCharsets.UTF_16.newEncoder().encode(CharBuffer.wrap("ab"), encoded, true);
        objects.writeInt(5);
        objects.flush();
        calendar.add(java.util.Calendar.YEAR, 3);
        own.change();
    }

    String describe() throws Exception {
        return inserted + "|" + reused + replaced + reversed + set + buffer + new TreeMap<>(skips) + skips.size()
                + skipSet + queue + deque + counted.size() + ints + longs + references + stamped.getReference()
                + stamped.getStamp() + number + flag + adder + doubles + most + Arrays.toString(written.toByteArray())
                + in.available() + Arrays.toString(read) + writer + bytes + Arrays.toString(bytes.array()) + chars
                + new String(chars.array()) + format.toPattern() + Arrays.hashCode(sorted) + Arrays.toString(boxed)
                + names + Arrays.toString(filled) + decoded + Arrays.toString(decoded.array())
                + Arrays.toString(encoded.array()) + Arrays.toString(stored.toByteArray()) + calendar.getTime()
                + own;
    }

    void run(String expected) throws Exception {
        String now = describe();
        if (!now.equals(expected)) {
            int at = Arrays.mismatch(now.toCharArray(), expected.toCharArray());
            throw new AssertionError(now.substring(at) + " instead of " + expected.substring(at));
        }
        String line = lines.readLine();
        if (!line.equals("one")) {
            throw new AssertionError(line);
        }
        change();
        throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        Around all = new Around();
        all.run(all.describe());
    }
}
