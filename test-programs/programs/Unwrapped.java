// exit: 1

import java.lang.reflect.InvocationTargetException;

/** Frames that only the exception around a cause has passed are known of the cause, too, which a handler throws on. */
public class Unwrapped {
    static final RuntimeException SHARED = made();
    static Throwable caught;

    static RuntimeException made() {
        return new RuntimeException("shared");
    }

    static void inner(int a) {
        throw new IllegalArgumentException("a = " + a);
    }

    static RuntimeException wrapped(Exception e) {
        throw new IllegalStateException("wrapped", e);
    }

    static void wrap(int b) {
        try {
            inner(b + 1);
        } catch (IllegalArgumentException e) {
            throw wrapped(e);
        }
    }

    static void between(int c) {
        wrap(c + 1);
    }

    static void again(int d) {
        try {
            between(d + 1);
        } catch (IllegalStateException e) {
            throw new RuntimeException("again", e);
        }
    }

    static void unwrap(int e) {
        try {
            between(e + 1);
        } catch (RuntimeException wrapper) {
            throw (RuntimeException) wrapper.getCause();
        }
    }

    static void unwrapTwo(int f) {
        try {
            again(f + 1);
        } catch (RuntimeException wrapper) {
            throw (RuntimeException) wrapper.getCause().getCause();
        }
    }

    static void recurse(int depth) {
        try {
            if (depth == 0) {
                inner(depth);
            }
            recurse(depth - 1);
        } catch (IllegalArgumentException e) {
            throw new Error(e);
        } catch (Error e) {
            if (depth < 3) {
                throw e;
            }
            throw (RuntimeException) e.getCause();
        }
    }

    static void reflect(int g) throws Exception {
        Unwrapped.class.getDeclaredMethod("inner", int.class).invoke(null, g + 1);
    }

    static void called(int h) throws Exception {
        try {
            reflect(h + 1);
        } catch (InvocationTargetException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    static void calledBySneaking(int h) throws Exception {
        try {
            reflect(h + 1);
        } catch (InvocationTargetException e) {
            caught = e.getCause();
            sneak();
        }
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> void sneak() throws T {
        throw (T) caught;
    }

    /** The same object, first wrapped and unwrapped, then not. */
    static void shared(int i) {
        try {
            wrapShared(i);
        } catch (IllegalStateException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    static void wrapShared(int i) {
        if (i > 0) {
            throw new IllegalStateException(SHARED);
        }
        throw SHARED;
    }

    static void thread(String name, Runnable body) throws InterruptedException {
        Thread thread = new Thread(body, name);
        thread.setUncaughtExceptionHandler((t, e) -> {});
        thread.start();
        thread.join();
    }

    static void reflective(boolean sneaks) {
        try {
            if (sneaks) {
                calledBySneaking(1);
            }
            called(1);
        } catch (Exception e) {
            caught = e;
            Unwrapped.<RuntimeException>sneak();
        }
    }

    public static void main(String[] args) throws Exception {
        thread("one", () -> unwrap(1));
        thread("two", () -> unwrapTwo(1));
        thread("recursive", () -> recurse(3));
        thread("reflective", () -> reflective(false));
        thread("reflective and sneaking", () -> reflective(true));
        thread(
                "shared",
                () -> {
                    try {
                        shared(1);
                    } catch (RuntimeException e) {
                        shared(0);
                    }
                });
        unwrap(5);
    }
}
/* crashes
java.lang.IllegalArgumentException in thread main, uncaught
  Unwrapped.inner:15 a=8
  Unwrapped.wrap:24 b=7
  Unwrapped.between:31 c=6
  Unwrapped.unwrap:44 e=5
  Unwrapped.main:150 args=[]
java.lang.IllegalArgumentException in thread one, uncaught
  Unwrapped.inner:15 a=4
  Unwrapped.wrap:24 b=3
  Unwrapped.between:31 c=2
  Unwrapped.unwrap:44 e=1
  Unwrapped.lambda$main$:136
java.lang.IllegalArgumentException in thread recursive, uncaught
  Unwrapped.inner:15 a=0
  Unwrapped.recurse:61 depth=0
  Unwrapped.recurse:63 depth=1
  Unwrapped.recurse:63 depth=2
  Unwrapped.recurse:63 depth=3
  Unwrapped.lambda$main$:138
java.lang.IllegalArgumentException in thread reflective and sneaking, uncaught
  Unwrapped.inner:15 a=3
  Unwrapped.reflect:75 g=2
  Unwrapped.sneak
  Unwrapped.calledBySneaking:88 h=1
  Unwrapped.sneak
  Unwrapped.reflective:126 sneaks=true
  Unwrapped.lambda$main$:140
java.lang.IllegalArgumentException in thread reflective, uncaught
  Unwrapped.inner:15 a=3
  Unwrapped.reflect:75 g=2
  Unwrapped.called:80 h=1
  Unwrapped.sneak
  Unwrapped.reflective:128 sneaks=false
  Unwrapped.lambda$main$:139
java.lang.IllegalArgumentException in thread two, uncaught
  Unwrapped.inner:15 a=5
  Unwrapped.wrap:24 b=4
  Unwrapped.between:31 c=3
  Unwrapped.again:36 d=2
  Unwrapped.unwrapTwo:52 f=1
  Unwrapped.lambda$main$:137
java.lang.RuntimeException in thread shared, uncaught
  Unwrapped.wrapShared i=0
  Unwrapped.shared i=0
  Unwrapped.lambda$main$
*/
