package coins;

/** Takes halves of pairs. */
public class Letters {
    private char last;
    private int count;

    public Letters put(char letter) {
        last = letter;
        count++;
        return this;
    }

    public char last() {
        return last;
    }

    public String text(String before) {
        return before + last;
    }

    public int count() {
        return count;
    }
}
