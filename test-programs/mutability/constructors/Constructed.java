// Constructors that keep nothing elsewhere, and some that do.
class Constructed {
    static Constructed last;
    int value;
    Constructed next;

    // Arrays are no objects of this class, but anything may be.
    static int apart(Constructed c, int[] n) { c.value = 1; return n.length; } // expect c: mutable, n: immutable
    static boolean alike(Constructed c, Object o) { c.value = 1; return o == null; } // expect c: mutable, o: immutable

    static class Base {
        Constructed held;
        Base() { }
        Base(Constructed c) { held = c; } // expect this: mutable, c: immutable
    }

    static class Below extends Base {
        Constructed own;
        int[] numbers;
        Below(Constructed c, int[] n) { // expect this: mutable, c: immutable, n: immutable
            super();
            own = c;
            numbers = n;
        }
    }

    static class Kept {
        static Kept kept;
        Constructed held;
        Kept() { kept = this; }
    }

    static class BelowKept extends Kept {
        BelowKept(Constructed c) { // expect this: mutable, c: mutable
            super();
            held = c;
            kept.held.value = 1;
        }
    }

    static class Changes extends Base {
        Changes(Constructed c) { // expect this: mutable, c: mutable
            super(c);
            held.value = 1;
        }
    }

    static class ChangesOther extends Base {
        ChangesOther(Constructed c) { // expect this: mutable, c: mutable
            super(last);
            held.next = c;
            last.next.value = 1;
        }
    }

    static class Nested extends Base {
        Nested(Constructed c, Constructed other) { // expect this: mutable, c: mutable, other: immutable
            super(c);
            held.next = other;
        }
    }
}
