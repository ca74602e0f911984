// exit: 1

import java.util.Arrays;
import java.util.List;

/** The program takes frames out of the stack trace of an exception that it throws on. */
public class Cleaned {
    static int inner(String s) {
        if (s.isEmpty()) {
            throw new IllegalArgumentException("empty");
        }
        return Integer.parseInt(s);
    }

    private static int middle(List<String> list) {
        int sum = 0;
        for (String s : list) {
            sum += inner(s);
        }
        return sum;
    }

    static int outer(List<String> list) {
        try {
            return middle(list);
        } catch (IllegalArgumentException e) {
            e.setStackTrace(Arrays.stream(e.getStackTrace())
                    .filter(frame -> !frame.getMethodName().matches("inner|middle"))
                    .toArray(StackTraceElement[]::new));
            throw e;
        }
    }

    public static void main(String[] args) {
        outer(List.of("1", ""));
    }
}
/* crashes
java.lang.IllegalArgumentException in thread main, uncaught
  Cleaned.inner s=""
  Cleaned.middle list=ImmutableCollections$List12
  Cleaned.outer:25 list=ImmutableCollections$List12
  Cleaned.main:35 args=[]
*/
