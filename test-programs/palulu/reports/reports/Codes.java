package reports;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Odds and ends. */
public class Codes {
    private Codes() {
    }

    /** Has more to say than anybody wants to read. */
    public static List<String> all(int count) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add("code-" + i);
        }
        return all;
    }

    public static int length(char[] code) {
        return code.length;
    }

    public static int sum(int[][] rows) {
        int sum = 0;
        for (int[] row : rows) {
            for (int one : row) {
                sum += one;
            }
        }
        return sum;
    }

    /** What the JDK has put into an array is recorded, too: with other elements, this is another call. */
    public static Object[] distinct(Object[] things) {
        List<Object> distinct = new ArrayList<>();
        for (Object thing : things) {
            if (!distinct.contains(thing)) {
                distinct.add(thing);
            }
        }
        return distinct.toArray();
    }

    /** Writes to what it is passed. */
    public static void describe(int count, StringBuilder out) {
        out.append(count).append(count == 1 ? " code" : " codes");
    }

    public static Object[] some() {
        return Arrays.asList("a", "b", "a").toArray();
    }
}
