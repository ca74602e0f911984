/** A field that one method writes far more often than writes are kept, and its callees a few times. */
public class Counted {
    int position;
    long sum;

    void outer() {
        while (position < 5000) {
            position++;
            sum += position;
        }
        middle();
    }

    void middle() {
        position++;
        inner();
        position++;
    }

    void inner() {
        for (int i = 0; i < 3; i++) {
            position = -i;
        }
        sum = position / (sum - sum);
    }

    public static void main(String[] args) {
        new Counted().outer();
    }
}
