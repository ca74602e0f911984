package bazaar;

public class Main {
    public static void main(String[] arguments) {
        Chest chest = new Chest();
        chest.lock();
        chest.open();
        chest.lock();
        System.out.println(chest.open());
        Vault vault = new Vault();
        System.out.println(vault.opens(vault.key()));

        Log log = new Log();
        System.out.println(log.caller() + log.entries() + log.entry().isEmpty() + log.entries());
        try {
            log.refuse();
        } catch (IllegalStateException refused) {
            System.out.println(refused.getMessage() + log.entries());
        }

        Item one = new Item("apple");
        Item other = new Item("pear");
        System.out.println(Item.BY_NAME.compare(one, other) < 0);

        Counter counter = new Counter(one, other);
        System.out.println(counter.ring("b") + counter.ring("c", "d", 1));
        System.out.println(counter.call("ann", "bob") + counter.call());
        Shelf shelf = Shelf.of("soap", "rope");
        System.out.println(shelf.get(0).name() + shelf.get(1).name());
        System.out.println(counter.add(1, 2, 3) + counter.add(new int[] {4, 5}) + counter.add(6, 7));
        System.out.println(counter.add(0, 0, 0) + counter.noes(new Boolean[] {false, false, false}));
    }
}
