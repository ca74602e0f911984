package gates;

/** Goes on after what it could not do. */
public class Main {
    public static void main(String[] args) throws java.lang.Exception {
        Gate gate = new Gate();
        int passed = gate.pass(3);
        for (int key : new int[] {0, -1}) {
            try {
                gate.pass(key);
            } catch (java.lang.Exception e) {
                passed++;
            }
        }
        int last = gate.pass(4);
        try {
            gate.pass(10);
        } catch (LinkageError e) {
            passed++;
        }
        if (last != 7 || gate.pass(1) != 8 || passed != 6 || new Exception().check(5) != 5) {
            throw new AssertionError();
        }
    }
}
