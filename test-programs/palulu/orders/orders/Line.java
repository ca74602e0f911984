package orders;

/** So much of something. */
public final class Line {
    private final String article;
    private int count;

    Line(String article, int count) {
        this.article = article;
        this.count = count;
    }

    public String article() {
        return article;
    }

    public int count() {
        return count;
    }

    public void more(int by) {
        count += by;
    }
}
