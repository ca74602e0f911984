import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

// A call runs the lambdas that get there, and no others.
class Handed {
    int value;
    Handed next;

    static void look(Handed h, Consumer<Handed> c) { c.accept(h); } // expect h: immutable, c: mutable
    static void poke(Handed h, Consumer<Handed> c) { c.accept(h); } // expect h: mutable, c: immutable
    static int lookOver(Handed h) { int[] sum = new int[1]; look(h, x -> sum[0] += x.value); return sum[0]; } // expect h: immutable
    static void pokeOver(Handed h) { poke(h, x -> x.value = 1); } // expect h: mutable

    // By a field.
    static class Kept {
        final Function<Handed, Integer> poking;
        final Function<Handed, Integer> looking;

        Kept() { poking = h -> h.value++; looking = h -> h.value; } // expect this: mutable
        int poke(Handed h) { return poking.apply(h); } // expect this: immutable, h: mutable
        int look(Handed h) { return looking.apply(h); } // expect this: immutable, h: immutable
    }

    // By a result, through the JDK.
    static Consumer<Handed> maker() { return h -> h.value = 2; }
    static void made(Handed h) { Objects.requireNonNull(maker()).accept(h); } // expect h: mutable
    static void chained(Handed h) { Consumer<Handed> first = x -> { }; first.andThen(x -> x.value = 3).accept(h); } // expect h: mutable

    // What a collection holds may be any.
    static final List<Consumer<Handed>> ALL = new ArrayList<>();
    static void register() { ALL.add(h -> h.value = 4); }
    static void tell(Handed h) { for (Consumer<Handed> c : ALL) { c.accept(h); } } // expect h: mutable

    // One that another one makes.
    static Supplier<Consumer<Handed>> curried() { return () -> h -> h.value = 5; }
    static void curry(Handed h) { curried().get().accept(h); } // expect h: mutable

    // The JDK runs it, and changes nothing else.
    static int supplied(Handed h) { return java.util.concurrent.CompletableFuture.supplyAsync(() -> h.value).join(); } // expect h: immutable
    static void run(Handed h) { java.util.concurrent.CompletableFuture.runAsync(() -> h.value = 6).join(); } // expect h: mutable
    static int sum(java.util.Map<String, Handed> all) { int[] sum = new int[1]; all.forEach((k, h) -> sum[0] += h.value); return sum[0]; } // expect all: immutable
    static void clear(java.util.Map<String, Handed> all) { all.forEach((k, h) -> h.value = 0); } // expect all: mutable
}
