import java.io.ByteArrayInputStream;
import java.io.InputStream;

/** Many threads read a little at a time into large buffers. */
public class Buffers {
    static class Ones extends InputStream {
        @Override
        public int read() {
            return 1;
        }

        @Override
        public int read(byte[] bytes, int start, int length) {
            bytes[start] = 1;
            return 1;
        }
    }

    static void fill(byte[] buffer) {
        try {
            InputStream ones = new Ones();
            for (int i = 0; i < 2_000; i++) {
                ones.read(buffer, 0, buffer.length);
                new ByteArrayInputStream(new byte[1]).read(buffer, 1, buffer.length - 1);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** More than is kept. */
    static void large(byte[] bytes, int[] counts) {
        counts[1]++;
        java.util.Arrays.fill(bytes, (byte) 1);
        throw new IllegalStateException();
    }

    static void read(byte[] buffer) {
        fill(buffer);
        throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[100];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> fill(new byte[1 << 16]));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (args.length > 0) {
            large(new byte[50_000_000], new int[] {2, 3});
        }
        byte[] buffer = new byte[1 << 16];
        buffer[0] = 7;
        read(buffer);
    }
}
