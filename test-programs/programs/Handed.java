// exit: 1

/**
 * An exception that is caught, passed on as a value and thrown again by who was passed it keeps the frames of each way,
 * as where a coroutine has waited for another one. One that a class keeps for all has those of the last way alone.
 */
public class Handed {
    static final class Failed {
        final Throwable error;

        Failed(Throwable error) {
            this.error = error;
        }
    }

    interface Step {
        Object run(Object result) throws Throwable;
    }

    static int render(String name) {
        throw new IllegalArgumentException(name);
    }

    static Object greet(int id) {
        return render("no " + id);
    }

    static void check(Object result) throws Throwable {
        if (result instanceof Failed) {
            throw ((Failed) result).error;
        }
    }

    static Object show(Object result, char mark) throws Throwable {
        check(result);
        return mark;
    }

    static Object resume(Step... steps) {
        Object result = null;
        for (Step step : steps) {
            try {
                result = step.run(result);
            } catch (Throwable error) {
                result = new Failed(error);
            }
        }
        return result;
    }

    static RuntimeException shared;

    static void first(int n) {
        shared = new IllegalStateException("shared");
        throw shared;
    }

    static Object again(long n) {
        throw shared;
    }

    static void end(Object result) throws Throwable {
        check(result);
    }

    public static void main(String[] args) throws Throwable {
        Thread other = new Thread(() -> resume(result -> {
            first(3);
            return null;
        }, result -> again(4)), "other");
        other.start();
        other.join();
        Object result = resume(nothing -> greet(2), failed -> show(failed, 'm'));
        Thread last = new Thread(() -> again(5), "last");
        last.start();
        last.join();
        end(result);
    }
}
/* crashes
java.lang.IllegalArgumentException in thread main, uncaught
  Handed.render:21 name="no 2"
  Handed.greet:25 id=2
  Handed.lambda$main$:73 nothing=null
  Handed.check result=Handed$Failed{error=IllegalArgumentException{detailMessage="no 2",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}}}
  Handed.show result=Handed$Failed{error=IllegalArgumentException{detailMessage="no 2",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}}} mark='m'
  Handed.lambda$main$ failed=Handed$Failed{error=IllegalArgumentException{detailMessage="no 2",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}}}
  Handed.check result=Handed$Failed{error=IllegalArgumentException{detailMessage="no 2",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}}}
  Handed.end result=Handed$Failed{error=IllegalArgumentException{detailMessage="no 2",cause=IllegalArgumentException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}}}
  Handed.resume:43 -- not captured: the exception did not leave it (it was made there, and thrown by a caller), or was caught further out and thrown again, or waited while too many others were caught; or there was no memory or stack left to keep it
  Handed.main:73 args=[]
java.lang.IllegalStateException in thread last, uncaught
  Handed.first:54 n=3
  Handed.lambda$main$:68 result=null
  Handed.resume:43 -- not known here: the exception has left it on another thread, or long ago
  Handed.lambda$main$:67 -- not known here: the exception has left it on another thread, or long ago
  Handed.again n=5
  Handed.lambda$main$
*/
