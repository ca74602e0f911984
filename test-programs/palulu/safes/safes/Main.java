package safes;

/** Four safes are opened, each by its own numbers: those of several open none. */
public class Main {
    public static void main(String[] args) {
        String[] contents = {"gold", "letters", "maps", "pearls"};
        for (int i = 0; i < contents.length; i++) {
            Safe safe = new Safe(contents[i], 100 + i);
            for (int number : Safe.numbers(100 + i)) {
                safe.turn(number);
            }
            System.out.println(safe.open());
        }
    }
}
