// What static fields lead to is written by others than those who have stored it there.
class Kept {
    static final class Box {
        int value;
        Box next;
        Object[] all = new Object[2];
    }

    static final class Cell<T> {
        private T held;
        void set(T value) { held = value; }
        T get() { return held; }
    }

    static final class Stack {
        private final Object[] elements = new Object[100];
        private int size;
        void push(Object element) { elements[size++] = element; }
        Object pop() { return elements[--size]; }
    }

    enum Only {
        ONE;

        Box box;
    }

    static Box[] array = new Box[4];
    static final Box[][] ARRAYS = new Box[2][2];
    static Object[] objects = {null};
    static Box box = new Box();
    static Box plain;
    static final Cell<Box> CELL = new Cell<>();
    static final Stack STACK = new Stack();

    static void hitArray() { array[1].value = 3; }
    static void hitArrays() { ARRAYS[1][0].value = 3; }
    static void hitObjects() { ((Box) objects[0]).value = 3; }
    static void hitNext() { box.next.value = 3; }
    static void hitAll() { ((Box) box.all[0]).value = 3; }
    static void hitPlain() { plain.value = 3; }
    static void putInArray(Box b) { array[1] = b; } // expect b: immutable
    static void putNext(Box b) { box.next = b; } // expect b: immutable
    static Box ofArray() { return array[1]; }
    static Box next() { return box.next; }

    static void plain(Box b) { plain = b; hitPlain(); } // expect b: mutable
    static void inArray(Box b) { array[1] = b; hitArray(); } // expect b: mutable
    static void inLocal(Box b) { Box[] local = array; local[1] = b; hitArray(); } // expect b: mutable
    static void inArrays(Box b) { ARRAYS[1][0] = b; hitArrays(); } // expect b: mutable
    static void inObjects(Box b) { objects[0] = b; hitObjects(); } // expect b: mutable
    static void inField(Box b) { box.next = b; hitNext(); } // expect b: mutable
    static void inArrayOfField(Box b) { box.all[0] = b; hitAll(); } // expect b: mutable
    static void byOthers(Box b) { putInArray(b); hitArray(); } // expect b: mutable
    static void byOthersInField(Box b) { putNext(b); hitNext(); } // expect b: mutable
    static void fromArray(Box b) { putInArray(b); ofArray().value = 1; } // expect b: mutable
    static void fromField(Box b) { putNext(b); next().value = 1; } // expect b: mutable
    static void hitCell() { CELL.get().value = 1; }
    static void inCell(Box b) { CELL.set(b); hitCell(); } // expect b: mutable
    static void hitStack() { ((Box) STACK.pop()).value = 1; }
    static void onStack(Box b) { STACK.push(b); hitStack(); } // expect b: mutable
    static void hitOne() { Only.ONE.box.value = 1; }
    static void inOne(Box b) { Only.ONE.box = b; hitOne(); } // expect b: mutable
    static void copied(Box b) { Box[] made = {b}; System.arraycopy(made, 0, array, 1, 1); hitArray(); } // expect b: mutable
    static void copiedAll(Box[] all) { System.arraycopy(all, 0, array, 1, 1); hitArray(); } // expect all: mutable
    static void inNew(Box b) { objects = new Object[] {b}; hitObjects(); } // expect b: mutable
    static void inNewLater(Box b) { Object[] made = {null}; objects = made; made[0] = b; hitObjects(); } // expect b: mutable
    static void inMade(Box b) { Box made = new Box(); box = made; made.next = b; hitNext(); } // expect b: mutable
    static void again(Box b, int times) { if (times > 0) { array[1] = b; next(times - 1); } } // expect b: mutable
    static void next(int times) { if (times == 0) { hitArray(); } else { again(null, times); } }
    // The parameter is what the static field holds.
    static void inSame(Box same, Box b) { same.next = b; hitNext(); } // expect same: mutable, b: mutable
    static void fill(Box[] same, Box b) { same[1] = b; } // expect same: mutable, b: immutable
    static void inSameArray(Box[] same, Box b) { fill(same, b); hitArray(); } // expect same: mutable, b: mutable

    static void inTurn(java.util.List<Box> all) { all.forEach(one -> array[1] = array[1].next = one); } // expect all: mutable

    static final class Holder {
        private final Box held;
        Holder(Box b) { held = b; hitPlain(); } // expect this: mutable, b: immutable
    }

    static int read(Box b) { putInArray(b); return ofArray().value; } // expect b: immutable
    static void leftAlone(Box b) { Box[] made = {b}; hitPlain(); made[0] = null; } // expect b: immutable

    public static void main(String[] arguments) {
        plain(new Box());
        inArray(new Box());
        inLocal(new Box());
        inArrays(new Box());
        inObjects(new Box());
        inField(new Box());
        inArrayOfField(new Box());
        byOthers(new Box());
        byOthersInField(new Box());
        fromArray(new Box());
        fromField(new Box());
        inCell(new Box());
        onStack(new Box());
        inOne(new Box());
        copied(new Box());
        copiedAll(new Box[] {new Box()});
        inNew(new Box());
        inNewLater(new Box());
        inMade(new Box());
        again(new Box(), 1);
        inSame(box, new Box());
        inSameArray(array, new Box());
        inTurn(java.util.List.of(new Box(), new Box()));
        read(new Box());
        leftAlone(new Box());
    }
}
