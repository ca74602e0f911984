import java.util.Arrays;
import java.util.function.IntSupplier;

/** Does each thing that a trace tells of once or twice, for what the commands print. */
public class Orders {
    enum Color { RED, GREEN }

    static class Item {
        final String name;
        double price;
        Color color;

        Item(String name, double price) {
            this.name = name;
            this.price = price;
        }

        boolean isCheap(float limit) {
            return price < limit;
        }
    }

    static class Order extends Item {
        static int count;
        private final Item[] items = new Item[2];
        private int[] amounts;
        private long total;
        private char grade = 'a';

        Order(String name) {
            super(name, 0);
            count++;
        }

        void add(int place, Item item) {
            items[place] = item;
            total += (long) item.price;
        }

        Item find(String name) {
            for (Item item : items) {
                if (item != null && item.name.equals(name)) {
                    return item;
                }
            }
            throw new IllegalArgumentException(name);
        }

        /** More arguments than one event holds. */
        long many(String a, Object b, Item c, Order d, int[] e, Color f, int g, boolean h, byte i, char j, short k, long l, double m) {
            return g + i + j + k + l + (long) m;
        }

        class Line {
            int number = amounts.length;
        }
    }

    static boolean has(Order order, String name) {
        try {
            return order.find(name) != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    public static void main(String[] args) throws Exception {
        Order order = new Order("first");
        Item pen = new Item("pen \"blue\"\n", 2.5);
        pen.color = Color.GREEN;
        order.add(1, pen);
        order.add(0, new Item("ink, which is long enough that a line has no room for all of this text", Double.NaN));
        has(order, "pen");
        order.amounts = new int[] {3, -4};
        System.arraycopy(order.amounts, 0, order.amounts, 1, 1);
        Arrays.fill(order.items, null);
        int[] copy = order.amounts.clone();
        order.many("x", 7, pen, order, copy, Color.RED, 1, true, (byte) -2, 'c', (short) 3, 1L << 40, -0.0);
        IntSupplier sum = () -> copy[0] + copy[1];
        sum.getAsInt();
        pen.isCheap(3f);
        order.new Line();
        Thread other = new Thread(() -> order.add(0, pen), "other");
        other.start();
        other.join();
    }
}
