// exit: 1

import java.util.List;

/** However much a handler or a finally block throws and catches on the way, the frames below it are kept. */
public class LongFinally {
    static int thrower(String s) {
        return s.length();
    }

    static void inner(int n) {
        throw new IllegalStateException("inner " + n);
    }

    static void many(int n) {
        for (int i = 0; i < n; i++) {
            try {
                inner(i);
            } catch (IllegalStateException e) {
                // One after the other in one place,
            }
        }
    }

    static void one(int n) {
        try {
            inner(n);
        } catch (IllegalStateException e) {
            other(n);
        }
    }

    static void other(int n) {
        try {
            inner(n);
        } catch (IllegalStateException e) {
            parse(n);
        }
    }

    static void parse(int n) {
        try {
            Integer.parseInt("x" + n);
        } catch (NumberFormatException e) {
            list(n);
        }
    }

    static void list(int n) {
        try {
            get(List.of(), n);
        } catch (IndexOutOfBoundsException e) {
            cast(n);
        }
    }

    static int get(List<Integer> from, int n) {
        return from.get(n);
    }

    static void cast(Object n) {
        try {
            text(n);
        } catch (ClassCastException e) {
            // and in many places.
        }
    }

    static String text(Object n) {
        return (String) n;
    }

    static void work(String s) {
        try {
            thrower(s);
        } finally {
            many(20);
            for (int i = 0; i < 20; i++) {
                one(i);
            }
        }
    }

    static RuntimeException caught;

    static void handled(String s) {
        try {
            work(s);
        } catch (RuntimeException e) {
            for (int i = 0; i < 20; i++) {
                one(i);
            }
            many(20);
            caught = e;
            throw told();
        }
    }

    static RuntimeException told() {
        many(3);
        throw caught;
    }

    static void wrapped(String s) {
        try {
            work(s);
        } catch (RuntimeException e) {
            many(20);
            one(20);
            throw new IllegalArgumentException("wrapped", e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> handled(null), "helper");
        thread.start();
        thread.join();
        wrapped(null);
    }
}
/* crashes
java.lang.IllegalArgumentException <- java.lang.NullPointerException in thread main, uncaught
  LongFinally.wrapped:110 s=null
  LongFinally.main:118 args=[]
  LongFinally.thrower:8 (cause 1) s=null
  LongFinally.work:75 (cause 1) s=null
java.lang.NullPointerException in thread helper, uncaught
  LongFinally.thrower:8 s=null
  LongFinally.work:75 s=null
  LongFinally.told
  LongFinally.handled:88 s=null
  LongFinally.lambda$main$:115
*/
