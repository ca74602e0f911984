// options: report=escape:Escape.work
// exit: 0

/** A server catches everything; the rule names the method that the exception leaves. */
public class Escape {
    static int work(String request) {
        return parse(request, 10);
    }

    static int parse(String text, int radix) {
        return Integer.parseInt(text.trim(), radix);
    }

    public static void main(String[] args) {
        for (String request : new String[] {"1", " 2 ", null, "x", "x"}) {
            try {
                System.out.println(work(request));
            } catch (RuntimeException e) {
                System.out.println("caught " + e.getClass());
            }
        }
    }
}
/* crashes
java.lang.NullPointerException in thread main, escape:Escape.work
  Escape.parse:11 text=null radix=10
  Escape.work:7 request=null
  Escape.main:17 args=[]
java.lang.NumberFormatException in thread main, escape:Escape.work
  Escape.parse:11 text="x" radix=10
  Escape.work:7 request="x"
  Escape.main:17 args=[]
*/
