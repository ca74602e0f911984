package halves;

/** Asks for even numbers, where assertions are on. */
public class Halves {
    private int sum;

    public int half(int number) {
        assert number % 2 == 0 : "odd";
        sum += number / 2;
        return number / 2;
    }

    public int sum() {
        return sum;
    }

    public static void main(String[] args) {
        Halves halves = new Halves();
        System.out.println(halves.half(8) + halves.half(7) + halves.sum());
    }
}
