// options: report=caught:Caught.serve;exception:java.lang.*IndexOutOfBounds*
// exit: 0

/** The rule names the method that catches; only some exception classes count. */
public class Caught {
    static char at(String text, int index) {
        return text.charAt(index);
    }

    static void serve(String text, int index) {
        try {
            System.out.println(at(text, index));
        } catch (NullPointerException e) {
            System.out.println("null");
        } catch (RuntimeException e) {
            System.out.println("other");
        }
    }

    public static void main(String[] args) {
        serve("abc", 1);
        serve(null, 0);
        serve("abc", 7);
    }
}
/* crashes
java.lang.StringIndexOutOfBoundsException in thread main, caught:Caught.serve
  Caught.at:7 text="abc" index=7
  Caught.serve:12 text="abc" index=7
  Caught.main:23 args=[]
*/
