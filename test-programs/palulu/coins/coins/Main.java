package coins;

/** Calls constants of an enum. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.out.println(Coin.CENT.show(5) + Coin.EURO.show(7) + Coin.EURO.metal() + Coin.CENT.metal());
        System.out.println(Coin.EURO.buys(Coin.CENT) + " " + Coin.CENT.grams(3));
        try {
            Coin.CENT.show(-1);
        } catch (IllegalArgumentException expected) {
            System.out.println(expected.getMessage());
        }
        Purse purse = Coin.EURO.purse();
        System.out.println(purse.put(2));
    }
}
