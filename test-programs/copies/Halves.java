import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Collections that have lost what they held when the failure comes, two steps from the arguments. */
public class Halves {
    final List<String> todo = new ArrayList<>(List.of("a", "b", "c"));
    final Map<String, Integer> ages = new HashMap<>(Map.of("Ada", 36, "Ben", 7));

    void work() {
        while (!todo.isEmpty()) {
            String next = todo.remove(0);
            ages.remove("Ben");
            if (next.equals("c")) {
                throw new IllegalStateException(next + ages.size());
            }
        }
    }

    public static void main(String[] args) {
        new Halves().work();
    }
}
