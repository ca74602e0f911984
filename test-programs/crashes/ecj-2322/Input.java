/** Prints a rate, then the result of a switch that yields from a try block. */
public class Input {
    static void report(double rate) {
        System.out.println(rate);
    }

    public static void main(String[] args) {
        int lines = 10;
        long millis = 1000;
        report((int) (lines * 10000.0 / millis));
        report((double) (lines * 10000.0 / millis));
        System.out.println(
                switch (lines) {
                    default -> {
                        try {
                            yield "done";
                        } finally {
                        }
                    }
                });
    }
}
