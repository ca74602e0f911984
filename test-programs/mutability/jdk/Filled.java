import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
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
}
