// What each heuristic of stage D adds, and what it takes to add it.
class Heuristics {
    int value;
    int other;

    // A: seen so often, in so much of the body.
    static int read(Heuristics often) {
        return often.value;
    }

    static int readAlone(Heuristics once) {
        return once.value;
    }

    static int half(Heuristics half, boolean more) {
        if (more) {
            return half.other;
        }
        return half.value;
    }

    static void seldom(Heuristics seldom, boolean does) {
        if (does) {
            seldom.value = 1;
        }
    }

    static void unseen(Heuristics unseen, boolean does) {
        if (does) {
            unseen.value = 1;
        }
    }

    // B: no call of these changes anything, but what they call does elsewhere.
    static void changes(Heuristics changed, boolean does) {
        if (does) {
            changed.value = 2;
        }
    }

    static void gives(Heuristics given) {
        changes(given, false);
    }

    static void givesOn(Heuristics givenOn) {
        gives(givenOn);
    }

    // C: who changes it is not to be told from what arguments lead to.
    static void alike(Heuristics left, Heuristics right) {
        left.value = 3;
    }

    public static void main(String[] arguments) {
        Heuristics one = new Heuristics();
        readAlone(one);
        for (int i = 0; i < 10; i++) {
            read(one);
            half(one, false);
            seldom(new Heuristics(), i == 9);
            unseen(one, false);
        }
        changes(new Heuristics(), true);
        givesOn(new Heuristics());
        Heuristics both = new Heuristics();
        alike(both, both);
    }
}
