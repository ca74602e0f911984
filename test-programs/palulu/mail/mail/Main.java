package mail;

/** Puts letters into a box, and waits for none. */
public class Main {
    public static void main(String[] args) {
        Box box = new Box();
        box.put("to Ada");
        box.put("to Grace");
        System.out.println(box.count() + " " + box.first());
    }
}
