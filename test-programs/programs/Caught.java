// options: report=caught:Caught.serve;caught:Caught.direct;caught:Caught.lightly;caught:Caught.dimly;exception:java.lang.*IndexOutOfBounds*;exception:java.lang.UnsatisfiedLinkError;exception:java.lang.IllegalArgumentException
// exit: 0

/** The rule names the method that catches; only some exception classes count. */
public class Caught {
    static char at(String text, int index) {
        return text.charAt(index);
    }

    static native char lookup(String text);

    static class Part extends java.util.ArrayList<String> {
        Part(int capacity) {
            super(capacity);
            add("part");
        }
    }

    /** What still runs when it is caught is known by the stack alone. */
    static class Light extends IllegalArgumentException {
        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    static void light(long n) {
        throw new Light();
    }

    static void lightly(String text) {
        try {
            light(5);
        } catch (Light e) {
            System.out.println("light");
        }
    }

    /** Caught by another method it is another failure, although it has come the same way. */
    static void dimly(String text) {
        try {
            light(5);
        } catch (Light e) {
            System.out.println("dim");
        }
    }

    /** Nothing on the way to the handler has probes. */
    static void direct(String text, int index) {
        try {
            if (index < 0) {
                new Part(index);
            } else {
                lookup(text);
            }
        } catch (IllegalArgumentException | LinkageError e) {
            System.out.println("direct");
        }
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
        direct("native", 1);
        direct("super", -1);
        lightly("text");
        dimly("more");
        dimly("again");
    }
}
/* crashes
Caught$Light in thread main, caught:Caught.dimly
  Caught.light n=5
  Caught.dimly:43 text="more"
  Caught.main:78 args=[]
Caught$Light in thread main, caught:Caught.lightly
  Caught.light n=5
  Caught.lightly:34 text="text"
  Caught.main:77 args=[]
java.lang.IllegalArgumentException in thread main, caught:Caught.direct
  Caught$Part.<init>:14 -- not captured: it was in its super(...) or this(...) call, where the JVM allows no handler
  Caught.direct:52 text="super" index=-1
  Caught.main:76 args=[]
java.lang.StringIndexOutOfBoundsException in thread main, caught:Caught.serve
  Caught.at:7 text="abc" index=7
  Caught.serve:63 text="abc" index=7
  Caught.main:74 args=[]
java.lang.UnsatisfiedLinkError in thread main, caught:Caught.direct
  Caught.lookup -- not instrumented: a native method has no bytecode
  Caught.direct:54 text="native" index=1
  Caught.main:75 args=[]
*/
