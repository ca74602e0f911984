import java.io.IOException;

/** What the golden listing shows: one method for each kind of inserted code. */
class Listing {
    int field;
    final int fixed = 1;

    int inPlace(String text, long number) {
        return text.length() + (int) number;
    }

    static void overwritten(int number) {
        number = Integer.parseInt("" + number);
    }

    void fields(Listing other) {
        field = other.field + other.fixed;
    }

    static int caught(String text) {
        try {
            return text.length();
        } catch (RuntimeException e) {
            return -1;
        }
    }

    Listing(String text) {
        super();
        field = text.length();
    }

    Listing(Object text) {
        this(text.toString());
    }

    int getField() {
        return field;
    }

    void namedEscape() throws IOException {
        throw new IOException();
    }
}
