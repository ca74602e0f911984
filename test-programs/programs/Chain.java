// exit: 1

/** The frames of a cause's cause are kept too. */
public class Chain {
    static int root(int[] a, int i) {
        return a[i];
    }

    static void first(int i) {
        try {
            root(new int[1], i);
        } catch (ArrayIndexOutOfBoundsException e) {
            throw new IllegalStateException("first", e);
        }
    }

    static void second(String s) {
        try {
            first(s.length());
        } catch (IllegalStateException e) {
            throw new RuntimeException("second", e);
        }
    }

    public static void main(String[] args) {
        second("four");
    }
}
/* crashes
java.lang.RuntimeException <- java.lang.IllegalStateException <- java.lang.ArrayIndexOutOfBoundsException in thread main, uncaught
  Chain.second:21 s="four"
  Chain.main:26 args=[]
  Chain.first:13 (cause 1) i=4
  Chain.root:6 (cause 2) a=[I(4 bytes) i=4
*/
