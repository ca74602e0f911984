import java.util.function.Consumer;
import java.util.function.Function;

// A lambda has more methods than its own: those that its interface has bodies of.
class Inherited {
    int value;
    Inherited next;

    interface Step {
        void run(Inherited h);
        default void twice(Inherited h) { run(h); run(h); } // expect this: mutable, h: mutable
        default Step again() { return x -> { run(x); run(x); }; }
    }

    interface Longer extends Step {
        default void more(Inherited h) { twice(h); }
    }

    interface Pick {
        Inherited of(Inherited h);
        default Inherited twice(Inherited h) { return of(of(h)); } // expect this: immutable, h: immutable
    }

    // Of the same name as what the lambda is the body of.
    interface Pair {
        void run(Inherited h);
        default void run(Inherited one, Inherited other) { run(other); } // expect this: immutable, one: immutable, other: mutable
    }

    // A body that a lambda takes the place of again.
    interface Bare extends Step {
        void more(Inherited h);
        @Override default void run(Inherited h) { more(h); }
    }

    interface Anew extends Function<Inherited, Inherited> {
        default Inherited look(Inherited h) { return h; }
    }

    interface Hidden extends Anew {
        @Override Inherited look(Inherited h);
        @Override default Inherited apply(Inherited h) { return look(h); }
    }

    // Below the interface that the call names there is one that has a body.
    interface Plain { void one(Inherited h); }
    interface Filled extends Plain {
        void other(Inherited h);
        @Override default void one(Inherited h) { h.value = 1; } // expect this: immutable, h: mutable
    }
    // So may one be that a lambda implements beside its own.
    interface Signed { void sign(Inherited h); }
    interface Mark extends Signed {
        @Override default void sign(Inherited h) { h.value = 1; } // expect this: immutable, h: mutable
    }
    interface Other { void other(Inherited h); }
    static void signed(Signed s, Inherited h) { s.sign(h); } // expect h: mutable
    static void plain(Plain p, Inherited h) { p.one(h); } // expect h: mutable
    static void filled(Inherited h) { Filled f = x -> { }; plain(f, h); } // expect h: mutable
    static void marked(Inherited h) { signed((Other & Mark) x -> { }, h); } // expect h: mutable
    static void empty(Inherited h) { Plain p = x -> { }; plain(p, h); } // expect h: immutable

    static void use(Inherited h) { Step s = x -> x.value++; s.twice(h); } // expect h: mutable
    static void byReference(Inherited h) { Step s = Inherited::poke; s.twice(h); } // expect h: mutable
    void poke() { value = 1; } // expect this: mutable
    static void any(Step s, Inherited h) { s.twice(h); } // expect h: mutable
    static void captured(Inherited h) { Step s = x -> h.value++; s.twice(new Inherited()); } // expect h: mutable
    static void further(Inherited h) { Longer s = x -> x.value++; s.more(h); } // expect h: mutable
    static void made(Inherited h) { Step s = x -> x.value++; s.again().run(h); } // expect h: mutable
    static Step maker() { return x -> x.value++; }
    static void returned(Inherited h) { maker().twice(h); } // expect h: mutable
    static void picked(Inherited h) { Pick p = x -> x; p.twice(h).value = 1; } // expect h: mutable
    static int looked(Inherited h) { Pick p = x -> x; return p.twice(h).value; } // expect h: immutable
    static void second(Inherited one, Inherited other) { Pair p = x -> x.value++; p.run(one, other); } // expect one: immutable, other: mutable
    static void bare(Inherited h) { Bare b = x -> x.value++; b.twice(h); } // expect h: mutable
    static void anew(Inherited h) { Hidden f = x -> x; f.look(h).value = 1; } // expect h: mutable
    static void anewToo(Inherited h) { Hidden f = x -> { x.value = 1; return x; }; f.look(h); } // expect h: mutable
    static void composed(Inherited h) { Function<Integer, Inherited> f = x -> h; Function<Integer, Integer> g = y -> y; f.compose(g).apply(1).value = 1; } // expect h: mutable
    static void joined(Inherited h) { Consumer<Inherited> c = x -> x.value = 1; c.andThen(x -> { }).accept(h); } // expect h: mutable

    // The library calls it by a method that it believes to be its own.
    interface Own extends Consumer<Inherited>, Runnable {
        Inherited held();
        @Override default void accept(Inherited h) { h.value = 1; } // expect this: immutable, h: mutable
        @Override default void run() { held().value = 1; }
    }
    static void own(java.util.List<Inherited> all) { Own o = () -> null; all.forEach(o); } // expect all: mutable
    static void ran(Inherited h) { Own o = () -> h; new Thread(o).run(); } // expect h: mutable

    // A private method above is not what runs.
    static class Above { private void accept(Object o) { } }
    static class Below extends Above implements Own {
        @Override public Inherited held() { return null; } // expect this: immutable
    }
    static void below(java.util.List<Inherited> all) { all.forEach(new Below()); } // expect all: mutable

    // The same a few calls away.
    interface Far extends Consumer<Inherited> {
        Inherited none();
        @Override default void accept(Inherited h) { one(h); }
    }
    static void one(Inherited h) { two(h); } // expect h: mutable
    static void two(Inherited h) { three(h); } // expect h: mutable
    static void three(Inherited h) { h.value = 1; } // expect h: mutable
    static void far(java.util.List<Inherited> all) { Far f = () -> null; all.forEach(f); } // expect all: mutable

    static class Doer implements Own {
        Inherited kept;
        Doer(Inherited h) { kept = h; } // expect this: mutable, h: immutable
        @Override public Inherited held() { return kept; } // expect this: immutable
    }
    static void done(Inherited h) { new Thread(new Doer(h)).run(); } // expect h: mutable
}
