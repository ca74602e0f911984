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

    public static void main(String[] args) {
        // None of them is seen first near the end.
        String old = new String("an old text");
        Object number = Integer.valueOf(123_456);
        String secret = new String("hunter" + args.length + "hunter");
        login(secret);
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            say(old, i % 3 == 0 ? Side.LEFT : Side.RIGHT, number, secret, i * 0x9e3779b9);
        }
        System.out.println(sum);
    }
}
