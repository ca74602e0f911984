package orders;

import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Goes another way where the first one fails. */
public final class Attempts {
    private int failures;

    /** What says what there is not enough of. */
    public static final class Shortage extends IllegalStateException {
        private static final long serialVersionUID = 1;

        public Shortage(String of) {
            super(of);
        }
    }

    public String ask(Supplier<String> first, Supplier<String> other) {
        try {
            return first.get();
        } catch (Shortage e) {
            failures++;
            return "no " + e.getMessage();
        } catch (IllegalStateException e) {
            failures++;
            return other.get();
        }
    }

    public int count(String text, ToIntFunction<String> by) {
        return by.applyAsInt(text);
    }

    public int failures() {
        return failures;
    }

    public boolean isFine() {
        return failures == 0;
    }
}
