import java.util.concurrent.CountDownLatch;

/** A method that waits in its first version while the class gets its second one. */
public class Versions {
    public static void main(String[] args) throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch redefined = new CountDownLatch(1);
        Thread old = new Thread(() -> Changing.run("first", 7, entered, redefined), "old");
        old.start();
        entered.await();
        Redefine.toSecondVersion();
        redefined.countDown();
        old.join();
        CountDownLatch open = new CountDownLatch(0);
        Thread fresh = new Thread(() -> Changing.run("second", 8, open, open), "new");
        fresh.start();
        fresh.join();
        Redefine.toWhatTransformersSaw();
        Thread third = new Thread(() -> Changing.run("third", 9, open, open), "third");
        third.start();
        third.join();
        System.out.println("done");
    }
}
