package spans;

import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** Uses what a span gives away, and calls static methods that end in several ways. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Span span = new Span(2, 5);
        Iterator<Integer> iterator = span.iterator();
        int sum = 0;
        while (iterator.hasNext()) {
            sum += iterator.next();
        }
        try {
            iterator.next();
        } catch (NoSuchElementException expected) {
            System.out.println(sum + expected.getMessage());
        }
        Comparator<Integer> nearest = span.nearest(10);
        System.out.println(nearest.compare(9, 15));
        CharSequence text = span.text();
        System.out.println(text.length() + text.charAt(1) + text.subSequence(0, 3).length());

        for (int points : new int[] {10, 20, 30, 40, 55, 95}) {
            System.out.print(Marks.of(points));
        }
        for (String points : new String[] {"", "", "-1", "+1", "1000", "77"}) {
            try {
                System.out.println(Marks.points(points));
            } catch (IllegalArgumentException expected) {
                System.out.println(expected.getMessage());
            }
        }
        for (int number = 0; number < 28; number++) {
            System.out.println(Marks.square(number));
        }
    }
}
