/** Uses some of its fields, of two parameters. */
public class Known {
    int a;
    long b;
    String c;
    final int f = hashCode();
    static int s;

    int uses(Known other) {
        s++;
        return a + other.a + (int) other.b + f + other.hashCode();
    }

    static int both(Known one, Known other) {
        return one.a + (int) one.b + other.a + (int) other.b + other.hashCode();
    }
}
