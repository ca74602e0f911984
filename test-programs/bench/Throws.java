import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Throws and catches, again and again, and prints thread CPU time in nanoseconds per throw.
 *
 * <p>Arguments: depth of the throw, throws per round, rounds, and the kind: {@code new} (an exception
 * with a stack trace each time), {@code shared} (one object, without stack trace) or {@code fast}
 * (HotSpot's pre-allocated one).
 */
public class Throws {
    static final class Shared extends RuntimeException {
        private static final long serialVersionUID = 1;

        Shared() {
            super(null, null, false, false);
        }
    }

    static final Shared SHARED = new Shared();
    static int sink;

    int calls;

    int down(int depth, String kind, int[] none) {
        calls++;
        if (depth == 0) {
            if (kind == null) {
                return none.length;
            }
            throw kind.isEmpty() ? new IllegalStateException("thrown") : SHARED;
        }
        return down(depth - 1, kind, none) + 1;
    }

    public static void main(String[] args) {
        int depth = Integer.parseInt(args[0]);
        int count = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        String kind = args[3].equals("new") ? "" : args[3].equals("shared") ? "s" : null;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Throws object = new Throws();
        for (int round = 0; round < rounds; round++) {
            long start = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < count; i++) {
                try {
                    sink += object.down(depth, kind, null);
                } catch (RuntimeException e) {
                    sink++;
                }
            }
            System.out.println((threads.getCurrentThreadCpuTime() - start) / count);
        }
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        System.out.println("heap " + (runtime.totalMemory() - runtime.freeMemory()) / 1024);
    }
}
