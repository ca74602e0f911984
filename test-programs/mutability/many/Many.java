import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;

// What a call of many methods does beside what it does to its parameters: it changes what static
// fields lead to, puts other things there, brings exceptions. For proofs.
class Many {
    static class Box {
        int value;
        Box next;
    }

    static class Holder {
        Box box;
        Object any;
    }

    static class Thrown extends RuntimeException {
        final transient Box box;
        Thrown(Box b) { box = b; }
    }

    static Box held;
    static Holder holder = new Holder();

    interface Step {
        void run();
        int kind();
        String name(Box b);
        void take(Box b);
        void fill(Holder h);
        Holder make();
        void join(Holder one, Holder other);
    }

    static class Idle implements Step {
        int own;
        public void run() { }
        public int kind() { return 1; }
        public String name(Box b) { return b.value > 0 ? "busy" : "idle"; } // expect this: immutable, b: immutable
        public void take(Box b) { }
        public void fill(Holder h) { }
        public Holder make() { return new Holder(); }
        public void join(Holder one, Holder other) { }
    }
    static class Second extends Idle {
        @Override public void run() { held.value = 1; }
        @Override public int kind() { return 2; }
        @Override public String name(Box b) { return "second"; }
        @Override public void take(Box b) { throw new Thrown(b); }
        @Override public void fill(Holder h) { h.box = held; }
        @Override public Holder make() { return holder = new Holder(); }
        @Override public void join(Holder one, Holder other) { one.any = new Pair(other); }
    }
    static class Third extends Idle {
        @Override public void run() { holder.box.value = 1; }
        @Override public int kind() { return own; }
        @Override public String name(Box b) { return "third"; }
        @Override public void take(Box b) { own = b.value; }
        @Override public void fill(Holder h) { holder = h; }
        @Override public Holder make() { return null; }
        @Override public void join(Holder one, Holder other) { own = 1; }
    }
    static class Fourth extends Idle {
        @Override public void run() { own++; }
        @Override public int kind() { own = 4; return own; }
        @Override public String name(Box b) { return "fourth"; }
        @Override public void take(Box b) { own = 2; }
        @Override public void fill(Holder h) { own = 3; }
        @Override public Holder make() { own = 1; return null; }
        @Override public void join(Holder one, Holder other) { own = 2; }
    }
    static class Fifth extends Fourth {
        @Override public void run() { own--; }
        @Override public int kind() { return 5; }
        @Override public String name(Box b) { return "fifth"; }
        @Override public void take(Box b) { own = 3; }
        @Override public void fill(Holder h) { own = 4; }
        @Override public Holder make() { own = 2; return null; }
        @Override public void join(Holder one, Holder other) { own = 3; }
    }
    static class Sixth extends Fourth {
        @Override public void run() { own = 6; }
        @Override public int kind() { return 6; }
        @Override public String name(Box b) { return "sixth"; }
        @Override public void take(Box b) { own = 4; }
        @Override public void fill(Holder h) { own = 5; }
        @Override public Holder make() { own = 3; return null; }
        @Override public void join(Holder one, Holder other) { own = 4; }
    }
    static class Seventh extends Fourth {
        @Override public void run() { own = 7; }
        @Override public int kind() { return 7; }
        @Override public String name(Box b) { return "seventh"; }
        @Override public void take(Box b) { own = 5; }
        @Override public void fill(Holder h) { own = 6; }
        @Override public Holder make() { own = 4; return null; }
        @Override public void join(Holder one, Holder other) { own = 5; }
    }

    static class Pair {
        final Holder other;
        Pair(Holder h) { other = h; } // expect this: mutable, h: immutable
        void change() { other.box.value = 1; }
    }

    static void keep(Box b) { held = b; } // expect b: immutable
    static void kept(Box b, Step s) { held = b; s.run(); } // expect b: mutable
    static void deeper(Box b, Step s) { Holder h = new Holder(); h.box = b; holder = h; s.run(); } // expect b: mutable
    static void byOthers(Box b, Step s) { keep(b); s.run(); } // expect b: mutable
    static void thrown(Box b, Step s) { try { s.take(b); } catch (Thrown t) { t.box.value = 1; } } // expect b: mutable
    static void filled(Box b, Step s) { held = b; Holder h = new Holder(); s.fill(h); h.box.value = 1; } // expect b: mutable
    static Holder keptByOthers(Step s) { Holder h = new Holder(); s.fill(h); return h; }
    static void putLater(Box b, Step s) { keptByOthers(s).box = b; s.run(); } // expect b: mutable
    static void putInMade(Box b, Step s) { s.make().box = b; s.run(); } // expect b: mutable
    static void joined(Box b, Step s) { Holder one = new Holder(), other = new Holder(); s.join(one, other); other.box = b; ((Pair) one.any).change(); } // expect b: mutable

    // None of them changes more than itself.
    static int kind(Box b, Step s) { held = b; return s.kind(); } // expect b: immutable
    static String named(Box b, Box other, Step s) { held = b; return s.name(other); } // expect b: immutable, other: immutable

    // What the library calls back by a parameter.
    static class Key implements Comparable<Key> {
        @Override public int hashCode() { held.value = 1; return 1; }
        @Override public boolean equals(Object other) { held.value = 1; return other == this; }
        @Override public String toString() { held.value = 1; return "key"; }
        @Override public int compareTo(Key other) { held.value = 1; return 0; }
    }
    static void hashed(Box b, Object key) { held = b; new HashMap<Object, Object>().put(key, 1); } // expect b: mutable
    static void found(Box b, List<Object> all) { held = b; all.contains("x"); } // expect b: mutable
    static void shown(Box b, Object key) { held = b; String.valueOf(key); } // expect b: mutable
    static void written(Box b, Object key) { held = b; String.format("%s", key); } // expect b: mutable
    static void sorted(Box b, List<Key> keys) { held = b; Collections.sort(keys); } // expect b: mutable, keys: mutable
    static void copied(Box b, java.util.Collection<Object> all) { held = b; new ArrayList<>(all); } // expect b: mutable
    static class All extends java.util.AbstractCollection<Object> {
        @Override public int size() { held.value = 1; return 0; }
        @Override public java.util.Iterator<Object> iterator() { return Collections.emptyIterator(); }
    }

    // By reflection.
    static void field(Box b) throws Exception { Many.class.getDeclaredField("held").set(null, b); held.value = 1; } // expect b: mutable
    static void started(Box b, Thread t) throws Exception { held = b; t.start(); t.join(); } // expect b: mutable
    static class Task extends Thread {
        @Override public void run() { held.value = 1; }
    }
    static void begun(Box b) throws Exception { held = b; Class.forName("Many$Begun"); } // expect b: mutable
    static void instance(Box b, Class<?> c) throws Exception { held = b; c.newInstance(); } // expect b: mutable
    static void constants(Box b, Class<?> c) { held = b; c.getEnumConstants(); } // expect b: mutable
    static class Begun {
        static { held.value = 1; }
    }
}
