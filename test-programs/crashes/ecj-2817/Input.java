/** Infers the type argument of one call from another. */
public interface Input {
    class Box<T> {}

    class Sink<T> {}

    <T> void put(T value, Sink<? super T> sink);

    <T> Sink<Box<? super T>> sink();

    default void test() {
        put(new Box<Object[]>(), sink());
    }
}
