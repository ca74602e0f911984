package bazaar;

/** Wants what no source elsewhere can name. */
public class Vault {
    private static class Key {}

    private final Key key = new Key();

    public Key key() {
        return key;
    }

    public boolean opens(Key other) {
        return other == key;
    }
}
