package crashes.math308;

import org.apache.commons.math.linear.EigenDecomposition;
import org.apache.commons.math.linear.EigenDecompositionImpl;
import org.apache.commons.math.linear.InvalidMatrixException;
import org.apache.commons.math.util.MathUtils;

/**
 * MATH-308: eigenvalues of a small tridiagonal matrix run past the end of a work array.
 *
 * <p>The caller wants the largest eigenfrequency of a chain of five masses. The ported Fortran
 * routine mistranslates an index, so that flipping the work array leaves its bounds.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) throws InvalidMatrixException {
        double[] diagonal = {
            22.330154644539597, 46.65485522478641, 17.393672330044705,
            54.46687435351116, 80.17800767709437
        };
        double[] coupling = {
            13.04450406501361, -5.977590941539671, 2.9040909856707517, 7.1570352792841225
        };
        System.out.println("largest " + largest(diagonal, coupling));
    }

    static double largest(double[] diagonal, double[] coupling) { // expect: reproduces, green when fixed
        EigenDecomposition decomposition =
                new EigenDecompositionImpl(diagonal, coupling, MathUtils.SAFE_MIN);
        return decomposition.getRealEigenvalue(0);
    }
}
