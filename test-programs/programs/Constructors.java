// exit: 0

/** Exceptions before, in and after the call of the super constructor. */
public class Constructors {
    static class Base {
        Base(int n) {
            if (n < 0) {
                throw new IllegalArgumentException();
            }
        }
    }

    static class Derived extends Base {
        final String s;

        Derived(String s, int n) {
            super(s.length() + n);
            this.s = s;
            if (n == 7) {
                throw new IllegalStateException();
            }
        }

        Derived(long n) {
            this("long", (int) n);
            s.charAt((int) n);
        }
    }

    interface Body {
        void run();
    }

    static void thread(String name, Body body) throws InterruptedException {
        Thread thread = new Thread(body::run, name);
        thread.setUncaughtExceptionHandler((t, e) -> {});
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws InterruptedException {
        thread("a argument of super", () -> new Derived(null, 1));
        thread("b in super", () -> new Derived("x", -5));
        thread("c after super", () -> new Derived("xyz", 7));
        thread("d after this", () -> new Derived(100L));
    }
}
/* crashes
java.lang.IllegalArgumentException in thread b in super, uncaught
  Constructors$Base.<init>:8 n=-4
  Constructors$Derived.<init>:17 -- not captured: it was in its super(...) or this(...) call, where the JVM allows no handler
  Constructors.lambda$main$:43
java.lang.IllegalStateException in thread c after super, uncaught
  Constructors$Derived.<init>:20 s="xyz" n=7
  Constructors.lambda$main$:44
java.lang.NullPointerException in thread a argument of super, uncaught
  Constructors$Derived.<init>:17 s=null n=1
  Constructors.lambda$main$:42
java.lang.StringIndexOutOfBoundsException in thread d after this, uncaught
  Constructors$Derived.<init>:26 n=100
  Constructors.lambda$main$:45
*/
