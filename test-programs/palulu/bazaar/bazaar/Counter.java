package bazaar;

/** Methods of variable arity, some of them with others of their names. */
public class Counter implements Till {
    private int sum;

    public Counter(Item... items) {
        sum = items.length;
    }

    Counter(int sum, int... more) {
        this.sum = sum + more.length;
    }

    @Override
    public int ring(String what, Object... parts) {
        return sum += what.length() + parts.length;
    }

    public int call(String... names) {
        return call(true, names);
    }

    private int call(boolean loud, String... names) {
        return sum += loud ? names.length : 0;
    }

    public int add(int... numbers) {
        return sum += numbers.length;
    }

    /** Is what two numbers go to. */
    public int add(int one, int two) {
        return sum += one * two;
    }

    /** Each needs an answer. */
    public int noes(Boolean[] answers) {
        for (boolean answer : answers) {
            sum += answer ? 0 : 1;
        }
        return sum;
    }
}
