/** Constructors that do things before they call another one (Java 25). */
class Flexible {
    static class Checked {
        final int seen;

        Checked() {
            seen = peek();
        }

        int peek() {
            return 0;
        }
    }

    static class Prepared extends Checked {
        final int first;
        final long wide;
        final String text;
        int[] array;

        Prepared(Prepared from, boolean longer) {
            if (from == null) {
                throw new IllegalArgumentException("null");
            }
            int[] made = new int[2];
            made[0] = from.first;
            // Another object of the same class, and then this one.
            from.array = made;
            this.first = made[0] + 1;
            this.wide = longer ? from.wide + 1L : from.wide;
            this.text = longer ? from.text + "!" : null;
            String tried;
            try {
                tried = String.valueOf(10 / (from.first - 1));
            } catch (ArithmeticException e) {
                tried = "caught";
                this.array = new int[0];
            }
            super();
            if (array == null) {
                array = made;
            }
        }

        Prepared(int first) {
            this.first = first;
            this.wide = first;
            this.text = "text";
            super();
        }

        @Override
        int peek() {
            return first;
        }
    }

    public static Object prepared() {
        Prepared one = new Prepared(1);
        Prepared two = new Prepared(one, true);
        Prepared three = new Prepared(two, false);
        return two.seen + " " + two.wide + two.text + two.array.length + " " + three.seen + three.wide + three.text
            + three.array.length + one.array.length;
    }

    public static Object refused() {
        try {
            return new Prepared(null, true);
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }
}
