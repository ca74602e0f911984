/** Strings that no UTF-8 can hold, and constructors. */
public class Texts {
    final String text;

    Texts(String text) {
        this.text = text;
    }

    public static void main(String[] args) {
        String pair = new String(Character.toChars(0x1f600));
        new Texts(new StringBuilder("high ").append(pair.charAt(0)).append(" end").toString());
        new Texts(new StringBuilder("low ").append(pair.charAt(1)).toString());
        new Texts(new StringBuilder("whole ").append(pair).toString());
        StringBuilder long_ = new StringBuilder("x");
        for (int i = 0; i < 300; i++) {
            long_.append(pair);
        }
        new Texts(long_.toString());
    }
}
