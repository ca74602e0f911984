package bazaar;

import java.util.Comparator;

public class Item {
    public static final Comparator<Item> BY_NAME = new ByName();

    private final String name;

    public Item(String name) {
        this.name = name;
    }

    static class ByName implements Comparator<Item> {
        @Override
        public int compare(Item one, Item other) {
            return one.name.compareTo(other.name);
        }
    }
}
