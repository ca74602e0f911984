/** Four crashes, of which some leave state behind that the tests of others find. */
public class Guarded {
    /** Does its work once. */
    static class Guard {
        private static boolean used;

        static void use(String port) {
            if (used) {
                return;
            }
            used = true;
            Integer.parseInt(port);
        }
    }

    /** Cannot be initialised; a JVM tries that once. */
    static class Settings {
        static final int PORT = Integer.parseInt("none");

        static int port() {
            return PORT;
        }
    }

    static int plain(String text) {
        return 1 / (text.length() - 1);
    }

    static int boot() {
        return Settings.port();
    }

    static void in(Runnable task) throws InterruptedException {
        Thread thread = new Thread(task);
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws InterruptedException {
        in(() -> Guard.use("none"));
        in(() -> plain("x"));
        in(() -> boot());
        throw new IllegalStateException("at last");
    }
}
