import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A key changes after it was put into a table, so that nobody finds it there. */
public class Changed {
    static final class Seat {
        private int row;

        Seat(int row) {
            this.row = row;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Seat && ((Seat) other).row == row;
        }

        @Override
        public int hashCode() {
            return row;
        }
    }

    static int length(Map<Seat, String> guests, Set<Seat> taken, Seat seat) {
        if (!taken.contains(seat)) {
            return guests.get(seat).length();
        }
        return 0;
    }

    public static void main(String[] args) {
        Map<Seat, String> guests = new HashMap<>();
        Set<Seat> taken = new HashSet<>();
        Seat seat = new Seat(1);
        guests.put(seat, "Ann");
        taken.add(seat);
        seat.row = 2;
        length(guests, taken, seat);
    }
}
