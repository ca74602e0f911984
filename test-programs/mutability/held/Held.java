import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

// Fields that only ever hold what their class makes for them: proofs know what
// runs when they are read.
class Held {
    int value;
    private final Map<String, Held> map = new HashMap<>();
    private final List<Held> list = new ArrayList<>();

    int size() { return map.size() + list.size(); } // expect this: immutable
    // Of a map's keys the JDK's own may change when they are compared.
    Held get(String key) { return map.get(key); }
    Held first() { return list.get(0); } // expect this: immutable
    static int countOf(Held h) { return h.size(); } // expect h: immutable
    void add(Held h) { list.add(h); map.put("q", h); } // expect this: mutable
    void poke() { for (Held h : list) { h.value = 1; } } // expect this: mutable
    void pokeOne() { map.get("q").value = 1; } // expect this: mutable
    void drop() { list.iterator().remove(); } // expect this: mutable

    // Visitors, of which each accepts what it gets.
    abstract static class Visitor {
        abstract void number(Part part); // expect this: mutable, arg0: immutable
    }

    static class Counts extends Visitor {
        int count;
        @Override void number(Part part) { count++; } // expect this: mutable, part: immutable
        void countAll(Part part) { part.accept(this); } // expect this: mutable, part: immutable
    }

    static class Looks extends Visitor {
        @Override void number(Part part) { } // expect this: immutable, part: immutable
        void lookAll(Part part) { part.accept(this); } // expect this: immutable, part: immutable
        void lookTwice(Part part) { part.acceptTwice(this); } // expect this: immutable, part: immutable
    }

    static class Part {
        void accept(Visitor visitor) { visitor.number(this); } // expect this: immutable, visitor: mutable
        void acceptTwice(Visitor visitor) { accept(visitor); accept(visitor); } // expect this: immutable, visitor: mutable
    }

    static void any(Part part, Visitor visitor) { part.acceptTwice(visitor); } // expect part: immutable, visitor: mutable
}
