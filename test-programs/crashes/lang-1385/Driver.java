package crashes.lang1385;

import org.apache.commons.lang3.math.NumberUtils;

/**
 * LANG-1385: a number that consists of its type suffix only.
 *
 * <p>The caller is ready for {@link NumberFormatException}, as documented, and gets an index out of
 * bounds instead.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(sum("12 7L L"));
    }

    static long sum(String line) { // expect: reproduces, green when fixed
        long sum = 0;
        for (String word : line.split(" ")) {
            sum += number(word, 0);
        }
        return sum;
    }

    static long number(String word, long otherwise) { // expect: reproduces, green when fixed
        try {
            return NumberUtils.createNumber(word).longValue();
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
