package crashes.math290;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.math.optimization.GoalType;
import org.apache.commons.math.optimization.OptimizationException;
import org.apache.commons.math.optimization.RealPointValuePair;
import org.apache.commons.math.optimization.linear.LinearConstraint;
import org.apache.commons.math.optimization.linear.LinearObjectiveFunction;
import org.apache.commons.math.optimization.linear.Relationship;
import org.apache.commons.math.optimization.linear.SimplexSolver;

/**
 * MATH-290: the simplex solver loses track of a basic row.
 *
 * <p>We buy two ingredients as cheaply as possible. A constraint with a negative right-hand side is
 * normalized by the solver, and a variable that appears in no constraint then has no basic row;
 * unboxing that absent row throws.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) throws OptimizationException {
        System.out.println("cost " + cheapest(new double[] {1, 5}, -1.0));
    }

    /** The least cost of a mix, given the price of each ingredient and the least amount. */
    static double cheapest(double[] prices, double atLeast) throws OptimizationException { // expect: reproduces, green when fixed
        List<LinearConstraint> constraints = new ArrayList<LinearConstraint>();
        constraints.add(new LinearConstraint(new double[] {2, 0}, Relationship.GEQ, atLeast));
        RealPointValuePair mix =
                new SimplexSolver()
                        .optimize(
                                new LinearObjectiveFunction(prices, 0),
                                constraints,
                                GoalType.MINIMIZE,
                                true);
        return mix.getValue();
    }
}
