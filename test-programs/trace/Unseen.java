import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What only the JDK's own code sees: how constructors end, and what method references call. */
public class Unseen {
    static class Base {
        Base(int number) {
            if (number < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    static class Middle extends Base {
        Middle(int number) {
            super(number);
        }
    }

    static class Last extends Middle {
        Last(int number) {
            super(number);
        }

        Last(String number) {
            this(Integer.parseInt(number));
        }
    }

    /** Its superclass is not recorded. */
    static class OfJdk extends ArrayList<Object> {
        OfJdk(int capacity) {
            super(capacity);
        }
    }

    interface Copying {
        void copy(Object from, int at, Object to, int into, int count);
    }

    interface Ticks extends IntUnaryOperator, Serializable {}

    static class Doubling extends LongAdder {
        @Override
        public void add(long number) {
            super.add(2 * number);
        }
    }

    static int ticks;

    static void constructors() {
        for (Runnable make : new Runnable[] {() -> new Last(-1), () -> new Last("-2"), () -> new OfJdk(-3)}) {
            try {
                make.run();
            } catch (IllegalArgumentException e) {
                continue;
            }
        }
    }

    static Object references() throws Exception {
        AtomicInteger counter = new AtomicInteger();
        IntConsumer add = counter::addAndGet;
        add.accept(5);
        ToIntFunction<AtomicInteger> next = AtomicInteger::incrementAndGet;
        next.applyAsInt(counter);
        LongAdder adder = new LongAdder();
        IntStream.range(1, 4).forEach(adder::add);
        Runnable increment = adder::increment;
        increment.run();
        AtomicReference<Object> held = new AtomicReference<>("first");
        UnaryOperator<Object> swap = held::getAndSet;
        String was = (String) swap.apply("second");
        AtomicLongArray longs = new AtomicLongArray(3);
        IntConsumer down = longs::decrementAndGet;
        down.accept(2);
        int[] numbers = {3, 1, 2};
        Copying copy = System::arraycopy;
        copy.copy(numbers, 0, numbers, 1, 2);
        Consumer<int[]> sort = Arrays::sort;
        sort.accept(numbers);
        try {
            copy.copy(numbers, 0, numbers, 2, 2);
        } catch (ArrayIndexOutOfBoundsException e) {
            // Nothing of the recorder is in a stack trace.
            for (StackTraceElement frame : e.getStackTrace()) {
                if (frame.getClassName().contains("Hindsight")) {
                    throw new AssertionError(frame);
                }
            }
        }
        // One that can be serialized says which method it means, and goes on to do so.
        Ticks ticks = counter::addAndGet;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(ticks);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            ((Ticks) in.readObject()).applyAsInt(1);
        }
        return was + counter + adder + held + longs + Arrays.toString(numbers);
    }

    static int around() throws Exception {
        Doubling doubling = new Doubling();
        doubling.add(2);
        Object[] rows = (Object[]) Array.newInstance(String.class, 2, 1);
        Array.set(rows, 1, "p,q".split(","));
        Unseen.class.getDeclaredField("ticks").setInt(null, rows.length);
        return doubling.intValue() + ticks;
    }

    static volatile String shared = "";
    volatile int number;
    volatile Object held;

    static String handles() throws Exception {
        Lookup lookup = MethodHandles.lookup();
        VarHandle number = lookup.findVarHandle(Unseen.class, "number", int.class);
        VarHandle text = lookup.findStaticVarHandle(Unseen.class, "shared", String.class);
        VarHandle held = lookup.unreflectVarHandle(Unseen.class.getDeclaredField("held"));
        AtomicIntegerFieldUpdater<Unseen> count = AtomicIntegerFieldUpdater.newUpdater(Unseen.class, "number");
        AtomicReferenceFieldUpdater<Unseen, Object> any =
                AtomicReferenceFieldUpdater.newUpdater(Unseen.class, Object.class, "held");
        Unseen one = new Unseen();
        number.set(one, 3);
        text.setRelease("now");
        held.compareAndSet(one, null, shared);
        count.addAndGet(one, 4);
        any.lazySet(one, null);
        return one.number + shared + one.held;
    }

    static int look(Object filled) {
        return Array.getLength(filled);
    }

    static byte[] buffer = new byte[3];

    static byte[] read() {
        new ByteArrayInputStream("in".getBytes()).read(buffer, 0, 3);
        return buffer;
    }

    /** An array in an array, and two in that. */
    static Object[] deep() {
        Object[] inner = List.of(IntStream.of(6).toArray(), List.of("e").toArray()).toArray();
        return List.of((Object) inner).toArray();
    }

    /** One that is made by reflection, and filled later. */
    static Object entered() {
        Object[] empty = (Object[]) Array.newInstance(String.class, new int[] {1});
        return List.of("f").toArray(empty);
    }

    /** Arrays that code of the JDK has filled, and some whose writes tell what is in them. */
    static int filled() {
        char[] written = "xy".toCharArray();
        written[0] = 'z';
        int[] sorted = IntStream.of(4, 3).toArray();
        Arrays.sort(sorted);
        byte[] from = "ab".getBytes();
        byte[] to = new byte[3];
        System.arraycopy(from, 0, to, 1, 2);
        return look(written) + look(sorted) + look(to) + look("a,b".split(",")) + look(to.clone())
                + look(List.of(new long[] {5}, Stream.of("c", null).toArray()).toArray())
                + look(Stream.of("d").toArray(String[]::new)) + look(read()) + look(new short[4]) + look("".repeat(3).getBytes()) + look(new float[] {1})
                + look(DoubleStream.of(0.5, -0.0).toArray()) + look("x".repeat(65).toCharArray())
                + look(deep()) + look(entered());
    }

    public static void main(String[] args) throws Exception {
        constructors();
        System.out.println(references());
        System.out.println(around());
        System.out.println(handles());
        System.out.println(filled());
    }
}
