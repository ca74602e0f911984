import java.io.IOException;
import java.io.StringReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Work of which a part is recorded; the tests say which. */
public class Parts {
    static int sum;

    static class Service {
        /** Fails every third time, inside. */
        void request(int number) {
            step(number);
            if (number % 3 == 2) {
                try {
                    fail(number);
                } catch (IllegalStateException e) {
                    step(-number);
                }
            }
        }

        static void fail(int number) {
            new Failing(number);
        }
    }

    static class Base {
        Base(int number) {
            throw new IllegalStateException("of " + number);
        }
    }

    /** Whose end nobody can see: there is no handler around the call of the superclass. */
    static class Failing extends Base {
        Failing(int number) {
            super(number);
        }
    }

    /** What is wrong with it shows in a constructor that another one calls. */
    static class Account {
        Account(String owner) {
            this(owner, 0);
        }

        Account(String owner, int paid) {
            if (owner == null) {
                throw new IllegalArgumentException();
            }
            step(paid);
        }

        void request(int number) {
            step(number);
        }
    }

    static class Login {
        static String apiKey;
        final String user;
        private String password;
        private int pinCode;
        private String[] oldPasswords;

        Login(String user, String password, int pinCode) {
            this.user = user;
            this.password = password;
            this.pinCode = pinCode;
        }

        boolean check(String given, String... others) {
            return given.equals(password) || others.length > pinCode;
        }

        static int check(char[] password) {
            return password.length;
        }
    }

    static void step(int number) {
        sum += number;
    }

    static int depth(int n) {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static void work() {
        Service service = new Service();
        for (int i = 0; i < 10; i++) {
            service.request(i);
        }
    }

    static void secrets() {
        String secret = new StringBuilder("hunter").append(sum).toString();
        Login login = new Login(new String("ann"), secret, 271828);
        login.oldPasswords = "hunter before,hunter long ago".split(",");
        Login.apiKey = new StringBuilder("hunter of keys").toString();
        login.check(secret, login.oldPasswords);
        login.check(Login.apiKey);
        login.check(new String("plain"));
    }

    static int look(char[] given) {
        return given.length;
    }

    static void type(char[] given) {
        try {
            new StringReader("hunter two").read(given);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Login.check(given);
    }

    /** Nobody knows yet that a secret will be in them when they are seen first. */
    static void typed() throws Exception {
        char[] own = new char[10];
        char[] others = new char[10];
        look(own);
        look(others);
        type(own);
        Thread typist = new Thread(() -> type(others));
        typist.start();
        typist.join();
        // What was seen of late is forgotten.
        System.gc();
        look(own);
        look(others);
    }

    /** Calls after which comes one that no probe sees the end of. */
    static void refuse() {
        Account account = new Account("ann");
        for (int i = 0; i < 10; i++) {
            account.request(i);
            try {
                new Account(null);
            } catch (IllegalArgumentException e) {
                continue;
            }
            throw new AssertionError();
        }
    }

    /** A few megabytes of events. */
    static void window(int number) {
        for (int i = 0; i < 1_000_000; i++) {
            // Nothing that packs well.
            step(sum * 1103515244 + i);
        }
    }

    static void part(int number, CountDownLatch begun, CountDownLatch ends) throws Exception {
        begun.countDown();
        ends.await();
        step(number);
    }

    /** Two parts, of which the second ends while the first is going on; and one that begins after both. */
    static void overlap() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(0);
        Thread other = new Thread(() -> {
            try {
                part(1, begun, ends);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            step(-1);
        });
        other.start();
        begun.await();
        part(2, open, open);
        ends.countDown();
        other.join();
        step(-2);
        part(3, open, open);
        step(-3);
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("overlap")) {
            overlap();
            return;
        }
        if (args.length > 0 && args[0].equals("windows")) {
            for (int i = 0; i < 4; i++) {
                window(i);
            }
            return;
        }
        if (args.length > 0 && args[0].equals("refuse")) {
            refuse();
            return;
        }
        work();
        depth(3);
        if (args.length > 0) {
            // By reflection, for JDK 17 has none.
            ExecutorService executor = (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            Service service = new Service();
            for (int i = 0; i < 30; i++) {
                int number = 100 + i;
                executor.submit(() -> service.request(number));
            }
            executor.shutdown();
            executor.awaitTermination(5, TimeUnit.MINUTES);
            Thread.sleep(300); // The last thread ends behind its task, and the trace with this method.
        } else {
            Thread other = new Thread(Parts::work, "other");
            other.start();
            other.join();
        }
        typed();
        secrets();
        depth(1);
        step(7);
    }
}
