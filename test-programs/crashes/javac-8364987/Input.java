/** Assigns a box of one type to a box of another. */
class Input {
    static class Box<T> {}

    void run() {
        Box<Object> box = new Box<Input>();
    }
}
