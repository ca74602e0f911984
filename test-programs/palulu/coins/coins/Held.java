package coins;

/** What any source may ask, though none can name it. */
abstract class Held {
    protected int count;

    public int count() {
        return count;
    }

    public String unit() {
        return "thing";
    }
}
