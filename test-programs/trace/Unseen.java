import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

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
        Unseen.class.getDeclaredField("ticks").setInt(null, rows.length);
        return doubling.intValue() + ticks;
    }

    public static void main(String[] args) throws Exception {
        constructors();
        System.out.println(references());
        System.out.println(around());
    }
}
