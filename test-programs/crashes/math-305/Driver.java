package crashes.math305;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.commons.math.stat.clustering.Cluster;
import org.apache.commons.math.stat.clustering.EuclideanIntegerPoint;
import org.apache.commons.math.stat.clustering.KMeansPlusPlusClusterer;

/**
 * MATH-305: clustering points that are far apart finds no nearest cluster.
 *
 * <p>The distance of integer points is summed in an {@code int}, overflows, and its square root is
 * not a number; no cluster is then nearer than any other, and the null is used.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        int[][] houses = {{1959, 325100}, {1960, 373200}};
        System.out.println(cluster(houses, 1).size() + " cluster(s)");
    }

    /** Groups houses, each a year and a price, into so many clusters. */
    static List<Cluster<EuclideanIntegerPoint>> cluster(int[][] houses, int count) { // expect: reproduces, green when fixed
        List<EuclideanIntegerPoint> points = new ArrayList<EuclideanIntegerPoint>();
        for (int[] house : houses) {
            points.add(new EuclideanIntegerPoint(house));
        }
        return new KMeansPlusPlusClusterer<EuclideanIntegerPoint>(new Random(1746432956321L))
                .cluster(points, count, 1);
    }
}
