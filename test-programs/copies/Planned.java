/** A crash whose frames a plan tells more of, or less, than the methods' own bodies do. */
public class Planned {
    private int paid;
    private final int[] ledger = {0};
    private int limit = 3;

    static class Bill {
        int lines;
    }

    /** Names no field of another class, but what it calls writes one that it then reads. */
    static void serve(Bill bill) {
        begin(bill);
        new Planned().order(5);
    }

    private static void begin(Bill bill) {
        if (bill.lines > 0) {
            throw new IllegalStateException("begun already");
        }
        bill.lines = 1;
    }

    /** Names no field, but what it calls writes one that it then reads. */
    void order(int amount) {
        pay(amount);
        deliver(null);
    }

    private void pay(int amount) {
        if (paid > 0) {
            throw new IllegalStateException("paid already");
        }
        paid = amount;
    }

    /** Reads fields that nobody writes: the reference alone will do. */
    private int deliver(String to) {
        return limit + paid + ledger[0] + to.length();
    }

    public static void main(String[] args) {
        serve(new Bill());
    }
}
