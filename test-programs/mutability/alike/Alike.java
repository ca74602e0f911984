import java.io.Serializable;

// Parameters of different types that may be the same object.
class Alike {
    static class Box {
        int value;
        Box next;
    }

    interface Puts {
        void put(Box b); // expect this: mutable, arg0: immutable
    }

    interface Hits {
        void hit(); // expect this: mutable
    }

    static class Both implements Puts, Hits {
        private Box held;
        @Override public void put(Box b) { held = b; } // expect this: mutable, b: immutable
        @Override public void hit() { held.value = 1; } // expect this: mutable
    }

    static class Base {
        Box held;
        void hitHeld() { held.value = 1; } // expect this: mutable
    }

    static class Derived extends Base implements Puts {
        @Override public void put(Box b) { held = b; } // expect this: mutable, b: immutable
    }

    static final class Alone {
        Box held;
    }

    static void twoInterfaces(Puts one, Hits other, Box b) { one.put(b); other.hit(); } // expect one: mutable, other: mutable, b: mutable
    static void classOfInterface(Puts one, Base other, Box b) { one.put(b); other.held.value = 1; } // expect one: mutable, other: mutable, b: mutable
    static void inCall(Puts one, Base other, Box b) { one.put(b); other.hitHeld(); } // expect one: mutable, other: mutable, b: mutable
    static void finalClass(Puts one, Alone other, Box b) { one.put(b); other.held.value = 1; } // expect one: mutable, other: mutable, b: immutable
    static void arrays(Object[] one, Box[] other, Box b) { one[0] = b; other[0].value = 1; } // expect one: mutable, other: mutable, b: mutable
    static void object(Object one, Box[] other, Box b) { ((Object[]) one)[0] = b; other[0].value = 1; } // expect one: mutable, other: mutable, b: mutable
    static void deeper(Object[] one, Object[][] other, Object[] b) { one[0] = b; other[0][0] = null; } // expect one: mutable, other: mutable, b: mutable
    static void serializable(Serializable one, Box[] other, Box b) { ((Object[]) one)[0] = b; other[0].value = 1; } // expect one: mutable, other: mutable, b: mutable
    static void otherArrays(String[] one, Box[] other, Box b) { other[0].value = 1; } // expect one: immutable, other: mutable, b: immutable
    static void numbers(Object[] one, int[] other, Box b) { one[0] = b; other[0] = 1; } // expect one: mutable, other: mutable, b: immutable

    public static void main(String[] arguments) {
        Both both = new Both();
        twoInterfaces(both, both, new Box());
        Derived derived = new Derived();
        classOfInterface(derived, derived, new Box());
        inCall(derived, derived, new Box());
        Box[] boxes = {new Box()};
        arrays(boxes, boxes, new Box());
        object(boxes, boxes, new Box());
        Object[][] all = {{null}};
        deeper(all, all, new Object[] {1});
        serializable(boxes, boxes, new Box());
    }
}
