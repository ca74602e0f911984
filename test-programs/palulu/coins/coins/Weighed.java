package coins;

/** What others have by default. */
public interface Weighed {
    default int grams(int count) {
        return 4 * count;
    }

    default String unit() {
        return "gram";
    }
}
