import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

// What the JDK's code may run of the program's, and what it does not.
class Iterated implements Iterable<Iterated> {
    int value;
    Iterated next;

    // Never called, but it might be on an iterator that nobody knows.
    static class Cursor implements Iterator<Iterated> {
        private final Iterated owner;
        private Iterated at;

        Cursor(Iterated owner) { this.owner = owner; at = owner; } // expect this: mutable, owner: immutable
        public boolean hasNext() { return at != null; } // expect this: immutable
        public Iterated next() { Iterated found = at; at = at.next; return found; } // expect this: mutable
        public void remove() { owner.next = owner.next.next; } // expect this: mutable
    }

    // Looks ahead, as parsers do.
    static class Ahead implements Iterator<String> {
        private int looked;

        public boolean hasNext() { looked++; return false; } // expect this: mutable
        public String next() { return ""; } // expect this: immutable
    }

    // Words for it change it; nobody asks for them here.
    static class Worded {
        int asked;
        Number number;

        Worded(Number number) { this.number = number; } // expect this: mutable, number: immutable
        @Override public int hashCode() { return asked++; } // expect this: mutable
        @Override public boolean equals(Object other) { asked++; return this == other; } // expect this: mutable, other: immutable
    }

    public Iterator<Iterated> iterator() { return new Cursor(this); } // expect this: immutable
    int sum() { int s = 0; for (Iterated i : this) { s += i.value; } return s; } // expect this: immutable
    static int sumOf(Iterable<Iterated> all) { int s = 0; for (Iterated i : all) { s += i.value; } return s; } // expect all: immutable
    void poke() { for (Iterated i : this) { i.value = 1; } } // expect this: mutable
    void drop() { Iterator<Iterated> i = iterator(); i.next(); i.remove(); } // expect this: mutable
    static int sumList(ArrayList<Iterated> list) { int s = 0; for (Iterated i : list) { s += i.value; } return s; } // expect list: immutable
    static void keep(List<Worded> list, Number n) { list.add(new Worded(n)); } // expect list: mutable, n: immutable
    static void each(ArrayList<Iterated> list, Consumer<Iterated> c) { list.forEach(i -> i.value = 2); } // expect list: mutable, c: immutable
}
