/** Virtual threads with names, and texts that are longer than what is stored of them. */
public class Named {
    static void step(int number, String text) {}

    public static void main(String[] args) throws InterruptedException {
        Thread[] all = new Thread[3000];
        String text = "x".repeat(600);
        for (int i = 0; i < all.length; i++) {
            int number = i;
            all[i] = Thread.ofVirtual().name("guest-" + i).start(() -> step(number, text + number));
        }
        for (Thread thread : all) {
            thread.join();
        }
    }
}
