package busy;

/** Ends when it is asked for its text. */
public final class Line {
    private final StringBuilder text = new StringBuilder("[");

    public Line add(String name, int number) {
        text.append(name).append('=').append(number).append(',');
        return this;
    }

    public String end() {
        return toString();
    }

    @Override
    public String toString() {
        text.setLength(text.length() - 1);
        return text.append(']').toString();
    }
}
