package press;

/** A format and its weight. */
public class Paper {
    private final String format;

    public Paper(String text) {
        if (!text.matches("A\\d/\\d+g")) {
            throw new IllegalArgumentException("no paper: " + text);
        }
        format = text.substring(0, 2);
    }

    public String format() {
        return format;
    }
}
