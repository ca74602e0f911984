import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

// What the JDK has from code that it runs it stores, and hands on.
class Filled {
    int value;
    Filled next;

    static class Box {
        final Filled held;
        Box(Filled f) { held = f; } // expect this: mutable, f: immutable
    }

    static void array(Filled f) { Filled[] all = new Filled[1]; Arrays.setAll(all, i -> f); all[0].value = 1; } // expect f: mutable
    static void parallel(Filled f) { Filled[] all = new Filled[1]; Arrays.parallelSetAll(all, i -> f); all[0].value = 1; } // expect f: mutable
    static void element(Filled[] f) { Filled[] all = new Filled[1]; Arrays.setAll(all, i -> f[i]); all[0].value = 1; } // expect f: mutable
    static void boxed(Filled f) { Box[] all = new Box[1]; Arrays.setAll(all, i -> new Box(f)); all[0].held.value = 1; } // expect f: mutable
    static int looked(Filled f) { Filled[] all = new Filled[1]; Arrays.setAll(all, i -> f); return all[0].value; } // expect f: immutable
    static void fill(Filled[] all, IntFunction<Filled> by) { Arrays.setAll(all, by); } // expect all: mutable, by: immutable
    static void passed(Filled f) { Filled[] all = new Filled[1]; fill(all, i -> f); all[0].value = 1; } // expect f: mutable
    static void replaced(Filled f) { List<Filled> all = new ArrayList<>(); all.add(null); all.replaceAll(x -> f); all.get(0).value = 1; } // expect f: mutable
    static void computed(Filled f) { Map<String, Filled> all = new HashMap<>(); all.computeIfAbsent("a", k -> f); all.get("a").value = 1; } // expect f: mutable
    static void updated(Filled f) { AtomicReference<Filled> one = new AtomicReference<>(); one.updateAndGet(x -> f); one.get().value = 1; } // expect f: mutable
    static void mapped(Filled f) { Stream.of(1).map(i -> f).forEach(x -> x.value = 1); } // expect f: mutable
    static void numbered(Filled f) { IntStream.range(0, 1).mapToObj(i -> f).forEach(x -> x.value = 1); } // expect f: mutable
    static int summed(Filled f) { return Stream.of(1).map(i -> f).mapToInt(x -> x.value).sum(); } // expect f: immutable
    static void collected(Filled f) { Stream.of("a").collect(Collectors.toMap(x -> x, x -> f)).get("a").value = 1; } // expect f: mutable
    static void optional(Filled f) { Optional.of(1).map(x -> f).get().value = 1; } // expect f: mutable

    // Functions of the JDK's own.
    static void same(Filled f) { Function<Filled, Filled> id = Function.identity(); id.apply(f).value = 1; } // expect f: mutable
    static void sameToo(Filled f) { UnaryOperator<Filled> id = UnaryOperator.identity(); id.apply(f).value = 1; } // expect f: mutable
    static int sameLooked(Filled f) { Function<Filled, Filled> id = Function.identity(); return id.apply(f).value; } // expect f: immutable

    static void set(Filled f) { List<Filled> all = new ArrayList<>(); all.add(null); ListIterator<Filled> at = all.listIterator(); at.next(); at.set(f); all.get(0).value = 1; } // expect f: mutable
    static void shuffle(List<Filled> all, Random random) { java.util.Collections.shuffle(all, random); } // expect all: mutable, random: mutable
    static void rest(List<Filled> all) { all.iterator().forEachRemaining(x -> x.value = 1); } // expect all: mutable
    static int restOf(List<Filled> all) { int[] sum = new int[1]; all.iterator().forEachRemaining(x -> sum[0] += x.value); return sum[0]; } // expect all: immutable
}
