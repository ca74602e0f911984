package coins;

/** Only a constant makes one; what is in it, others say. */
public class Purse extends Held implements Weighed {
    private final Coin coin;

    Purse(Coin coin) {
        this.coin = coin;
    }

    public int put(int more) {
        count += more;
        return count * coin.worth();
    }

    public void spill() {
        count--;
    }

    @Override
    public String unit() {
        return "purse";
    }
}
