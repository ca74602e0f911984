package bazaar;

/** Gives away what no source elsewhere can name. */
public class Chest {
    /** Is the same one each time. */
    static class Lock {}

    private final Lock lock = new Lock();
    private int opened;

    public Lock lock() {
        return lock;
    }

    public int open() {
        return ++opened;
    }
}
