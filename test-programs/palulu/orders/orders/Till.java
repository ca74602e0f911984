package orders;

import java.time.LocalDate;
import java.util.function.LongConsumer;

/** What it is passed, no test can make. */
public final class Till {
    private long sum;

    public void put(LocalDate date, long amount) {
        sum += amount;
    }

    public void add(long amount) {
        sum += amount;
    }

    public void tell(LongConsumer to) {
        to.accept(sum);
    }

    public long total() {
        return sum;
    }
}
