package safes;

/** Opens when it is turned to ten numbers in their order, and never again after a wrong one. */
public class Safe {
    private final int[] numbers;
    private final String content;
    private int right;
    private boolean isBlocked;

    public Safe(String content, int key) {
        this.content = content;
        numbers = numbers(key);
    }

    static int[] numbers(int key) {
        int[] numbers = new int[10];
        for (int i = 0; i < numbers.length; i++) {
            key = key * 31 + 7;
            numbers[i] = Math.floorMod(key, 100);
        }
        return numbers;
    }

    public void turn(int number) {
        isBlocked |= right == numbers.length || numbers[right] != number;
        right += isBlocked ? 0 : 1;
    }

    public String open() {
        if (isBlocked || right < numbers.length) {
            throw new IllegalStateException("shut");
        }
        return content;
    }
}
