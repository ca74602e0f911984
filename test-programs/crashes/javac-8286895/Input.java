/** Negates a pattern test without parentheses. */
class Input {
    void run(Number n) {
        if (! n instanceof Integer i) {
            System.out.println("not an integer");
        }
    }
}
