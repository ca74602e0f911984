import java.util.HashMap;
import java.util.Map;

// Initializers of classes run at the first call, or the first look at a static field.
class Begun {
    int value;
    Begun next;

    static Begun held;
    static Begun other;

    static class Poking {
        static int count;
        static { held.value = 1; }
        static void touch() { }
    }

    static class Below extends Poking {
        static void touch() { }
    }

    static class Deeper {
        static { Poking.touch(); }
        static int count;
    }

    // Its own fields have nothing before.
    static class Harmless {
        static final Map<String, int[]> ALL = new HashMap<>();
        static final int[] NUMBERS = new int[1];
        static { ALL.put("a", new int[1]); NUMBERS[0] = 1; }
        static void touch() { }
    }

    static void call(Begun b) { held = b; Poking.touch(); } // expect b: mutable
    static void field(Begun b) { held = b; Poking.count++; } // expect b: mutable
    static int read(Begun b) { held = b; return Poking.count; } // expect b: mutable
    static void make(Begun b) { held = b; new Poking(); } // expect b: mutable
    static void below(Begun b) { held = b; Below.touch(); } // expect b: mutable
    static void deeper(Begun b) { held = b; Deeper.count++; } // expect b: mutable
    static void later(Begun b) { held = b; touch(); } // expect b: mutable
    static void touch() { Poking.touch(); }
    static void lambda(Begun b) { held = b; Runnable r = Poking::touch; r.run(); } // expect b: mutable
    interface Step { void run(); }
    static Step maker() { return Far::touch; }
    static void given(Step r, Begun b) { held = b; r.run(); } // expect b: mutable
    static class Far {
        static { one(); }
        static void one() { two(); }
        static void two() { held.value = 1; }
        static void touch() { }
    }
    static void numbers(Begun b) { held = b; Harmless.touch(); Harmless.NUMBERS.clone(); } // expect b: immutable
    static void keep(Begun b) { held = b; } // expect b: immutable
}
