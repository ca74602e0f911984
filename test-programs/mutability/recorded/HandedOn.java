import java.util.function.BiConsumer;

// What calls hand on to each other: of each, a run must show what is mutable.
class HandedOn {
    int value;

    static HandedOn same(HandedOn h) { return h; } // expect h: immutable
    static void once(HandedOn h) { same(h).value = 1; } // expect h: mutable
    static void twice(HandedOn h) { same(same(h)).value = 1; } // expect h: mutable
    static void boxed(HandedOn h) { BiConsumer<HandedOn, Integer> c = (x, i) -> x.value = i; c.accept(h, 2); } // expect h: mutable
    static void worded(HandedOn h) { BiConsumer<HandedOn, String> c = (x, s) -> x.value = 3; c.accept(h, "q"); } // expect h: mutable

    abstract static class Taker<T> {
        abstract void take(T t); // expect this: mutable
        void takeOnce(T t) { take(t); } // expect this: mutable, t: immutable
        void takeTwice(T t) { take(t); take(t); } // expect this: mutable, t: immutable
    }

    static class Words extends Taker<String> {
        int taken;
        @Override void take(String s) { taken++; } // expect this: mutable
    }

    public static void main(String[] arguments) {
        once(new HandedOn());
        twice(new HandedOn());
        boxed(new HandedOn());
        worded(new HandedOn());
        new Words().takeOnce("q");
        new Words().takeTwice("q");
    }
}
