package careful;

import java.io.File;
import java.io.IOException;

/** Refuses what is wrong where it is made, and changes files where it runs. */
public class Careful {
    public static class Money {
        private final int amount;

        public Money(int amount) {
            if (amount < 0) {
                throw new IllegalArgumentException("negative: " + amount);
            }
            this.amount = amount;
        }

        public int amount() {
            return amount;
        }
    }

    public static class Store {
        private final String name;

        public Store(String name) {
            this.name = name;
        }

        public String name() {
            return name;
        }

        public boolean discard() {
            return new File(name).delete();
        }

        public boolean discardTemporary() throws IOException {
            return File.createTempFile("careful", name).delete();
        }
    }

    public static void main(String[] args) throws IOException {
        try {
            new Money(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(new Money(3).amount());
        Store store = new Store("pom.xml");
        System.out.println(store.name() + store.discardTemporary() + store.discard());
    }
}
