package crashes.math209;

import org.apache.commons.math.linear.RealMatrix;
import org.apache.commons.math.linear.RealMatrixImpl;

/**
 * MATH-209: a matrix with more rows than columns cannot be multiplied by a vector.
 *
 * <p>The result array has as many elements as the vector, not as the matrix has rows.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        double[][] prices = {{1, 2}, {3, 4}, {5, 6}};
        System.out.println(total(prices, new double[] {1, 1}) + " in total");
    }

    /** Sums what each shop asks for a basket. */
    static double total(double[][] prices, double[] basket) { // expect: reproduces, green when fixed
        RealMatrix matrix = new RealMatrixImpl(prices);
        double sum = 0;
        for (double price : matrix.operate(basket)) {
            sum += price;
        }
        return sum;
    }
}
