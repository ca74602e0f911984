// exit: 1

/** An exception that a handler throws on through a helper keeps the frames below the handler. */
public class Rethrow {
    static void thrower(int n) {
        throw new IllegalArgumentException("n = " + n);
    }

    static void middle(String s) {
        thrower(s.length());
    }

    static RuntimeException helper(RuntimeException e) {
        throw e;
    }

    static void handler(char c) {
        try {
            middle("four");
        } catch (IllegalArgumentException e) {
            throw helper(e);
        }
    }

    /** An exception without a stack trace: only who was passed it shows where it has been before. */
    static class Light extends RuntimeException {
        Light(String message) {
            super(message, null, false, false);
        }
    }

    static final Light SHARED = new Light("shared");

    static void light(int n) {
        throw SHARED;
    }

    static void lightly(long n) {
        try {
            light(5);
        } catch (Light e) {
            throw helper(e);
        }
    }

    static void anew(byte n) {
        try {
            light(7);
        } catch (Light e) {
            light(8);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        for (Runnable body : new Runnable[] {() -> lightly(6), () -> anew((byte) 9)}) {
            Thread light = new Thread(body, "light");
            light.start();
            light.join();
        }
        handler('h');
    }
}
/* crashes
Rethrow$Light in thread light, uncaught
  Rethrow.light n=5
  Rethrow.helper e=Rethrow$Light{detailMessage="shared",cause=null,stackTrace=null,suppressedExceptions=null}
  Rethrow.lightly n=6
  Rethrow.lambda$main$
Rethrow$Light in thread light, uncaught
  Rethrow.light n=8
  Rethrow.anew n=9
  Rethrow.lambda$main$
java.lang.IllegalArgumentException in thread main, uncaught
  Rethrow.thrower:6 n=4
  Rethrow.middle:10 s="four"
  Rethrow.helper e=IllegalArgumentException{detailMessage="n = 4",cause=IllegalArgumentException{detailMessage="n = 4",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  Rethrow.handler:19 c='h'
  Rethrow.main:60 args=[]
*/
