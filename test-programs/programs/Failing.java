// exit: 1

/** An initialiser fails in a method of its own class. */
public class Failing {
    static class Settings {
        static final int LIMIT = parse("80x");

        static int parse(String s) {
            return Integer.parseInt(s);
        }
    }

    static int limit() {
        return Settings.LIMIT;
    }

    public static void main(String[] args) {
        limit();
    }
}
/* crashes
java.lang.ExceptionInInitializerError <- java.lang.NumberFormatException in thread main, uncaught
  Failing.limit:14
  Failing.main:18 args=[]
  Failing$Settings.parse:9 (cause 1) s="80x"
  Failing$Settings.<clinit>:6 (cause 1)
*/
