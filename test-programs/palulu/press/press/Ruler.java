package press;

/** Nobody makes one: they are there, or come of one another. */
public class Ruler {
    public static final Ruler METRIC = new Ruler(10);

    private final int unit;

    private Ruler(int unit) {
        this.unit = unit;
    }

    public Ruler times(int factor) {
        return new Ruler(unit * factor);
    }

    public int mark(int number) {
        return unit * number;
    }
}
