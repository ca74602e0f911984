/** A thread dies of an exception. */
class Uncaught {
    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> { throw new IllegalStateException("dead"); }, "dying");
        thread.setUncaughtExceptionHandler((t, e) -> {});
        thread.start();
        thread.join();
        System.out.println("\nstill here");
    }
}
