import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Passes objects around for long after they were seen first. */
public final class Old {
    private static int sum;

    private Old() {
    }

    private enum Side { LEFT, RIGHT }

    private static void login(String password) {
        sum += password.length();
    }

    private static void say(String text, Side side, Object number, String given, int noise) {
        sum += noise + text.length() + side.ordinal() + number.hashCode() + given.length();
    }

    /** Two texts whose hash codes end alike: a table of objects has one place for both. */
    private static List<String> pair() {
        Map<Integer, String> texts = new HashMap<>();
        while (true) {
            String one = new String("one of two");
            String other = texts.put(System.identityHashCode(one) & 0xffff, one);
            if (other != null) {
                return Arrays.asList(one, other);
            }
        }
    }

    private static void both(Object[] texts) {
        sum += texts.length;
    }

    public static void main(String[] args) {
        // None of them is seen first near the end.
        String old = new String("an old text");
        Object number = Integer.valueOf(123_456);
        String secret = new String("hunter" + args.length + "hunter");
        login(secret);
        List<String> pair = pair();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            say(old, i % 3 == 0 ? Side.LEFT : Side.RIGHT, number, secret, i * 0x9e3779b9);
            if (i % 50 == 0) {
                both(pair.toArray());
            }
        }
        System.out.println(sum);
    }
}
