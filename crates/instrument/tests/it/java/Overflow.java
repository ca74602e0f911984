/** Stack overflows: where they strike is not the same in each run. */
class Overflow {
    int depth;
    int[] array = new int[1];

    static class Deep extends Overflow {
        Deep next;

        Deep(int n) {
            super();
            next = new Deep(n + 1);
        }
    }

    static int down(Overflow it, int n) {
        it.depth = n;
        it.array[0] = n;
        try {
            return down(it, n + 1);
        } finally {
            it.array[0]--;
        }
    }

    static boolean catching(int n) {
        try {
            return catching(n + 1);
        } catch (StackOverflowError e) {
            return n > 10;
        }
    }

    static synchronized int locked(int n) {
        synchronized (Overflow.class) {
            return locked(n + 1);
        }
    }

    static int after() {
        return 1;
    }

    public static Object overflows() throws InterruptedException {
        boolean enough = catching(0);
        Overflow it = new Overflow();
        try {
            down(it, 0);
        } catch (StackOverflowError e) {
            enough &= it.depth > 10;
        }
        try {
            new Deep(0);
        } catch (StackOverflowError e) {
            enough &= after() == 1;
        }
        try {
            locked(0);
        } catch (StackOverflowError e) {
            enough &= !Thread.holdsLock(Overflow.class);
        }
        return enough;
    }
}
