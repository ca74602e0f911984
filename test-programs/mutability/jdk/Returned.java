import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Stack;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicReference;

// Methods of the JDK return what they got, or what that leads to, and it is written here.
class Returned {
    int value;

    static class Holder {
        Returned held;
    }

    static void required(Returned r) { Objects.requireNonNull(r).value = 1; } // expect r: mutable
    static void requiredElse(Returned r) { Objects.requireNonNullElse(r, new Returned()).value = 1; } // expect r: mutable
    static void optional(Optional<Returned> o) { o.get().value = 1; } // expect o: mutable
    static void atomic(AtomicReference<Returned> a) { a.get().value = 1; } // expect a: mutable
    static void queue(ArrayDeque<Returned> q) { q.peek().value = 1; } // expect q: mutable
    static void list(ArrayList<Returned> l) { l.get(0).value = 1; } // expect l: mutable
    static void linked(LinkedList<Returned> l) { l.getFirst().value = 1; } // expect l: mutable
    static void vector(Vector<Returned> v) { v.elementAt(0).value = 1; } // expect v: mutable
    static void stack(Stack<Returned> s) { s.peek().value = 1; } // expect s: mutable
    static void priority(PriorityQueue<Returned> q) { q.peek().value = 1; } // expect q: mutable
    static void entry(AbstractMap.SimpleEntry<String, Returned> e) { e.getValue().value = 1; } // expect e: mutable
    static void cast(Class<Returned> c, Object o) { c.cast(o).value = 1; } // expect o: mutable
    static void handler(Thread t) { ((Returned) (Object) t.getUncaughtExceptionHandler()).value = 1; } // expect t: mutable
    static void callsOne(Returned r) { required(r); } // expect r: mutable
    // Not the argument itself, but what leads to it.
    static void inArray(Returned r) { Returned[] a = {r}; Arrays.asList(a).get(0).value = 1; } // expect r: mutable
    static void held(Returned r) { Holder h = new Holder(); h.held = r; Objects.requireNonNull(h).held.value = 1; } // expect r: mutable
    static void inList(Returned[] all) { List<Returned> l = Arrays.asList(all); l.get(0).value = 1; } // expect all: mutable
    // Only read.
    static int read(Returned r) { return Objects.requireNonNull(r).value; } // expect r: immutable
    static int readList(ArrayList<Returned> l) { return l.get(0).value; } // expect l: immutable
}
