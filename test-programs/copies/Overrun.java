/** More writes than are kept. */
public class Overrun {
    int used;
    final int[] counts = new int[1];

    void outer() {
        used = 1;
        for (int i = 0; i < 5000; i++) {
            counts[0]++;
        }
        inner();
    }

    void inner() {
        counts[0] = -1;
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        new Overrun().outer();
    }
}
