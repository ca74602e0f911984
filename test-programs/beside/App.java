import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/** What the tests of life beside other agents run: classes, threads, exceptions, one crash. */
public class App {
    interface Shape {
        int area(int scale);
    }

    record Box(int width, int height) implements Shape {
        public int area(int scale) {
            return width * height / scale;
        }
    }

    static final class Basket {
        private final List<Shape> shapes = new ArrayList<>();
        private int sum;

        void add(Shape shape) {
            shapes.add(shape);
        }

        int total(int scale) {
            sum = 0;
            for (Shape shape : shapes) {
                sum += shape.area(scale);
            }
            return sum;
        }
    }

    static int attempt(Basket basket, int scale) {
        try {
            return basket.total(scale);
        } catch (ArithmeticException e) {
            return -1;
        }
    }

    public static void main(String[] args) throws Exception {
        Basket basket = new Basket();
        for (int i = 1; i <= 5; i++) {
            basket.add(new Box(i, i + 1));
        }
        int sum = 0;
        for (int round = 0; round < 1000; round++) {
            sum += attempt(basket, round % 3);
        }
        System.out.println("sum " + sum);
        try {
            Optional.empty().get();
        } catch (NoSuchElementException e) {
            System.out.println(e.getMessage());
        }
        Thread thread = new Thread(() -> System.out.println("thread " + attempt(basket, 2)));
        thread.start();
        thread.join();
        basket.total(0);
    }
}
