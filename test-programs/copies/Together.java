/**
 * Random writes to one object: several in a straight line, with calls of accessors and of methods that
 * write between them, in loops, with an exception half way. Each call of {@link #run} says by its
 * arguments what the fields hold when it is entered.
 *
 * <p>Compiled for Java 8, so that nested classes have accessors. The argument is the seed.
 */
public class Together {
    private static final int[] FEW = new int[3];

    private static int mask = 0xffff;
    private static int state;
    private static int steps;

    static final class Sum {
        int a;
        int b;
        int n;
        long l;
        boolean odd;
        String text;

        void add(int x) {
            a += x;
            a &= mask;
            b += a;
            b &= mask;
            n++;
        }

        void most(int x) {
            a = x;
            l = x;
            odd = (x & 1) == 1;
            text = "most " + x;
            b = -x;
            n = x;
            l++;
            odd = !odd;
        }

        void half(int at) {
            a = at;
            b = FEW[at];
            n = 1;
            text = "half";
        }

        /** One variable holds one object after the other. */
        static void pass(Sum one, Sum to, int x) {
            one.n = (one = to).n;
            one.a = x;
            one.b = x;
        }

        void reset() {
            text = null;
            l = 0;
            odd = false;
        }
    }

    /** Of its fields' fields, nothing is kept at a method's entry. */
    static final class Box {
        final Sum sum = new Sum();
    }

    static void run(Box box, int depth, int a, int b, int n, long l, boolean odd, String text) {
        Sum sum = box.sum;
        if (depth > 9 && steps > 20_000) {
            throw new IllegalStateException();
        }
        for (int i = next(5); i >= 0; i--) {
            steps++;
            switch (next(10)) {
                case 0:
                    sum.add(next(100));
                    break;
                case 1:
                    sum.most(next(100));
                    break;
                case 2:
                    try {
                        sum.half(next(6));
                    } catch (ArrayIndexOutOfBoundsException e) {
                        sum.l--;
                    }
                    break;
                case 3:
                    sum.reset();
                    break;
                case 4:
                    sum.n++;
                    visit(sum);
                    sum.n++;
                    sum.a = sum.n;
                    break;
                case 5:
                    for (int k = next(4); k > 0; k--) {
                        sum.n += k;
                        sum.add(k);
                    }
                    break;
                case 6:
                    run(box, depth + 1, sum.a, sum.b, sum.n, sum.l, sum.odd, sum.text);
                    break;
                case 7:
                    Sum.pass(new Sum(), sum, next(100));
                    break;
                default:
                    sum.n = depth;
                    try {
                        run(box, depth + 1, sum.a, sum.b, sum.n, sum.l, sum.odd, sum.text);
                    } finally {
                        // Also while an exception leaves: what it has left behind was entered before.
                        sum.n = -depth;
                        sum.add(depth);
                    }
            }
        }
    }

    static void visit(Sum sum) {
        if (next(2) == 0) {
            sum.l += FEW.length;
            sum.n--;
        }
    }

    private static int next(int bound) {
        state = state * 1_103_515_245 + 12_345;
        return (state >>> 16) % bound;
    }

    public static void main(String[] args) {
        state = Integer.parseInt(args[0]);
        Box box = new Box();
        Sum sum = box.sum;
        while (true) {
            run(box, 0, sum.a, sum.b, sum.n, sum.l, sum.odd, sum.text);
        }
    }
}
