package crashes.math369;

import org.apache.commons.math.FunctionEvaluationException;
import org.apache.commons.math.MaxIterationsExceededException;
import org.apache.commons.math.analysis.UnivariateRealFunction;
import org.apache.commons.math.analysis.solvers.BisectionSolver;

/**
 * MATH-369: bisection with a start value forgets the function.
 *
 * <p>The overload that takes a start value calls the deprecated one that takes the function from a
 * field, which nobody has set.
 */
public final class Driver {
    private Driver() {}

    /** The sine, named so that a test can make one. */
    public static final class Sine implements UnivariateRealFunction {
        @Override
        public double value(double x) {
            return Math.sin(x);
        }
    }

    public static void main(String[] args)
            throws MaxIterationsExceededException, FunctionEvaluationException {
        System.out.println("pi is about " + rootNear(new Sine(), 3.1));
    }

    static double rootNear(UnivariateRealFunction function, double guess) // expect: reproduces, green when fixed
            throws MaxIterationsExceededException, FunctionEvaluationException {
        return new BisectionSolver().solve(function, guess - 0.1, guess + 0.1, guess);
    }
}
