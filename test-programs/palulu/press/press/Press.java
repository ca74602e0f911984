package press;

/** Prints when it is warm. */
public class Press {
    private final Ink ink;
    private boolean warm;

    public Press(Ink ink) {
        this.ink = java.util.Objects.requireNonNull(ink);
    }

    public void warm(String pin) {
        if (!pin.matches("PIN-\\d{4}")) {
            throw new SecurityException("wrong");
        }
        warm = true;
    }

    public boolean isWarm() {
        return warm;
    }

    public String ink() {
        return ink.toString();
    }
}
