package gates;

/** Called like one that needs no import. */
public class Exception {
    public int check(int number) throws java.lang.Exception {
        if (number == 0) {
            throw new IllegalStateException("zero");
        }
        return number;
    }
}
