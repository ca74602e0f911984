package gates;

/** Throws what nobody else can name. */
public class Gate {
    private static final class Shut extends IllegalStateException {
        Shut(String message) {
            super(message);
        }
    }

    private static final class Lost extends java.lang.Exception {}

    private int passed;

    public int pass(int key) throws java.lang.Exception {
        if (key == 0) {
            throw new Shut("shut");
        }
        if (key < 0) {
            throw new Lost();
        }
        if (key > 9) {
            throw new LinkageError("rusty");
        }
        passed += key;
        return passed;
    }
}
