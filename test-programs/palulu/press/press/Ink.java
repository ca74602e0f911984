package press;

/** A colour. */
public class Ink {
    private final String colour;

    public Ink(String colour) {
        if (!colour.matches("cmyk\\(\\d+(,\\d+){3}\\)")) {
            throw new IllegalArgumentException("no colour: " + colour);
        }
        this.colour = colour;
    }

    @Override
    public String toString() {
        return colour;
    }
}
