package coins;

/** Only a constant makes one. */
public class Purse {
    private final Coin coin;
    private int count;

    Purse(Coin coin) {
        this.coin = coin;
    }

    public int put(int more) {
        count += more;
        return count * coin.worth();
    }
}
