package shared;

import java.util.Comparator;

/** Gives constants. */
public final class Registry {
    private Registry() {}

    private enum Order {
        FIRST
    }

    /** A constant of an enum that is the JDK's own business, */
    public static Comparator<String> order() {
        return Comparator.naturalOrder();
    }

    /** and one of an enum that is the class's own. */
    public static Object first() {
        return Order.FIRST;
    }
}
