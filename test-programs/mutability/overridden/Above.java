package above;

import below.Below;
import below.Farther;

// Methods that have the same name and take the same, and do not override each other.
public abstract class Above {
    public static class Box {
        public int value;
    }

    void seen(Box b) { b.value = 1; } // expect this: immutable, b: mutable

    public static class Middle extends Above {
        @Override public void seen(Box b) { b.value = 2; } // expect this: immutable, b: mutable
    }

    interface Default {
        default void kept(Box b) { b.value = 1; } // expect this: immutable, b: mutable
    }

    static class Private {
        private void kept(Box b) { } // expect this: immutable, b: immutable
    }

    static class Both extends Private implements Default { }

    static void any(Above a, Box b) { a.seen(b); } // expect a: immutable, b: mutable
    static void elsewhere(Box b) { Above a = new Below(); a.seen(b); } // expect b: mutable
    // What overrides it in its package may itself be overridden elsewhere.
    static void farther(Box b) { Above a = new Farther(); a.seen(b); } // expect b: immutable
    static void inherited(Box b) { Default d = new Both(); d.kept(b); } // expect b: mutable
}
