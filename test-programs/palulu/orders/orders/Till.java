package orders;

import java.time.LocalDate;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;

/** What it is passed, no test can make, but lambdas: also for an interface that only its package can name. */
public final class Till {
    private long sum;
    private Guard guard;

    interface Guard {
        boolean admits(long amount);
    }

    public void put(LocalDate date, long amount) {
        sum += amount;
    }

    public void add(long amount) {
        if (guard == null || guard.admits(amount)) {
            sum += amount;
        }
    }

    /** Whether there was none. */
    public boolean guard(Guard by) {
        boolean isFirst = guard == null;
        guard = by;
        return isFirst;
    }

    public void tell(LongConsumer to) {
        to.accept(sum);
    }

    public void tell(Executor by) {
        by.execute(() -> sum++);
    }

    public long total() {
        return sum;
    }
}
