package shop;

/** Must be opened before it is used, and closed once. */
public class Door {
    private boolean open;
    private boolean used;
    private int visitors;

    public void open(String key) {
        if (open || used || !key.equals("sesame:" + key.length())) {
            throw new IllegalArgumentException("wrong key " + key);
        }
        open = true;
        used = true;
    }

    public int enter(Ticket ticket) {
        if (!open) {
            throw new IllegalStateException("shut");
        }
        ticket.punch();
        return ++visitors;
    }

    public int visitors() {
        return visitors;
    }

    public boolean isOpen() {
        return open;
    }

    public void close() {
        if (!open) {
            throw new IllegalStateException("shut");
        }
        open = false;
    }
}
