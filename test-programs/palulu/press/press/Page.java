package press;

/** What is to be printed. */
public class Page {
    private final Paper paper;
    private int lines;

    public Page(Paper paper) {
        this.paper = java.util.Objects.requireNonNull(paper);
    }

    public void write(Font font, String text) {
        lines += 1 + text.length() * font.size() / 1000;
    }

    public int lines() {
        return lines;
    }

    public String paper() {
        return paper.format();
    }
}
