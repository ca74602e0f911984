package coins;

/** Numbers: one kind of them stays, another changes when it is asked. */
public interface Row {
    int first();

    int size();

    static Row of(int one, int other) {
        return new Two(one, other);
    }

    static boolean isShort(Row row) {
        return row.size() < 9;
    }

    /** Stays. */
    final class Two implements Row {
        private final int one;
        private final int other;

        Two(int one, int other) {
            this.one = one;
            this.other = other;
        }

        @Override
        public int first() {
            return Math.min(one, other);
        }

        @Override
        public int size() {
            return 2;
        }
    }

    /** Changes. */
    final class Count implements Row {
        private int next;

        @Override
        public int first() {
            return next++;
        }

        @Override
        public int size() {
            return 1;
        }
    }
}
