package kinds;

public class Holder<T> {
    private final T held;

    public Holder(T held) {
        this.held = held;
    }

    public T get() {
        return held;
    }
}
