// exit: 0

/** An exception that one handler after the other throws on through a helper: no frame has the values of another one. */
public class RethrowNested {
    static int rethrow(Throwable t) {
        if (t instanceof RuntimeException) {
            throw (RuntimeException) t;
        }
        throw new AssertionError(t);
    }

    /** Handlers of one method, and calls of it between them that have none. */
    static int call(int level) {
        try {
            return body(level);
        } catch (RuntimeException e) {
            return rethrow(e);
        }
    }

    static int body(int level) {
        return level == 0 ? 1 / level : call(level - 1);
    }

    /** Without a method between them: the trace has nothing but this one. */
    static int self(int level) {
        try {
            return level == 0 ? 1 / level : self(level - 1);
        } catch (RuntimeException e) {
            return rethrow(e);
        }
    }

    /** Handlers of two methods. */
    static int one(int level) {
        try {
            return body(0) + level;
        } catch (RuntimeException e) {
            return rethrow(e);
        }
    }

    static int two(int level) {
        try {
            return one(level + 1);
        } catch (RuntimeException e) {
            return rethrow(e);
        }
    }

    static int three(int level) {
        return two(level + 1);
    }

    /** Two handlers of one call. */
    static int twice(int level) {
        try {
            try {
                return body(level);
            } catch (RuntimeException e) {
                return rethrow(e);
            }
        } catch (RuntimeException e) {
            return rethrow(e);
        }
    }

    static void thread(String name, Runnable body) throws InterruptedException {
        Thread thread = new Thread(body, name);
        thread.setUncaughtExceptionHandler((of, e) -> {});
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws InterruptedException {
        thread("a two", () -> call(1));
        thread("b three", () -> call(2));
        thread("c many", () -> call(7));
        thread("d self", () -> self(2));
        thread("e self many", () -> self(7));
        thread("f methods", () -> three(1));
        thread("g twice", () -> twice(0));
    }
}
/* crashes
java.lang.ArithmeticException in thread a two, uncaught
  RethrowNested.body:22 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=0
  RethrowNested.body:22 level=1
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=1
  RethrowNested.lambda$main$:76
java.lang.ArithmeticException in thread b three, uncaught
  RethrowNested.body:22 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=0
  RethrowNested.body:22 level=1
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=1
  RethrowNested.body:22 level=2
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=2
  RethrowNested.lambda$main$:77
java.lang.ArithmeticException in thread c many, uncaught
  RethrowNested.body:22 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=0
  RethrowNested.body:22 level=1
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=1
  RethrowNested.body:22 level=2
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=2
  RethrowNested.body:22 level=3
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=3
  RethrowNested.body:22 level=4
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=4
  RethrowNested.body:22 level=5
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=5
  RethrowNested.body:22 level=6
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=6
  RethrowNested.body:22 level=7
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.call:15 level=7
  RethrowNested.lambda$main$:78
java.lang.ArithmeticException in thread d self, uncaught
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=1
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=2
  RethrowNested.lambda$main$:79
java.lang.ArithmeticException in thread e self many, uncaught
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=1
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=2
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=3
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=4
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=5
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=6
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.self:28 level=7
  RethrowNested.lambda$main$:80
java.lang.ArithmeticException in thread f methods, uncaught
  RethrowNested.body:22 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.one:37 level=3
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.two:45 level=2
  RethrowNested.three:52 level=1
  RethrowNested.lambda$main$:81
java.lang.ArithmeticException in thread g twice, uncaught
  RethrowNested.body:22 level=0
  RethrowNested.rethrow t=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{detailMessage="/ by zero",cause=ArithmeticException{..},stackTrace=StackTraceElement;{..},suppressedExceptions=Collections$EmptyList{..}},stackTrace=[StackTraceElement{..},StackTraceElement{..},StackTraceElement{..},StackTraceElement{..}],suppressedExceptions=Collections$EmptyList}
  RethrowNested.twice:59 level=0
  RethrowNested.lambda$main$:82
*/
