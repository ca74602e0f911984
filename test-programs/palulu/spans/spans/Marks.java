package spans;

/** Ends in several ways. */
public final class Marks {
    private Marks() {}

    public static String of(int points) {
        return points >= 90 ? "A" : points >= 50 ? "C" : "F";
    }

    public static int points(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("nothing there");
        }
        if (text.charAt(0) == '-') {
            throw new IllegalArgumentException("below zero");
        }
        if (text.charAt(0) == '+') {
            throw new IllegalArgumentException("no sign is needed");
        }
        if (text.length() > 3) {
            throw new IllegalArgumentException("too many");
        }
        return Integer.parseInt(text);
    }

    public static int square(int number) {
        return number * number;
    }
}
