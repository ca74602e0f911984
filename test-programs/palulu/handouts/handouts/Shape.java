package handouts;

import java.math.BigDecimal;
import java.util.List;
import java.util.OptionalInt;

/** What there is of it nobody can name; arrays within arrays and values come out of it. */
public abstract class Shape {
    private int size = 1;

    public static Shape square() {
        return new Square();
    }

    public int grow(int by) {
        size += by;
        if (size > 9) {
            throw new IllegalStateException("no room for " + size);
        }
        return size;
    }

    public abstract String name();

    public BigDecimal area() {
        return BigDecimal.TEN.multiply(BigDecimal.valueOf(size));
    }

    public OptionalInt corners() {
        return OptionalInt.of(4);
    }

    public static int[][] grid(int size) {
        int[][] grid = new int[size][size];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                grid[i][j] = i * j;
            }
        }
        return grid;
    }

    public static List<String[]> rows(String text) {
        return List.of(text.split(","), new String[] {"end"});
    }

    public static Object[] pair(Object one, Object two) {
        return new Object[] {two, one};
    }
}

final class Square extends Shape {
    @Override
    public String name() {
        return "square";
    }
}
