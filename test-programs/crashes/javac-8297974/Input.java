/** Passes a lambda with an expression body, and forgets the second argument. */
class Input {
    interface Change {
        int apply(int i);
    }

    void edit(Change change, String name) {
        edit(old -> old);
        edit(old -> log(old));
    }

    void log(Object value) {}
}
