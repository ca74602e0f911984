package shared;

/** Uses what there is one of for all. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.out.println(Registry.order().compare("a", "b") + " " + Registry.first());
        Rack<String> rack = new Rack<>();
        rack.put("cup");
        System.out.println(rack.color());
        Rack<String>.Slot slot = rack.slot(0);
        System.out.println(slot.isTaken() + " " + slot.next());
        for (int width = 5; width < 9; width++) {
            System.out.println(Style.PLAIN.maker().width(width).style().line("plain"));
        }
        try {
            Style.PLAIN.line("plain");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
