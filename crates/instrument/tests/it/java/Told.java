/** Writes that are told one by one, together, or not at all. Compiled for Java 8, for its accessors. */
public class Told {
    private static int mask = 0xff;
    private static volatile int seen;
    private int[] few = new int[2];

    private static int call() {
        return Integer.parseInt("1");
    }

    static class Sum {
        int a;
        int b;
        int n;
        long l;
        String text;
        volatile boolean open;

        /** An accessor that only looks something up lies between. */
        void add(int x) {
            a += x;
            a &= mask;
            b += a;
            b &= mask;
            n++;
        }

        /** More than one probe tells, of all widths. */
        void most(int x) {
            text = null;
            l = x;
            n = x;
            b = x;
            a = x;
        }

        /** Something is called between. */
        void calls() {
            a = 1;
            b = call();
            n = 1;
        }

        /** A volatile field ends a line. */
        void opens() {
            a = 1;
            open = true;
            b = 1;
        }

        /** So does a way that leads elsewhere. */
        void branches(boolean all) {
            a = 1;
            b = 1;
            if (all) {
                n = 1;
                a = 2;
            }
            b = 2;
        }

        /** Of two objects. */
        static void both(Sum one, Sum two) {
            one.a = 1;
            two.a = 1;
            one.b = 2;
            two.b = 2;
            one = two;
            one.a = 2;
        }

        /** Nobody has seen this object. */
        static Sum made() {
            Sum sum = new Sum();
            sum.a = 1;
            sum.b = 2;
            return sum;
        }

        /** An accessor that reads an object's field may meet a null. */
        int reads(Told told, int at) {
            n = 1;
            l = told.few.length;
            a = at;
            return seen;
        }
    }
}
