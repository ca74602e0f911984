import java.security.MessageDigest;

/** Objects that change by code which logs no writes: the frames that lead to them say so. */
public class Beyond {
    static class Left {
        int value;

        void set(int to) {
            value = to;
        }
    }

    static void digests(MessageDigest digest, int number) {
        digest.update((byte) number);
        leaves(new Left(), number);
    }

    static void leaves(Left left, int number) {
        left.set(number);
        knows(new StringBuilder("a"), number);
    }

    static void knows(StringBuilder text, int number) {
        text.setLength(0);
        throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        digests(MessageDigest.getInstance("SHA-256"), 3);
    }
}
