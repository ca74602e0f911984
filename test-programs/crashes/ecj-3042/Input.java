/** Calls a static method through an expression. */
public class Input {
    static void greet() {
        System.out.println("hello");
    }

    static void call(Input target) {
        (target != null ? target : null).greet();
    }

    public static void main(String[] args) {
        call(new Input());
    }
}
