// exit: 1

/** Parameters that the body overwrites: their value at entry counts. */
public class Parameters {
    static int overwritten(int n, long big, double ratio, String text, int[] data) {
        n = n - 5;
        big *= 2;
        ratio = -ratio;
        text = text + n;
        if (n > 100) {
            data = new int[0];
        }
        return data[n] + text.length() + (int) big;
    }

    public static void main(String[] args) {
        overwritten(3, 1L << 40, 2.5, "x", new int[] {1, 2});
    }
}
/* crashes
java.lang.ArrayIndexOutOfBoundsException in thread main, uncaught
  Parameters.overwritten:13 n=3 big=1099511627776 ratio=2.5 text="x" data=[I(8 bytes)
  Parameters.main:17 args=[]
*/
