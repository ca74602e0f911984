// exit: 1

/** The initialiser of the main class fails, which the {@code java} command prints by itself. */
public class Initializer {
    static final int LIMIT = parse("80x");

    static int parse(String s) {
        return Integer.parseInt(s);
    }

    public static void main(String[] args) {
        System.out.println(LIMIT);
    }
}
/* crashes
java.lang.ExceptionInInitializerError <- java.lang.NumberFormatException in thread main, uncaught
  Initializer.parse:8 (cause 1) s="80x"
  Initializer.<clinit>:5 (cause 1)
*/
