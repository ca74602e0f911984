package orders;

import java.util.function.IntSupplier;

/** Reckons. */
public final class Sums {
    private Sums() {
    }

    /** The largest of rising numbers. */
    public static int largest(int[] numbers) {
        return numbers[numbers.length - 1];
    }

    /** Of two numbers and what is between them. */
    public static int of(String text) {
        int at = text.indexOf('/');
        if (at < 0) {
            throw new IllegalArgumentException("no division: " + text);
        }
        return Integer.parseInt(text.substring(0, at)) / Integer.parseInt(text.substring(at + 1));
    }

    /** Of nothing but a number. */
    public static int drawn(IntSupplier number) {
        return number.getAsInt();
    }
}
