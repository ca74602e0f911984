// exit: 1

/** The frames of a cause are kept when the exception that wraps it fails. */
public class Wrapped {
    static void inner(int[] a, int i) {
        a[i] = 1;
    }

    static void wrap(int i) {
        try {
            inner(new int[2], i);
        } catch (ArrayIndexOutOfBoundsException e) {
            throw new IllegalStateException("wrapped", e);
        }
    }

    public static void main(String[] args) {
        wrap(9);
    }
}
/* crashes
java.lang.IllegalStateException <- java.lang.ArrayIndexOutOfBoundsException in thread main, uncaught
  Wrapped.wrap:13 i=9
  Wrapped.main:18 args=[]
  Wrapped.inner:6 (cause 1) a=[I(8 bytes) i=9
*/
