package plugs.base;

/** Has something for those that extend it. */
public class Base {
    protected String own() {
        return "for heirs";
    }
}
