package coins;

/** Calls constants of an enum, and what others declare. */
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
        purse.spill();

        Row row = Row.of(5, 3);
        for (int time = 0; time < 3; time++) {
            System.out.println(row.first() + row.size() + " " + Row.isShort(row));
        }

        Letters letters = new Letters();
        for (char letter : "a\ud83d\ude00".toCharArray()) {
            System.out.println((int) letters.put(letter).last());
        }
        System.out.println(letters.text("\ud83d").length() + letters.text("\ude00").length());
        System.out.println(letters.count());

        Mint mint = Mint.of("bern");
        mint.strike(5);
        mint.strike(2);
        Tags tags = new Tags();
        System.out.println(tags.all());
        tags.accept(7L);
        tags.mark(9L, 'q');
        try {
            tags.accept(null);
        } catch (Tags.Untagged expected) {
            System.out.println(expected.getMessage() + tags.all());
        }
    }
}
