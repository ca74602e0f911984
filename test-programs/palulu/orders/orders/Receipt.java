package orders;

/** Is made of what nobody else has. */
public final class Receipt {
    private final Object stamp;

    public Receipt(Object stamp) {
        this.stamp = stamp;
    }

    public String text() {
        return "paid " + stamp;
    }
}
