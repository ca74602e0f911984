package notes;

/** Is put into lists of the JDK's. */
public class Label {
    private final String text;

    public Label(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }
}
