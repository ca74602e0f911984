package press;

/** A typeface and its size. */
public class Font {
    private final int size;

    public Font(String text) {
        if (!text.matches("[A-Z][a-z]+:\\d+")) {
            throw new IllegalArgumentException("no font: " + text);
        }
        size = Integer.parseInt(text.substring(text.indexOf(':') + 1));
    }

    public int size() {
        return size;
    }
}
