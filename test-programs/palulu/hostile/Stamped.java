import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** An account whose entries are stamped: much of what it holds is never the same again. */
public class Stamped {
    private final List<String> log = new ArrayList<>();
    private final UUID id = UUID.randomUUID();
    private long balance;
    private final long made = System.nanoTime();

    public long now() {
        return System.currentTimeMillis();
    }

    public long pay(int amount) {
        balance += amount;
        log.add(Instant.now() + " " + amount);
        return balance;
    }

    public long draw(int amount) {
        if (amount > balance) {
            throw new IllegalStateException("only " + balance);
        }
        return pay(-amount);
    }

    public boolean isOlder() throws InterruptedException {
        Thread.sleep(2);
        return System.nanoTime() - made > 0;
    }

    public int entries() {
        return log.size();
    }

    public List<String> entriesOf(int from) {
        return log.subList(Math.min(Math.max(from, 0), log.size()), log.size());
    }

    public String number() {
        return id.toString();
    }

    public int throwDice() {
        return new Random().nextInt(6) + ThreadLocalRandom.current().nextInt(6)
                + new SecureRandom().nextInt(6) + (int) (6 * Math.random());
    }

    public long bonus() {
        if (ThreadLocalRandom.current().nextBoolean()) {
            balance++;
        }
        return balance;
    }
}
