/** Makes so many millions of events, half of them calls and half returns, and writes between. */
public class TraceLong {
    private int field;

    int call(int a) {
        field = a;
        return a + 1;
    }

    public static void main(String[] args) {
        long calls = Long.parseLong(args[0]) * 1_000_000 / 3;
        TraceLong object = new TraceLong();
        int last = 0;
        for (long i = 0; i < calls; i++) {
            last = object.call(last);
        }
        System.out.println(last);
    }
}
