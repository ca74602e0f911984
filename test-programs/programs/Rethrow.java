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

    public static void main(String[] args) {
        handler('h');
    }
}
/* crashes
java.lang.IllegalArgumentException in thread main, uncaught
  Rethrow.thrower:6 n=4
  Rethrow.middle:10 s="four"
  Rethrow.helper e=IllegalArgumentException{detailMessage="n = 4",cause=IllegalArgumentException{detailMessage="n = 4",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  Rethrow.handler:19 c='h'
  Rethrow.main:26 args=[]
*/
