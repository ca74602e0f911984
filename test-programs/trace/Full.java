/** Goes on with a full heap, and then while the recorder does not know yet that there is room again. */
public class Full {
    static Object[] hog;
    int value;

    void step(int i) {
        value = i;
    }

    static void seen(OutOfMemoryError error) {}

    public static void main(String[] args) {
        Full known = new Full();
        known.step(0);
        for (int size = 1 << 20; size > 0; size >>= 4) {
            try {
                while (true) {
                    hog = new Object[] {hog, new byte[size]};
                }
            } catch (OutOfMemoryError e) {
                seen(e);
            }
        }
        for (int i = 1; i <= 1000; i++) {
            known.step(i);
        }
        hog = null;
        Full late = new Full();
        for (int i = 1; i <= 1000; i++) {
            late.step(i);
        }
    }
}
