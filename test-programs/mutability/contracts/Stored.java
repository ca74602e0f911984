import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

// What is stored in an object comes by the same ways as that, and is not written where that is.
class Stored {
    int count;
    Stored bus;
    State state = State.ON;
    Linked linked;
    Deque<State> past = new ArrayDeque<>();
    List<Listener> listeners = new ArrayList<>();
    Map<String, List<Listener>> named = new HashMap<>();
    Map<String, List<Object>> things = new HashMap<>();
    Linked[] slots = new Linked[1];

    enum State { ON, OFF }

    interface Listener {
        void hear(String what);
    }

    static class Counter implements Listener {
        int heard;

        @Override public void hear(String what) { heard++; } // expect this: mutable
    }

    static class Linked {
        int value;
        Stored to;
    }

    int fire(String what) { count++; for (Listener one : listeners) one.hear(what); return count; } // expect this: mutable

    void addToAll(Listener l) { for (List<Listener> all : named.values()) all.add(l); } // expect this: mutable, l: immutable
    boolean removeOfAll(Listener l) { boolean is = false; for (List<Listener> all : named.values()) is |= all.remove(l); return is; } // expect this: mutable, l: immutable
    void keep(State s) { state = s; bus.fire("kept"); } // expect this: mutable, s: immutable
    void push(State s) { past.push(s); bus.fire("pushed"); } // expect this: mutable, s: immutable
    void pushOld(State s) { past.push(state); state = s; bus.fire(s.name()); } // expect this: mutable, s: immutable
    void fill(Linked l) { for (int i = 0; i < slots.length; i++) { slots[i] = l; } count++; } // expect this: mutable, l: immutable

    // A view is no instance of what it is a view of.
    void setInView(Linked l) { java.util.Arrays.asList(slots).set(0, l); } // expect this: mutable, l: immutable
    static void setInViewOf(Linked[] all, Linked l) { java.util.Arrays.asList(all).set(0, l); } // expect all: mutable, l: immutable
    void clearByView() { named.keySet().clear(); } // expect this: mutable
    static void clearByViewOf(HashMap<String, State> m) { m.values().clear(); } // expect m: mutable

    // The same ways, where it may be what is written, or lead to that.
    void addAny(Object l) { for (List<Object> all : things.values()) all.add(l); for (List<Object> all : things.values()) ((List<?>) all.get(0)).clear(); } // expect this: mutable, l: mutable
    void hearAll(Listener l) { for (List<Listener> all : named.values()) all.add(l); for (List<Listener> all : named.values()) all.get(0).hear(""); } // expect this: mutable, l: mutable
    void keepCounter(Counter c) { listeners.add(c); fire("kept"); } // expect this: mutable, c: mutable
    void keepListener(Listener l) { listeners.add(l); fire("kept"); } // expect this: mutable, l: mutable
    void keepLinked(Linked l) { linked = l; linked.to.fire("kept"); } // expect this: mutable, l: mutable
    void keepWritten(Linked l) { linked = l; linked.value = 1; } // expect this: mutable, l: mutable
    void fillWritten(Linked l) { slots[0] = l; for (Linked one : slots) one.value = 1; } // expect this: mutable, l: mutable
}
