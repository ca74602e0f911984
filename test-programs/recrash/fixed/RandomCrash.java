package recrash;

import java.util.Random;

/**
 * {@code RandomCrash} as it should be.
 *
 * <p>Zero has the digits "0". The tests recorded from the faulty program run against this one.
 */
public class RandomCrash {
    private static final Random RANDOM =
            System.getenv("SEED") == null ? new Random() : new Random(Long.parseLong(System.getenv("SEED")));

    public String hexAbs(int x) { // expect: the recorded test passes
        String result = "0";
        if (x > 0) {
            result = Integer.toHexString(x);
        } else if (x < 0) {
            result = Integer.toHexString(-x);
        }
        return toUpperCase(result);
    }

    public String toUpperCase(String s) { // expect: the recorded test fails
        return s.toUpperCase();
    }

    public static void main(String[] args) {
        System.out.println(new RandomCrash().hexAbs(RANDOM.nextInt()));
    }
}
