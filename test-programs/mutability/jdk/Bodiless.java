import java.util.List;

// What a method without a body does is what those do that implement it. Its parameters
// have no names.
abstract class Bodiless {
    int value;

    abstract int read(Bodiless other); // expect this: immutable, arg0: immutable
    abstract void move(Bodiless by); // expect this: mutable, arg0: immutable

    interface Listener {
        void hear(Bodiless b); // expect this: immutable, arg0: mutable
        default void twice(Bodiless b) { hear(b); hear(b); } // expect this: immutable, b: mutable
    }

    static class One extends Bodiless {
        @Override int read(Bodiless other) { return other.value; } // expect this: immutable, other: immutable
        @Override void move(Bodiless by) { value += by.value; } // expect this: mutable, by: immutable
    }

    static class Two extends Bodiless {
        @Override int read(Bodiless other) { return 2; } // expect this: immutable, other: immutable
        @Override void move(Bodiless by) { } // expect this: immutable, by: immutable
    }

    static void listen(List<Listener> all) { all.add(b -> b.value = 1); } // expect all: mutable
}
