/** Threads that write a field in turns, ordered by a lock, and in between each one that others do not write. */
public class Turns {
    static final Object LOCK = new Object();
    static int shared;
    static int first;
    static int second;
    static int third;
    static int fourth;
    static int sum;

    static void run(int turns, int who) {
        int random = who * 7919 + 1;
        int used = 0;
        for (int i = 0; i < turns; i++) {
            switch (who & 3) {
                case 0:
                    first = i;
                    break;
                case 1:
                    second = i;
                    break;
                case 2:
                    third = i;
                    break;
                default:
                    fourth = i;
            }
            synchronized (LOCK) {
                shared = shared + 1;
            }
            random = random * 1103515245 + 12345;
            for (int k = random >>> 16 & 63; k > 0; k--) {
                used = used * 31 + k;
            }
        }
        sum = used;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            int who = i;
            threads[i] = new Thread(() -> run(Integer.parseInt(args[0]), who));
            threads[i].start();
        }
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                // Stops all of them, wherever they are.
                Thread.getAllStackTraces();
            }
            thread.join();
        }
    }
}
