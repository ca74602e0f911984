import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Calls that do next to nothing; the last line has the nanoseconds of each in steady state: processor time
 * of the thread that calls, and of the whole process for the static call, what other threads do with the
 * recording included.
 *
 * <p>{@code TraceSmall [CALLS]}, in a round, of each kind.
 */
public class TraceSmall {
    /** What is called; a class of its own, so that its calls can be the outermost ones that count. */
    static class Calls {
        private int field;

        static int call(int a) {
            return a + 1;
        }

        Object pass(Object object) {
            return object;
        }

        void write(int value) {
            field = value;
        }
    }

    static long calls(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Calls.call(i);
        }
        return sum;
    }

    static long passes(Calls small, Object object, int n) {
        long same = 0;
        for (int i = 0; i < n; i++) {
            same += small.pass(object) == object ? 1 : 0;
        }
        return same;
    }

    static long writes(Calls small, int n) {
        for (int i = 0; i < n; i++) {
            small.write(i);
        }
        return small.field;
    }

    static Object creations(int n) {
        Object[] last = new Object[1];
        for (int i = 0; i < n; i++) {
            last[0] = new Calls();
        }
        return last[0];
    }

    public static void main(String[] args) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Calls small = new Calls();
        Object object = new Object();
        long sum = 0;
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 10_000_000;
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int round = 0; round < 6; round++) {
            long process = system.getProcessCpuTime();
            long start = threads.getCurrentThreadCpuTime();
            sum += calls(n);
            long called = threads.getCurrentThreadCpuTime();
            process = system.getProcessCpuTime() - process;
            sum += passes(small, object, n);
            long passed = threads.getCurrentThreadCpuTime();
            sum += writes(small, n);
            long written = threads.getCurrentThreadCpuTime();
            sum += creations(n / 10).hashCode();
            long created = threads.getCurrentThreadCpuTime();
            System.out.printf(
                    "static call %.1f ns (process %.1f ns), call with two objects %.1f ns, call with a write %.1f ns, new object %.1f ns%n",
                    (double) (called - start) / n,
                    (double) process / n,
                    (double) (passed - called) / n,
                    (double) (written - passed) / n,
                    10.0 * (created - written) / n);
        }
        if (sum == 42) {
            System.out.println();
        }
    }
}
