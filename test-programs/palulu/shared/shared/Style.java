package shared;

/** A constant that others are made of. */
public final class Style {
    public static final Style PLAIN = new Style(new Maker());

    private final int width;

    private Style(Maker maker) {
        width = maker.width;
    }

    public Maker maker() {
        Maker maker = new Maker();
        maker.width = width;
        return maker;
    }

    /** Of a text that is not too wide. */
    public String line(String text) {
        if (text.length() > width) {
            throw new IllegalArgumentException("wider than " + width);
        }
        return text + ".";
    }

    /** Makes styles. */
    public static final class Maker {
        private int width = 4;

        private Maker() {}

        public Maker width(int columns) {
            width = columns;
            return this;
        }

        public Style style() {
            return new Style(this);
        }
    }
}
