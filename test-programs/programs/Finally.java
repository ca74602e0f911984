// exit: 1

import java.io.IOException;

/** What a finally block throws and catches on the way does not wipe the frames below it. */
public class Finally {
    static int thrower(String s) {
        return s.length();
    }

    static void cleanup(int n) throws IOException {
        throw new IOException("cleanup " + n);
    }

    static void work(String s) {
        try {
            thrower(s);
        } finally {
            for (int i = 0; i < 3; i++) {
                try {
                    cleanup(i);
                } catch (IOException e) {
                    // Of no interest to the caller.
                }
            }
        }
    }

    static void logged(String s) {
        try {
            work(s);
        } catch (NullPointerException e) {
            try {
                cleanup(7);
            } catch (IOException other) {
                // The log is full.
            }
            throw e;
        }
    }

    public static void main(String[] args) {
        logged(null);
    }
}
/* crashes
java.lang.NullPointerException in thread main, uncaught
  Finally.thrower:8 s=null
  Finally.work:17 s=null
  Finally.logged:31 s=null
  Finally.main:43 args=[]
*/
