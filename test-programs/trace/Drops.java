/** More threads than anybody packs for: each counts its steps. */
public class Drops {
    static int last;

    static void step(int number) {
        last = number;
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int number = 0; number < rounds; number++) {
                    step(number);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
