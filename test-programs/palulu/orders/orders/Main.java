package orders;

import java.time.LocalDate;
import java.util.Arrays;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

/** Changes an order by its lines, and reckons well and badly. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        Order order = new Order().add("bolt", 3).add("nut", 1);
        order.line(0).more(2);
        int[] counts = order.counts();
        String label = order.label(line -> line.article() + "=" + line.count());
        label += order.label(Line::article);
        order.close();
        label += order.receipt().text();
        for (String text : new String[] {"8/2", "9/3", "1/1", "6/5", "8/0", "7/0", "8-2", "x/1"}) {
            try {
                counts[0] += Sums.of(text);
            } catch (ArithmeticException | IllegalArgumentException failed) {
                counts[1]++;
            }
        }
        int[] sorted = {30, 10, 20};
        Arrays.sort(sorted);
        int[] copied = new int[2];
        System.arraycopy(new int[] {4, 6, 7}, 1, copied, 0, 2);
        counts[0] += Sums.largest(sorted) + Sums.largest(copied);
        for (Journal.Entry entry : new Journal("one,three")) {
            counts[0] += entry.length();
            label += entry.upper();
        }
        Till dated = new Till();
        dated.put(LocalDate.of(2024, 1, 31), 100);
        dated.add(5);
        Till told = new Till();
        told.add(7);
        told.tell((long sum) -> { });
        told.add(8);
        counts[0] += dated.total() + told.total();
        told.guard(amount -> amount > 1);
        told.add(1);
        counts[0] += told.total();
        Till.issued = 40;
        Till numbered = new Till();
        numbered.add(2);
        label += numbered.receipt(Till::next);
        numbered.add(3);
        counts[0] += numbered.total() + Sums.drawn(Till::next);
        Till rung = new Till();
        rung.add(4);
        IntSupplier bell = Till::next;
        for (int time = 0; time < 2; time++) {
            label += rung.ring(bell);
        }
        Attempts attempts = new Attempts();
        label += attempts.ask(() -> "tea", () -> "water");
        label += attempts.ask(() -> { throw new IllegalStateException("no tea"); }, () -> "water");
        label += attempts.ask(() -> { throw new Attempts.Shortage("milk"); }, () -> "cream");
        counts[0] += attempts.count("12", Integer::parseInt);
        counts[0] += attempts.count("seven", new ToIntFunction<String>() {
            @Override
            public int applyAsInt(String text) {
                return text.length();
            }
        });
        label += new Attempts().ask(() -> "salt", () -> "sand");
        System.out.println(counts[0] + " " + counts[1] + " " + label);
    }
}
