// exit: 0
// jvm: -Xss512k

/** A stack overflow: the program sees its own error, and the frames at both ends are kept. */
public class Overflow {
    static int down(int n) {
        return down(n + 1) + 1;
    }

    public static void main(String[] args) {
        int caught = 0;
        for (int i = 0; i < 20; i++) {
            try {
                down(0);
            } catch (StackOverflowError e) {
                caught++;
            }
        }
        System.out.println(caught);
    }
}
