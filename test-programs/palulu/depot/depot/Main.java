package depot;

import java.util.Properties;

/** A day in the depot. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Store store = Depot.open("depot:here", new Properties());
        store.add("crate", 3);
        Count crates = store.count("crate");
        System.out.println(store.add("crate", 4) + " " + crates.number());
        System.out.println(store.count("pallet").number() + " " + store.close());
    }
}
