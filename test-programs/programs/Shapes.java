// exit: 0

import java.util.function.IntUnaryOperator;

/** Static initialisers, synchronized methods, interface defaults, lambdas, nested handlers, loops. */
public class Shapes {
    static class Initialiser {
        static int[] data = {1};
        static int broken = data[args(3)];

        static int args(int n) {
            return n;
        }
    }

    interface Greeter {
        default int greet(String who, int times) {
            return who.length() / times;
        }

        static int twice(Object o) {
            return o.hashCode() * 2;
        }
    }

    synchronized int locked(int[] a, int i) {
        synchronized (a) {
            i++;
            return a[i];
        }
    }

    static int nested(int depth) {
        int result = 0;
        try {
            try {
                result = 10 / depth;
            } catch (IllegalStateException e) {
                result = 1;
            } finally {
                result++;
            }
        } catch (ClassCastException e) {
            result = 2;
        }
        return result;
    }

    static int loop(int n) {
        // The jump back goes to offset 0.
        while (true) {
            n--;
            if (100 / n > 60) {
                continue;
            }
        }
    }

    static Object rethrown(Object o) {
        try {
            return (Integer) o;
        } catch (ClassCastException e) {
            o = "changed";
            throw e;
        }
    }

    static int recursion(int n, byte b, char c, short s, boolean z, float f, double d) {
        return n == 0 ? Integer.parseInt("x" + b + c + s + z + f + d) : recursion(n - 1, b, c, s, z, f, d);
    }

    interface Body {
        void run() throws Throwable;
    }

    static void thread(String name, Body body) throws InterruptedException {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                body.run();
                            } catch (RuntimeException | Error e) {
                                throw e;
                            } catch (Throwable e) {
                                throw new AssertionError(e);
                            }
                        },
                        name);
        thread.setUncaughtExceptionHandler((t, e) -> {});
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws InterruptedException {
        thread("a initialiser", () -> System.out.println(Initialiser.broken));
        thread("b default", () -> new Greeter() {}.greet("you", 0));
        thread("c static in interface", () -> Greeter.twice(null));
        thread("d synchronized", () -> new Shapes().locked(new int[2], 1));
        thread("e nested", () -> nested(0));
        thread("f loop", () -> loop(3));
        thread("g rethrown", () -> rethrown("text"));
        String captured = "captured";
        thread(
                "h lambda",
                () -> {
                    IntUnaryOperator op = i -> captured.charAt(i);
                    op.applyAsInt(50);
                });
        thread(
                "i recursion",
                () -> recursion(2, (byte) -1, '\uffff', (short) -2, true, Float.NaN, Double.MIN_VALUE));
    }
}
/* crashes
java.lang.ArithmeticException in thread b default, uncaught
  Shapes$Greeter.greet:18 this=Shapes$1{} who="you" times=0
  Shapes.lambda$main$:96
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.ArithmeticException in thread e nested, uncaught
  Shapes.nested:37 depth=0
  Shapes.lambda$main$:99
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.ArithmeticException in thread f loop, uncaught
  Shapes.loop:53 n=3
  Shapes.lambda$main$:100
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.ArrayIndexOutOfBoundsException in thread d synchronized, uncaught
  Shapes.locked:29 this=Shapes{} a=[I(8 bytes) i=1
  Shapes.lambda$main$:98
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.ClassCastException in thread g rethrown, uncaught
  Shapes.rethrown:61 o="text"
  Shapes.lambda$main$:101
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.ExceptionInInitializerError <- java.lang.ArrayIndexOutOfBoundsException in thread a initialiser, uncaught
  Shapes.lambda$main$:95
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
  Shapes$Initialiser.<clinit>:9 (cause 1)
java.lang.NullPointerException in thread c static in interface, uncaught
  Shapes$Greeter.twice:22 o=null
  Shapes.lambda$main$:97
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.NumberFormatException in thread i recursion, uncaught
  Shapes.recursion:69 n=0 b=-1 c='U+{ffff}' s=-2 z=true f=NaNf d=5e-324
  Shapes.recursion:69 n=1 b=-1 c='U+{ffff}' s=-2 z=true f=NaNf d=5e-324
  Shapes.recursion:69 n=2 b=-1 c='U+{ffff}' s=-2 z=true f=NaNf d=5e-324
  Shapes.lambda$main$:111
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ )
java.lang.StringIndexOutOfBoundsException in thread h lambda, uncaught
  Shapes.lambda$main$:106 captured="captured" i=50
  Shapes.lambda$main$:107 captured="captured"
  Shapes.lambda$thread$:81 body=lambda(Shapes.lambda$main$ "captured")
*/
