package shelf;

/** A text of some size, which is said before it is made. */
public class Label {
    private static int size = 1;
    private static String owner;

    private final String text;

    private Label(String text) {
        this.text = text;
    }

    public static void size(int size) {
        Label.size = size;
    }

    public static void owner(String owner) {
        Label.owner = owner;
    }

    public static Label create(String name) {
        Label made = new Label(name.repeat(size) + (owner == null ? "" : " of " + owner));
        size = 1;
        owner = null;
        return made;
    }

    public String text() {
        return text;
    }
}
