/** Works for ever on two threads, or ends in one of the ways there are. */
public class Ends {
    static final java.util.concurrent.atomic.AtomicInteger busy =
            new java.util.concurrent.atomic.AtomicInteger(2);
    static long sum;
    int[] data = new int[16];

    int step(int i) {
        data[i & 15] = i;
        return data[i + 1 & 15];
    }

    static void work(int rounds, int told) {
        Ends ends = new Ends();
        for (int i = 0; i < rounds; i++) {
            sum += ends.step(i);
            if (i == told && busy.decrementAndGet() == 0) {
                tell();
            }
        }
    }

    static void tell() {
        System.out.println("worked");
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        boolean goesOn = args[0].equals("busy");
        int told = Integer.parseInt(args[1]);
        int rounds = goesOn ? Integer.MAX_VALUE : told;
        Thread other = new Thread(() -> work(rounds, told), "other");
        other.setDaemon(true);
        other.start();
        work(rounds, told);
        other.join();
        tell();
        switch (args[0]) {
            case "return":
                return;
            case "exit":
                System.exit(3);
                return;
            case "halt":
                Runtime.getRuntime().halt(4);
                return;
            case "segv":
                java.lang.reflect.Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
                field.setAccessible(true);
                ((sun.misc.Unsafe) field.get(null)).putLong(1L << 20, 1);
                return;
            default:
                Thread.sleep(60_000);
        }
    }
}
