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
        for (int i = 0; i < 300_000; i++) {
            try {
                fast.twice(null, i);
            } catch (NullPointerException e) {
                if (e.getStackTrace().length == 0) {
                    break;
                }
            }
        }
        fast.depth = 0;
        fast.twice(null, 42);
    }
}
