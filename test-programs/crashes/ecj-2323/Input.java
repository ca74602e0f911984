/** Indexes arrays that are assigned in the same expression. */
public class Input {
    static void write() {
        int[] cells = null;
        (cells = new int[1])[0] = 42;
    }

    static int read(int key) {
        int[] cells = null;
        System.out.println(
                switch (key) {
                    default -> {
                        try {
                            yield 42;
                        } finally {
                        }
                    }
                });
        return (cells = new int[1])[0];
    }

    public static void main(String[] args) {
        write();
        System.out.println(read(10));
    }
}
