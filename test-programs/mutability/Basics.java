// Fields, arrays, statics, aliases, recursion, exceptions.
class Cell {
    int value;
    Cell next;
    Object content;
    static Cell shared;

    int get() { return value; } // expect this: immutable
    void set(int v) { value = v; } // expect this: mutable
    Cell self() { return this; } // expect this: immutable
    void link(Cell other) { next = other; } // expect this: mutable, other: immutable
    void setNext(int v) { next.value = v; } // expect this: mutable
    Cell copy() { Cell c = new Cell(); c.value = value; c.next = next; return c; } // expect this: immutable
    int sum() { int s = 0; for (Cell c = this; c != null; c = c.next) { s += c.value; } return s; } // expect this: immutable
    void clear() { for (Cell c = this; c != null; c = c.next) { c.value = 0; } } // expect this: mutable
}

class Basics {
    static int readDeep(Cell a) { return a.next.next.value; } // expect a: immutable
    static void writeDeep(Cell a) { a.next.next.value = 1; } // expect a: mutable
    static void viaLocal(Cell a) { Cell b = a; b.value = 1; } // expect a: mutable
    static void viaGetter(Cell a) { a.self().value = 1; } // expect a: mutable
    static void reassigned(Cell a) { a = new Cell(); a.value = 1; } // expect a: immutable
    static void fresh(Cell a) { Cell b = new Cell(); b.next = a; b.value = 2; } // expect a: immutable
    static void throughFresh(Cell a) { Cell b = new Cell(); b.next = a; b.next.value = 2; } // expect a: mutable
    static void index(int[] xs, Cell a) { xs[a.value] = 0; } // expect xs: mutable, a: immutable
    static void oneOf(Cell a, Cell b, boolean c) { Cell d = c ? a : b; d.value = 1; } // expect a: mutable, b: mutable
    static int compare(Cell a, Cell b) { return a.value - b.value; } // expect a: immutable, b: immutable
    static void swap(Cell a, Cell b) { int t = a.value; a.value = b.value; b.value = t; } // expect a: mutable, b: mutable
    static Cell choose(Cell a, Cell b) { return a.value > 0 ? a : b; } // expect a: immutable, b: immutable
    static void writeChosen(Cell a, Cell b) { choose(a, b).value = 3; } // expect a: mutable, b: mutable
    static void copied(Cell a) { a.copy().value = 1; } // expect a: immutable
    static void copiedDeep(Cell a) { a.copy().next.value = 1; } // expect a: mutable
    static void setter(Cell a) { a.set(1); } // expect a: mutable
    static void nextSetter(Cell a) { a.next.set(1); } // expect a: mutable
    static void freshSetter(Cell a) { Cell c = new Cell(); c.set(a.value); } // expect a: immutable
    static void linked(Cell a, Cell b) { a.link(b); } // expect a: mutable, b: immutable
    static void linkedAndWritten(Cell a, Cell b) { a.link(b); a.next.value = 1; } // expect a: mutable, b: mutable
    static void freshLinked(Cell a) { Cell c = new Cell(); c.link(a); c.setNext(4); } // expect a: mutable
    static void aliased(Cell a, Cell b, Cell c) { a.next = c; b.next.value = 1; } // expect a: mutable, b: mutable, c: mutable

    // Arrays.
    static int sum(int[] xs) { int s = 0; for (int x : xs) { s += x; } return s; } // expect xs: immutable
    static void zero(int[] xs) { for (int i = 0; i < xs.length; i++) { xs[i] = 0; } } // expect xs: mutable
    static void put(Object[] xs, Object x) { xs[0] = x; } // expect xs: mutable, x: immutable
    static void element(Cell[] xs) { xs[0].value = 1; } // expect xs: mutable
    static int readElement(Cell[] xs) { return xs[0].value; } // expect xs: immutable
    static void matrix(int[][] m) { m[0][1] = 1; } // expect m: mutable
    static int[] copyOf(int[] xs) { int[] ys = new int[xs.length]; System.arraycopy(xs, 0, ys, 0, xs.length); return ys; } // expect xs: immutable
    static void copyInto(int[] xs, int[] ys) { System.arraycopy(xs, 0, ys, 0, xs.length); } // expect xs: immutable, ys: mutable
    static void cloned(int[] xs) { int[] ys = xs.clone(); ys[0] = 1; } // expect xs: immutable
    static void clonedElements(Cell[] xs) { Cell[] ys = xs.clone(); ys[0].value = 1; } // expect xs: mutable
    static void copiedElements(Cell[] xs) { Cell[] ys = new Cell[1]; System.arraycopy(xs, 0, ys, 0, 1); ys[0].value = 1; } // expect xs: mutable
    static int count(Object... xs) { return xs.length; } // expect xs: immutable
    static int callsVarargs(Cell a, Cell b) { return count(a, b); } // expect a: immutable, b: immutable
    static void clearAll(Cell... xs) { for (Cell x : xs) { x.clear(); } } // expect xs: mutable
    static void callsClearAll(Cell a, Cell b) { clearAll(a, b); } // expect a: mutable, b: mutable

    // Statics.
    static void keep(Cell a) { Cell.shared = a; } // expect a: immutable
    static void keepAndWrite(Cell a) { Cell.shared = a; Cell.shared.value = 1; } // expect a: mutable
    static void writeStatic(Cell a) { Cell.shared.value = a.value; } // expect a: immutable

    // Recursion.
    static int depth(Cell a) { return a == null ? 0 : 1 + depth(a.next); } // expect a: immutable
    static void wipe(Cell a) { if (a != null) { a.value = 0; wipe(a.next); } } // expect a: mutable
    static boolean even(Cell a) { return a == null || odd(a.next); } // expect a: immutable
    static boolean odd(Cell a) { return a != null && even(a.next); } // expect a: immutable
    static void ping(Cell a, int n) { if (n > 0) { pong(a.next, n - 1); } } // expect a: mutable
    static void pong(Cell a, int n) { a.value = n; ping(a, n); } // expect a: mutable
    static void turns(Cell a, Cell b, int n) { if (n == 0) { a.value = 1; } else { turns(b, a, n - 1); } } // expect a: mutable, b: mutable
    static void innermost(Cell a, int n) { if (n > 0) { innermost(new Cell(), n - 1); } else { a.value = 1; } } // expect a: mutable
    static Cell last(Cell a) { return a.next == null ? a : last(a.next); } // expect a: immutable
    static void writeLast(Cell a) { last(a).value = 1; } // expect a: mutable

    // Exceptions.
    static class Failure extends RuntimeException {
        Cell cell;
        Failure(Cell c) { cell = c; } // expect this: mutable, c: immutable
    }
    static void fail(Cell a) { throw new Failure(a); } // expect a: immutable
    static void caught(Cell a) { try { fail(a); } catch (Failure f) { f.cell.value = 1; } } // expect a: mutable
    static void caughtHere(Cell a) { try { throw new Failure(a); } catch (Failure f) { f.cell.value = 1; } } // expect a: mutable
    static class Marked extends RuntimeException {
        int mark;
    }
    static void rethrow(Marked m) { throw m; } // expect m: immutable
    static void rethrown(Marked m) { try { rethrow(m); } catch (Marked e) { e.mark = 1; } } // expect m: mutable
    static int finallyReads(Cell a) { try { return a.value; } finally { System.out.println(a.next); } } // expect a: immutable
    static void finallyWrites(Cell a) { try { System.out.println(); } finally { a.value = 1; } } // expect a: mutable
}
