// options: report=escape:Escape.work;escape:Escape$Page.<init>
// exit: 0

/** A server catches everything; the rule names the method that the exception leaves. */
public class Escape {
    static int work(String request) {
        return parse(request, 10);
    }

    static int parse(String text, int radix) {
        if ("light".equals(text)) {
            throw LIGHT;
        }
        return Integer.parseInt(text.trim(), radix);
    }

    static class Light extends RuntimeException {
        Light() {
            super(null, null, false, false);
        }
    }

    static final Light LIGHT = new Light();

    static class Page {
        Page(String request) {
            parse(request, 16);
        }
    }

    /** Without a stack trace, the stack alone shows who has called what it leaves, probes or not. */
    static class Home extends Page {
        Home(String request) {
            super(request);
        }
    }

    public static void main(String[] args) {
        for (String request : new String[] {"1", " 2 ", null, "x", "x"}) {
            try {
                System.out.println(work(request));
            } catch (RuntimeException e) {
                System.out.println("caught " + e.getClass());
            }
        }
        try {
            new Home("light");
        } catch (Light e) {
            System.out.println("caught light");
        }
    }
}
/* crashes
Escape$Light in thread main, escape:Escape$Page.<init>
  Escape.parse text="light" radix=16
  Escape$Page.<init> request="light"
  Escape$Home.<init>:34 -- not instrumented: only its constructor call can throw
  Escape.main:47 args=[]
java.lang.NullPointerException in thread main, escape:Escape.work
  Escape.parse:14 text=null radix=10
  Escape.work:7 request=null
  Escape.main:41 args=[]
java.lang.NumberFormatException in thread main, escape:Escape.work
  Escape.parse:14 text="x" radix=10
  Escape.work:7 request="x"
  Escape.main:41 args=[]
*/
