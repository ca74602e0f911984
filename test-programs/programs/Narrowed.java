// options: report=uncaught;exception:Narrowed$Refused
// exit: 0

/** A rule that names an exception class means its subclasses, too. */
public class Narrowed {
    static class Refused extends RuntimeException {
        Refused(String message) {
            super(message);
        }
    }

    static class Overdrawn extends Refused {
        Overdrawn(String message) {
            super(message);
        }
    }

    static void pay(int amount) {
        if (amount > 100) {
            throw new Overdrawn("too much");
        }
        throw new IllegalStateException("closed");
    }

    public static void main(String[] args) throws InterruptedException {
        for (int amount : new int[] {1, 200}) {
            Thread thread = new Thread(() -> pay(amount), "payer");
            thread.setUncaughtExceptionHandler((of, error) -> System.out.println(error.getMessage()));
            thread.start();
            thread.join();
        }
    }
}
/* crashes
Narrowed$Overdrawn in thread payer, uncaught
  Narrowed.pay:20 amount=200
  Narrowed.lambda$main$:27 amount=200
*/
