import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/** What traces tell. Each public static method without parameters is run, by name. */
class Traced {
    int number;
    long wide;
    double real;
    float small;
    boolean flag;
    byte tiny;
    char letter;
    short brief;
    Object reference;
    Traced next;
    static int counter;
    static long total;
    static Object shared;

    // Calls

    static int add(int a, int b) {
        return a + b;
    }

    static long mixed(long a, Object b, double c, int d, float e, String f) {
        return a + d + (long) c;
    }

    static void many(Object a, int b, Object c, int d, Object e, long f, Object g, int h, double i, Object j,
            int k, long l, Object m, float n, byte o) {}

    static int varied(String... words) {
        return words.length;
    }

    static int factorial(int n) {
        return n == 0 ? 1 : n * factorial(n - 1);
    }

    public static Object calls() {
        many("a", 1, "c", 2, "e", 3, "g", 4, 5, "j", 6, 7, "m", 8, (byte) 9);
        return add(1, 2) + mixed(3, "b", 4.5, 5, 1.5f, null) + varied("x", "y") + factorial(3);
    }

    static synchronized int locked(int n) {
        return n + 1;
    }

    synchronized Traced lockedToo() {
        return this;
    }

    interface Greeter {
        String name();

        default String greet() {
            return "hello " + name();
        }

        static Greeter of(String name) {
            return () -> name;
        }
    }

    static class Base<T> {
        T identity(T value) {
            return value;
        }
    }

    static class Derived extends Base<String> {
        @Override
        String identity(String value) {
            return super.identity(value);
        }
    }

    public static Object callsOfKinds() {
        IntUnaryOperator twice = n -> n * 2;
        Supplier<Traced> make = Traced::new;
        Base<String> bridged = new Derived();
        return Greeter.of("you").greet() + locked(3) + (make.get().lockedToo() != null)
            + twice.applyAsInt(4) + bridged.identity("me");
    }

    static boolean isEven(int n) {
        return n % 2 == 0;
    }

    static char letter(boolean upper, char c, byte b, short s) {
        return upper ? Character.toUpperCase(c) : c;
    }

    static float half(float x) {
        return x / 2;
    }

    static double root(double x) {
        return Math.sqrt(x);
    }

    public static Object results() {
        return isEven(3) + " " + letter(true, 'x', (byte) -1, (short) -2) + " " + half(3) + " " + root(4);
    }

    // Loops that begin at offset 0

    static int loop(int n) {
        while (true) {
            if (n > 2) {
                return n;
            }
            n++;
        }
    }

    static void spin(int[] left) {
        do {
            left[0]--;
        } while (left[0] > 0);
    }

    public static Object loops() {
        spin(new int[] {2});
        return loop(0);
    }

    // Exceptions

    static void deep(int n) {
        if (n == 0) {
            throw new IllegalStateException("deep");
        }
        deep(n - 1);
    }

    static int cleaned(int n) {
        try {
            deep(n);
            return 1;
        } finally {
            counter++;
        }
    }

