// exit: 1

/** An exception that a handler throws on through a helper keeps the frames below the handler. */
public class Rethrow {
    static void thrower(int n) {
        throw new IllegalArgumentException("n = " + n);
    }

    static void middle(String s) {
        thrower(s.length());
    }

    static RuntimeException helper(RuntimeException e) {
        throw e;
    }

    static void handler(char c) {
        try {
            middle("four");
        } catch (IllegalArgumentException e) {
            throw helper(e);
        }
    }

    public static void main(String[] args) {
        handler('h');
    }
}
