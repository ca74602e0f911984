// exit: 1
// jvm: -XX:+OmitStackTraceInFastThrow

/** After many throws HotSpot uses a pre-allocated exception without a stack trace. */
public class Fast {
    int depth;

    static int length(String s) {
        return s.length();
    }

    int twice(String s, int times) {
        depth++;
        return times * length(s);
    }

    public static void main(String[] args) {
        Fast fast = new Fast();
        for (int i = 0; i < 2_000_000; i++) {
            try {
                fast.depth = 0;
                fast.twice(null, 42);
            } catch (NullPointerException e) {
                if (e.getStackTrace().length == 0) {
                    throw e;
                }
            }
        }
    }
}
/* crashes
java.lang.NullPointerException in thread main, uncaught
  Fast.length s=null
  Fast.twice this=Fast{depth=1} s=null times=42 [at entry Fast.depth=0]
  Fast.main args=[]
*/
