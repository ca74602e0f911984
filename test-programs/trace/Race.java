import java.lang.reflect.Array;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that see new objects, which nobody has told of, for the first time together. */
public class Race {
    static final Class<?>[] PRIMITIVES = {
        int.class, long.class, byte.class, char.class, short.class, float.class, double.class
    };
    static final Object[] ALL = new Object[20_000];
    static final AtomicInteger ARRIVED = new AtomicInteger();

    static void look(Object object) {}

    static void run(boolean locks) {
        for (int i = 0; i < ALL.length; i++) {
            if (i < 1000) {
                // Of classes that are new, too.
                ARRIVED.incrementAndGet();
                while (ARRIVED.get() < 2 * i + 2) {
                    Thread.yield();
                }
            }
            Object object = ALL[i];
            if (locks && i % 8 == 0) {
                synchronized (object) {
                    look(object);
                }
            } else {
                look(object);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < ALL.length; i++) {
            int length = PRIMITIVES.length;
            ALL[i] = i < 1000
                    ? Array.newInstance(PRIMITIVES[i % length], new int[1 + i / length])
                    : new Object();
        }
        Thread other = new Thread(() -> run(true));
        other.start();
        run(false);
        other.join();
    }
}