    static Object caughtIn(int n) {
        try {
            return cleaned(n);
        } catch (IllegalStateException | IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    static int held(Object lock) {
        synchronized (lock) {
            deep(0);
            return 0;
        }
    }

    public static Object exceptions() {
        counter = 0;
        String text = "" + caughtIn(2);
        try {
            held(new Object());
        } catch (IllegalStateException e) {
            text += add(1, 1);
        } finally {
            text += counter;
        }
        deep(1);
        return text;
    }

    static int nested(int n) {
        try {
            try {
                return 10 / n;
            } finally {
                counter = 1;
                deep(0);
            }
        } catch (RuntimeException e) {
            return counter;
        } finally {
            counter = 5;
        }
    }

    public static Object finallies() {
        return nested(0) + nested(1);
    }

    synchronized long failing(long n) {
        deep(0);
        return n;
    }

    /** The handler overwrites the variable of {@code this}, whose monitor is released after it. */
    public static Object failingSynchronized() {
        Traced it = new Traced();
        try {
            return it.failing(1);
        } catch (IllegalStateException e) {
            return Thread.holdsLock(it);
        }
    }

    // Writes and reads

    void setAll(Traced other) {
        number = 1;
        wide = 2;
        real = 3;
        small = 4;
        flag = true;
        tiny = (byte) 200;
        letter = 'c';
        brief = -3;
        reference = other;
        next = this;
        counter = 6;
        total = 7L;
        shared = other;
    }

    String all() {
        return number + " " + wide + " " + real + " " + small + " " + flag + " " + tiny + " " + letter + " " + brief
            + " " + (reference == next) + counter + total + (shared != null);
    }

    public static Object fields() {
        Traced it = new Traced();
        it.setAll(it);
        return it.all();
    }

    public static Object compound() {
        Traced it = new Traced();
        it.number += 5;
        it.wide++;
        it.real *= 2;
        it.tiny--;
        int a = it.number++ + ++it.number;
        long b = it.wide = total = 12;
        counter = counter++ + a;
        int[] ints = {1, 2, 3};
        long[] longs = {1, 2, 3};
        int i = 0;
        ints[i++] += 4;
        ints[i++]++;
        longs[--i] *= 5;
        long c = longs[0] = longs[1];
        return a + b + c + ints[1] + i;
    }

    static void choose(Traced it, boolean yes, int[] array) {
        it.number = yes ? 1 : 2;
        it.wide = yes ? 1 : it.number;
        array[yes ? 0 : 1] = yes ? it.number : 4;
        if (yes) {
            it.real = 2;
        }
        it.reference = yes ? it : array;
        for (int at = 0; at < 2; at++) {
            it.number = at;
        }
    }

    public static Object jumps() {
        Traced it = new Traced();
        choose(it, true, new int[2]);
        choose(it, false, new int[2]);
        return it.number;
    }

    public static Object arrays() {
        boolean[] flags = {true, false};
        byte[] bytes = {1, -1};
        char[] chars = {'a'};
        short[] shorts = {2};
        int[] ints = {3};
        long[] longs = {4};
        float[] floats = {5};
        double[] doubles = {6};
        Object[] objects = {"seven", null};
        int[][] table = {{1}, {2, 3}};
        long[][][] cube = new long[2][2][2];
        flags[1] = flags[0];
        bytes[0] = bytes[1];
        chars[0]++;
        shorts[0] += 2;
        ints[0] = ints[0] << 2;
        longs[0] = longs[0] + ints[0];
        floats[0] /= 2;
        doubles[0] -= floats[0];
        objects[1] = objects[0];
        table[1][0] = table[0][0];
        cube[1][0][1] = cube[0][1][0] - 1;
        objects[0] = table;
        return flags[1] + " " + bytes[0] + chars[0] + shorts[0] + ints[0] + longs[0] + floats[0] + doubles[0]
            + objects[1] + table[1][0] + cube[1][0][1];
    }

    static String name(Runnable failing) {
        try {
            failing.run();
            return "nothing";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName() + " ";
        }
    }

    static Traced none() {
        return null;
    }

    public static Object failedWrites() {
        Object[] strings = new String[1];
        int[] ints = new int[1];
        long[] noLongs = null;
        return name(() -> none().number = 1) + name(() -> none().wide = 1) + name(() -> strings[0] = 1)
            + name(() -> ints[1] = 1) + name(() -> noLongs[0] = 1) + name(() -> strings[-1] = null)
            + name(() -> System.arraycopy(ints, 0, ints, 0, 2)) + ints[0] + strings[0];
    }

    int[] noInts;
    double[] noDoubles;
    java.util.concurrent.atomic.AtomicInteger noAtomic;

    static void message(Runnable failing) {
        try {
            failing.run();
        } catch (NullPointerException e) {
            System.out.print("\n" + e.getMessage());
        }
    }

    /** The JVM says in its message what was null, by looking at the code. */
    public static Object messages() {
        Traced it = new Traced();
        long[][] table = new long[1][];
        message(() -> none().number = 1);
        message(() -> it.next.wide = 1);
        message(() -> it.noInts[0] = 1);
        message(() -> it.noDoubles[0] += 1);
        message(() -> table[0][1]++);
        message(() -> it.noAtomic.compareAndSet(1, 2));
        message(() -> it.noInts.clone());
        return null;
    }

    // Constructors

    static class Point {
        final int x;
        final int y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }

        Point(int both) {
            this(both, both);
        }

        Point(Point other) {
            this(other.x, other.y);
        }
    }

    static class Named extends Point {
        String name = "unnamed";

        Named(Point of, String name) {
            super(new Point(new Point(of.x)));
            this.name = name;
        }
    }

    public static Object constructors() {
        return new Named(new Point(3), "three").name;
    }

    static class Failing {
        Failing(int n) {
            deep(n);
        }
    }

    static class Child extends Failing {
        Child(int n) {
            super(n);
        }
    }

    static class Careful extends Failing {
        Careful() {
            super(10 / counter);
        }
    }

    static class Quiet extends Failing {
        Quiet(int n) {
            super(n);
        }

        static Object make() {
            try {
                return new Quiet(0);
            } catch (IllegalStateException e) {
                return add(1, 2);
            }
        }
    }

    /** Fails two constructors further up. */
    static class Grandchild extends Child {
        Grandchild() {
            super(add(0, 0));
        }
    }

    public static Object failingConstructors() {
        counter = 0;
        String text = Quiet.make() + name(Careful::new) + name(Grandchild::new);
        Child[] made = new Child[1];
        text += name(() -> made[0] = new Child(0));
        return text + made[0];
    }

    static class Soft {
        Soft(int n) {
            if (n == 0) {
                throw new IllegalStateException("soft");
            }
        }
    }

    static class Shell extends Soft {
        Shell inner;
        int after;

        Shell(int n) {
            super(n);
            try {
                inner = new Shell(n - 1);
            } catch (IllegalStateException e) {
                after = add(n, n);
            }
        }
    }

    public static Object constructorsInConstructors() {
        return new Shell(2).inner.after;
    }

    class Inner {
        int own = number + 1;

        int sum() {
            return own + number;
        }

        class Core {
            final int x = own + number;
        }
    }

    static abstract class Early {
        Early() {
            seen();
        }

        abstract void seen();
    }

    public static Object innerClasses() {
        Traced it = new Traced();
        it.number = 4;
        Inner inner = it.new Inner();
        long captured = it.number * 2L;
        Object[] out = new Object[1];
        new Early() {
            @Override
            void seen() {
                out[0] = captured + it.number;
            }
        };
        Inner.Core core = inner.new Core();
        return inner.sum() + " " + out[0] + " " + core.x;
    }

    static class Initialised {
        static final int[] TABLE = {1, 2};
        static int sum = 0;

        static {
            for (int n : TABLE) {
                sum += n;
            }
        }
    }

    static class Broken {
        static int value = 10 / (counter - counter);
    }

    public static Object staticInitialisers() {
        try {
            Broken.value = 3;
        } catch (ExceptionInInitializerError e) {
            counter = 1;
        }
        return Initialised.sum;
    }

    enum Colour {
        RED {
            @Override
            int code() {
                return 1;
            }
        },
        BLUE;

        int code() {
            return ordinal();
        }
    }

    record Pair(int left, Object right) {
        Pair {
            if (left < 0) {
                throw new IllegalArgumentException();
            }
        }
    }

    public static Object enumsAndRecords() {
        int sum = 0;
        for (Colour colour : Colour.values()) {
            sum += colour == Colour.RED ? colour.code() : 10 + colour.code();
        }
        return sum + new Pair(1, null).left() + name(() -> new Pair(-1, "x"));
    }

    // Bulk writes

    static class Sheep implements Cloneable {
        int wool = 3;
        int[] legs = {1, 2, 3, 4};

        @Override
        public Sheep clone() {
            try {
                Sheep copy = (Sheep) super.clone();
                copy.legs = legs.clone();
                return copy;
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static class Lamb extends Sheep {
        long age = 1;

        @Override
        public Lamb clone() {
            return (Lamb) super.clone();
        }
    }

    public static Object bulk() {
        int[] from = {1, 2, 3};
        int[] to = new int[4];
        System.arraycopy(from, 1, to, 2, 2);
        int[][] rows = {from, to};
        int[][] same = rows.clone();
        Arrays.fill(from, 7);
        Arrays.fill(from, 0, 1, 8);
        double[] doubles = new double[2];
        Arrays.fill(doubles, 0.5);
        Object[] objects = new Object[2];
        Arrays.fill(objects, "all");
        Arrays.sort(from);
        Lamb lamb = new Lamb();
        lamb.legs[0] = 9;
        Lamb copy = lamb.clone();
        return Arrays.toString(same[0]) + Arrays.toString(to) + copy.wool + copy.legs[0] + copy.age + doubles[1];
    }

    public static Object atomics() throws Exception {
        java.util.concurrent.atomic.AtomicInteger atomic = new java.util.concurrent.atomic.AtomicInteger(3);
        int sum = atomic.getAndIncrement() + atomic.addAndGet(5);
        atomic.set(sum);
        Traced it = new Traced();
        java.lang.invoke.VarHandle handle =
            java.lang.invoke.MethodHandles.lookup().findVarHandle(Traced.class, "wide", long.class);
        handle.set(it, 4L);
        boolean done = handle.compareAndSet(it, 4L, 5L);
        long before = (long) handle.getAndAdd(it, 2L);
        java.lang.reflect.Field field = Traced.class.getDeclaredField("real");
        field.setDouble(it, 1.5);
        return sum + " " + done + before + it.wide + it.real;
    }

    // Nothing is kept alive

    private static final class Big {
        final Object self = this;
    }

    private static Big[] big() {
        return new Big[] {new Big()};
    }

    public static Object weak() throws Exception {
        Big[] array = new Big[2];
        array[0] = new Big();
        Object[] copy = new Object[2];
        System.arraycopy(array, 0, copy, 0, 1);
        WeakReference<Big> reference = new WeakReference<>(array[0]);
        array = null;
        copy = null;
        for (int at = 0; at < 50 && reference.get() != null; at++) {
            System.gc();
            Thread.sleep(1);
        }
        // The reference recorder itself keeps everything.
        return reference.get() == null || System.getProperty("hindsight.trace") != null;
    }

    // Threads

    public static Object threads() throws InterruptedException {
        ArrayList<Integer> results = new ArrayList<>();
        Thread thread = new Thread(() -> results.add(factorial(2)), "other");
        thread.start();
        thread.join();
        return results.get(0);
    }
}
