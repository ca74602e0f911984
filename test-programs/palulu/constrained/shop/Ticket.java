package shop;

/** Good for so many visits; only the office makes them. */
public final class Ticket {
    private final Kind kind;
    private final String owner;
    private int left;

    Ticket(Kind kind, String owner, int left) {
        this.kind = kind;
        this.owner = owner;
        this.left = left;
    }

    void punch() {
        if (left == 0) {
            throw new IllegalStateException("used up");
        }
        left--;
    }

    public int left() {
        return left;
    }

    public Kind kind() {
        return kind;
    }

    public String owner() {
        return owner;
    }

    /** What a ticket is for. */
    public enum Kind {
        DAY,
        SEASON
    }
}
