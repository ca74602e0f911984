package busy;

/** Looks at a letter, and fills its buffer for that. */
public final class Reader {
    private final String text;
    private char[] buffer;
    private int at;

    public Reader(String text) {
        this.text = text;
    }

    public int peek() {
        if (buffer == null) {
            buffer = text.toCharArray();
        }
        return buffer[at];
    }

    public int index() {
        return at;
    }

    public void forward() {
        at++;
    }
}
