import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

// Overriding, generics, inner classes, lambdas, records, clones, reflection.
abstract class Shape {
    int x;
    abstract void move(int by); // expect this: mutable
    int area() { return 0; } // expect this: immutable
    static void moveAll(Shape[] all) { for (Shape s : all) { s.move(1); } } // expect all: mutable
    static int areaOf(Shape s) { return s.area(); } // expect s: immutable
}

class Square extends Shape {
    int side;
    @Override void move(int by) { x += by; } // expect this: mutable
    @Override int area() { return side * side; } // expect this: immutable
}

class Fixed extends Shape {
    @Override void move(int by) { } // expect this: immutable
}

interface Sink<T> {
    void accept(T t); // expect this: mutable
}

class CellSink implements Sink<Cell> {
    int seen;
    @Override public void accept(Cell c) { seen++; c.value = seen; } // expect this: mutable, c: mutable
}

class Box<T extends Cell> {
    T held;
    Box(T t) { held = t; } // expect this: mutable, t: immutable
    T get() { return held; } // expect this: immutable
    void poke() { held.value = 1; } // expect this: mutable
    static void poke(Box<Cell> box) { box.get().value = 1; } // expect box: mutable
    static int peek(Box<Cell> box) { return box.get().value; } // expect box: immutable
    static void pokeNew(Cell c) { new Box<>(c).poke(); } // expect c: mutable
    static int peekNew(Cell c) { return new Box<>(c).get().value; } // expect c: immutable
}

record Pair(Cell left, Cell right) {
    int sum() { return left.value + right.value; } // expect this: immutable
    void pokeLeft() { left().value = 1; } // expect this: mutable
    static void pokeRight(Pair p) { p.right().value = 1; } // expect p: mutable
    static int read(Pair p) { return p.left().value; } // expect p: immutable
    static int made(Cell a, Cell b) { return new Pair(a, b).sum(); } // expect a: immutable, b: immutable
    static void madeAndPoked(Cell a, Cell b) { new Pair(a, b).pokeLeft(); } // expect a: mutable, b: immutable
}

class Point implements Cloneable {
    int x;
    Cell cell;
    @Override public Point clone() { // expect this: immutable
        try {
            return (Point) super.clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
    static void cloned(Point p) { p.clone().x = 1; } // expect p: immutable
    static void clonedDeep(Point p) { p.clone().cell.value = 1; } // expect p: mutable
}

class Objects {
    Cell own = new Cell();

    class Inner {
        void poke() { own.value = 1; } // expect this: mutable
        int peek() { return own.value; } // expect this: immutable
    }

    void pokeInner() { new Inner().poke(); } // expect this: mutable
    int peekInner() { return new Inner().peek(); } // expect this: immutable

    static void useSink(Sink<Cell> sink, Cell c) { sink.accept(c); } // expect sink: mutable, c: mutable
    static void useCellSink(Cell c) { new CellSink().accept(c); } // expect c: mutable

    // Lambdas.
    static void run(Runnable r) { r.run(); } // expect r: mutable
    static Runnable later(Cell c) { return () -> c.value = 1; } // expect c: immutable
    static void now(Cell c) { Runnable r = () -> c.value = 1; r.run(); } // expect c: mutable
    static int readNow(Cell c) { Supplier<Integer> s = () -> c.value; return s.get(); } // expect c: immutable
    static void given(Cell c) { Consumer<Cell> set = x -> x.value = 1; set.accept(c); } // expect c: mutable
    static int applied(Cell c) { Function<Cell, Integer> f = x -> x.value; return f.apply(c); } // expect c: immutable
    static void reference(Cell c) { Runnable r = c::clear; r.run(); } // expect c: mutable
    static int readReference(Cell c) { Supplier<Integer> s = c::sum; return s.get(); } // expect c: immutable
    static void constructor(Cell c) { Function<Cell, Box<Cell>> f = Box::new; f.apply(c).poke(); } // expect c: mutable
    static void anonymous(Cell c) { new Object() { void go() { c.value = 1; } }.go(); } // expect c: mutable
    static int anonymousRead(Cell c) { return new Object() { int go() { return c.value; } }.go(); } // expect c: immutable

    // Reflection, which is not looked through.
    static void reflect(Cell c) throws Exception { // expect c: mutable
        java.lang.reflect.Field f = Cell.class.getDeclaredField("value");
        f.set(c, 1);
    }

    static Object readReflect(Cell c) throws Exception { // expect c: immutable
        java.lang.reflect.Field f = Cell.class.getDeclaredField("value");
        return f.get(c);
    }

    // Text.
    static String text(Cell c) { return "cell " + c + c.value; } // expect c: immutable
    static void append(StringBuilder b, Cell c) { b.append(c.value); } // expect b: mutable, c: immutable
    static int length(StringBuilder b) { return b.length(); } // expect b: immutable
    static String build(Cell c) { StringBuilder b = new StringBuilder(); b.append(c.value); return b.toString(); } // expect c: immutable
    static void date(java.util.Date d) { d.setTime(0); } // expect d: mutable
    static void newDate(Cell c) { java.util.Date d = new java.util.Date(); d.setTime(c.value); } // expect c: immutable
    static synchronized boolean same(Object a, Object b) { return a.equals(b); } // expect a: immutable, b: immutable
    static void locked(Cell c) { synchronized (c) { c.get(); } } // expect c: immutable
}
