import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import sun.misc.Unsafe;

/** Objects that the program has asked for their hash codes before anybody has told of them. */
public class Hashed {
    /** Each object comes with one key, and each key with one object. */
    static void look(Object object, int key) {}

    /** Objects that no code with probes has touched. */
    static Object[] make(int count) {
        return Stream.generate(Object::new).limit(count).toArray();
    }

    static void lookAt(Object[] all, int from) {
        for (int i = 0; i < all.length; i++) {
            look(all[i], from + i);
        }
    }

    static void lookAtLocked(Object[] all, int from) {
        for (int i = 0; i < all.length; i++) {
            synchronized (all[i]) {
                look(all[i], from + i);
            }
        }
    }

    static void collect() {
        List<byte[]> garbage = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            garbage.add(new byte[10_000]);
        }
        System.gc();
    }

    /** Has the recorder go on as if it had given all numbers before this one. */
    static void goOnAt(long number) throws ReflectiveOperationException {
        Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        Class<?> numbers = Class.forName("java.lang.HindsightNumbers", false, null);
        Field next = numbers.getDeclaredField("numbers");
        next.setAccessible(true);
        ((Unsafe) unsafe.get(null)).putLong(next.getLong(null), number);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        if (args.length > 1) {
            goOnAt(Long.parseLong(args[1]));
        }
        Object[] hashed = make(count);
        int sum = 0;
        for (Object object : hashed) {
            sum += System.identityHashCode(object);
        }
        Object[] plain = make(count);
        Object[] locked = make(1000);
        Object[] hashedAndLocked = make(1000);
        for (Object object : hashedAndLocked) {
            sum += System.identityHashCode(object);
        }
        int next = 3 * count;
        lookAt(plain, 0);
        for (int round = 0; round < 3; round++) {
            lookAt(hashed, count);
            lookAtLocked(locked, next);
            lookAtLocked(hashedAndLocked, next + 1000);
            collect();
            lookAt(plain, 0);
            lookAt(locked, next);
            lookAt(hashedAndLocked, next + 1000);
        }
        // Their monitors are somewhere else now.
        for (int i = 0; i < 100; i++) {
            synchronized (hashed[i]) {
                hashed[i].wait(1);
                look(hashed[i], count + i);
            }
            synchronized (plain[i]) {
                plain[i].wait(1);
                look(plain[i], i);
            }
        }
        System.out.println(sum != 0);
    }
}
