// exit: 1

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
        thread("h deep", () -> self(1500));
        thread("i deep", () -> call(1500));
    }
}
/* crashes
*/
