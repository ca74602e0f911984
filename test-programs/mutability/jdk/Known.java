import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

// What is known of the JDK's methods, and what they ask their arguments.
class Known {
    volatile int count;
    Known next;
    static final AtomicIntegerFieldUpdater<Known> UPDATER =
            AtomicIntegerFieldUpdater.newUpdater(Known.class, "count");
    static final VarHandle COUNT;
    static final VarHandle NEXT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Known.class, "count", int.class);
            NEXT = MethodHandles.lookup().findVarHandle(Known.class, "next", Known.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static int increment(AtomicInteger i) { return i.incrementAndGet(); } // expect i: mutable
    static int look(AtomicInteger i) { return i.get(); } // expect i: immutable
    static void sum(AtomicLong l) { l.addAndGet(2); } // expect l: mutable
    static void set(AtomicIntegerArray a) { a.set(0, 1); } // expect a: mutable
    static void update(AtomicReference<Known> r) { r.updateAndGet(k -> null); } // expect r: mutable
    static void swap(AtomicReference<Known> r, Known k) { r.compareAndSet(null, k); } // expect r: mutable, k: immutable
    static void updated(Known k) { UPDATER.incrementAndGet(k); } // expect k: mutable
    static int updatedLook(Known k) { return UPDATER.get(k); } // expect k: immutable
    static void handle(Known k) { COUNT.setVolatile(k, 3); } // expect k: mutable
    static boolean handleSwap(Known k) { return COUNT.compareAndSet(k, 3, 4); } // expect k: mutable
    static int handleLook(Known k) { return (int) COUNT.getAcquire(k); } // expect k: immutable
    static void handleThrough(Known k) { ((Known) NEXT.get(k)).count = 1; } // expect k: mutable
    static int identity(Known k) { return System.identityHashCode(k); } // expect k: immutable
    static void append(StringBuilder b, CharSequence c) { b.append(c); } // expect b: mutable, c: immutable
    static void fill(List<Known> list, Known[] array) { list.toArray(array); } // expect list: immutable, array: mutable
    static void filled(List<Known> list, Known[] array) { list.toArray(array)[0].count = 1; } // expect list: mutable, array: mutable
    static void copied(List<Known> list) { list.toArray()[0] = null; } // expect list: immutable
    static long consume(Stream<Known> s) { return s.count(); } // expect s: mutable
    static long streamed(List<Known> list) { return list.stream().filter(k -> k != null).count(); } // expect list: immutable
    static boolean optional(Optional<Known> o) { return o.isPresent(); } // expect o: immutable

    // Reading it reorders it.
    static class Recent extends LinkedHashMap<String, Known> {
        Recent() { super(16, 0.75f, true); } // expect this: mutable
        Known find(String key) { return get(key); } // expect this: mutable
    }

    static Known recent(Recent r) { return r.get("a"); } // expect r: mutable
    static int recentSize(Recent r) { return r.size(); } // expect r: immutable

    // Whoever asks it changes it.
    static class Asked {
        int times;
        @Override public String toString() { return "" + ++times; } // expect this: mutable
        @Override public int hashCode() { return ++times; } // expect this: mutable
        @Override public boolean equals(Object o) { return ++times == 0 || this == o; } // expect this: mutable, o: immutable
    }

    static String concat(Asked a) { return "x" + a; } // expect a: mutable
    static String words(Asked a) { return String.valueOf(a); } // expect a: mutable
    static String appended(Asked a) { return new StringBuilder().append(a).toString(); } // expect a: mutable
    static void printed(Asked a) { System.out.println(a); } // expect a: mutable
    static int hash(Asked a) { return Objects.hashCode(a); } // expect a: mutable
    static boolean equal(Asked a, Asked b) { return Objects.equals(a, b); } // expect a: mutable, b: immutable
    static String ofKnown(Known k) { return "x" + k; } // expect k: immutable

    record Twice(Asked asked, Known known) { }

    static int hashOfTwice(Twice p) { return p.hashCode(); } // expect p: mutable
    static String wordsOf(Twice p) { return p.toString(); } // expect p: mutable

    record Plain(Known known, int[] numbers) { }

    static int hashOfPlain(Plain p) { return p.hashCode(); } // expect p: immutable
    static boolean equalPlain(Plain p, Plain q) { return p.equals(q); } // expect p: immutable, q: immutable
}
