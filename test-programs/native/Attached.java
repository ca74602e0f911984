import java.util.concurrent.atomic.AtomicInteger;

/** What threads of native code call: every tenth fails. */
public class Attached {
    static final AtomicInteger called = new AtomicInteger();
    static final AtomicInteger failed = new AtomicInteger();

    static native String threads(int count);

    static void work(int number) {
        called.incrementAndGet();
        check(number, "number " + number);
    }

    static void check(int number, String text) {
        if (number % 10 == 9) {
            throw new IllegalArgumentException(text);
        }
    }

    public static void main(String[] args) {
        System.load(args[0]);
        Thread.setDefaultUncaughtExceptionHandler((thread, exception) -> failed.incrementAndGet());
        System.out.println(threads(Integer.parseInt(args[1])));
        System.out.println(called + " calls, " + failed + " failed");
    }
}
