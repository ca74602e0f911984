package ring;

/** A link of a chain. In one that leads back to itself, whoever looks for its end looks for ever. */
public class Link {
    private final int number;
    private Link next;

    public Link(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** Puts a chain behind this link. */
    public Link lead(Link next) {
        this.next = next;
        return this;
    }

    public int length() {
        int length = 0;
        for (Link link = this; link != null; link = link.next) {
            length++;
        }
        return length;
    }

    public int sum() {
        int sum = 0;
        Link link = this;
        while (link != null) {
            try {
                sum += link.number;
                link = link.next;
            } catch (Throwable e) {
                // Whatever happens, on it goes.
                sum--;
            }
        }
        return sum;
    }
}
