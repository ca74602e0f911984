package coins;

/** Constants with methods, one of them with one of its own. */
public enum Coin implements Weighed {
    CENT(1),
    EURO(100) {
        @Override
        public String metal() {
            return "gold";
        }
    };

    private final int worth;

    Coin(int worth) {
        this.worth = worth;
    }

    public String metal() {
        return "copper";
    }

    public String show(long count) {
        if (count < 0) {
            throw new IllegalArgumentException("no debts");
        }
        return count + " x " + worth;
    }

    public boolean buys(Coin other) {
        return worth >= other.worth;
    }

    public Purse purse() {
        return new Purse(this);
    }

    int worth() {
        return worth;
    }
}
