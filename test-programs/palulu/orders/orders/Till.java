package orders;

import java.time.LocalDate;
import java.util.concurrent.Executor;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;

/** What it is passed, no test can make, but lambdas: also for an interface that only its package can name. */
public final class Till {
    private long sum;
    private Guard guard;
    private IntSupplier rung;
    static int issued;

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

    /** The number of the receipt. */
    public int receipt(IntSupplier number) {
        sum++;
        return number.getAsInt();
    }

    /** Numbers go on where others have ended. */
    public static int next() {
        return ++issued;
    }

    /** Whether another one was there. */
    public boolean ring(IntSupplier bell) {
        boolean isSame = rung == bell;
        rung = bell;
        return isSame;
    }

    public long total() {
        return sum;
    }
}
