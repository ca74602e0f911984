// jvm: -Xmx96m
// exit: 0

/** What an exception that is over has kept makes no program run out of memory. */
public class Memory {
    static int fail(byte[] data, int i) {
        throw new IllegalStateException("at " + i + " of " + data.length);
    }

    public static void main(String[] args) {
        int caught = 0;
        for (int i = 0; i < 20; i++) {
            byte[] data = new byte[40 << 20];
            try {
                caught += fail(data, i);
            } catch (IllegalStateException e) {
                caught++;
            }
            data = null;
        }
        System.out.println(caught);
    }
}
