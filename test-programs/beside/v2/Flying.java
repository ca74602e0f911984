/** Only for its {@code Target}. */
public class Flying {
    static class Target {
        int calls;

        // A comment, so that
        // the lines are others
        // than in the first version.
        int divide(int by, String label) {
            calls++;
            int count = label.length();
            label = null;
            int result = count / by;
            return result;
        }
    }
}
