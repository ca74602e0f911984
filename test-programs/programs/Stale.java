// exit: 1

/** Exceptions that were caught must leave nothing in the record of the one that counts. */
public class Stale {
    static final RuntimeException SHARED = new RuntimeException("shared");

    static void deep(int n) {
        if (n == 0) {
            throw SHARED;
        }
        deep(n - 1);
    }

    static void other(int n) {
        throw new IllegalStateException("other " + n);
    }

    static void last(String s) {
        throw SHARED;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 5; i++) {
            try {
                deep(i);
            } catch (RuntimeException e) {
                // The same object is thrown again and again.
            }
            try {
                other(i);
            } catch (IllegalStateException e) {
                // Another one in between.
            }
        }
        try {
            deep(3);
        } catch (RuntimeException e) {
            // Twice in a row.
        }
        last("only this frame and main");
    }
}
/* crashes
java.lang.RuntimeException in thread main, uncaught
  Stale.last s="only this frame and main"
  Stale.main args=[]
*/
