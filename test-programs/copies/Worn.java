/** Fails by what a static field, or a property, has become: no argument says it. */
final class Worn {
    private static int used;

    private Worn() {
    }

    static int next(int most) {
        if (used >= most) {
            throw new IllegalStateException("exhausted " + used);
        }
        return used++;
    }

    static int workers() {
        return Integer.parseInt(System.getProperty("worn.workers", "4"));
    }

    public static void main(String[] args) {
        used = 5;
        if (args.length > 0) {
            System.setProperty("worn.workers", "four");
            workers();
        }
        next(5);
    }
}
