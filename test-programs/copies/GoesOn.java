import java.util.ArrayList;
import java.util.List;

/** A program that catches what fails and goes on: what its calls were given has changed by then. */
public class GoesOn {
    static class Line {
        int left;

        Line(int left) {
            this.left = left;
        }
    }

    static class Order {
        final List<Line> lines = new ArrayList<>();
    }

    static void take(List<Line> lines) {
        Line line = lines.remove(0);
        line.left--;
        if (line.left == 0) {
            throw new IllegalStateException("nothing is left");
        }
    }

    /** Fails again only with the lines as they were at first. */
    static void all(Order order) {
        while (!order.lines.isEmpty()) {
            take(order.lines);
        }
    }

    static boolean handle(Order order) {
        try {
            all(order);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    public static void main(String[] args) {
        Order order = new Order();
        order.lines.add(new Line(3));
        order.lines.add(new Line(1));
        order.lines.add(new Line(2));
        System.out.println(handle(order));
    }
}
