import java.util.ArrayList;
import java.util.List;

/** Fails because of what fields of enum constants have become since the enums were initialised. */
public class Constants {
    enum Registry {
        INSTANCE;

        private final List<String> names = new ArrayList<>();
        int rounds;

        void add(String name) {
            rounds++;
            names.add(name);
            if (names.size() == 3) {
                throw new IllegalStateException("full after " + rounds + ": " + names);
            }
        }
    }

    enum Level {
        LOW("low", 1),
        HIGH("high", 9) {
            @Override
            int weight() {
                return 2 * super.weight();
            }
        };

        final String name;
        private int weight;

        Level(String name, int weight) {
            this.name = name;
            this.weight = weight;
        }

        int weight() {
            return weight;
        }
    }

    static class Job {
        final Level level;

        Job(Level level) {
            this.level = level;
        }

        /** Fails by the weight of a constant that its receiver leads to, which is 0 by then. */
        void run(Registry registry) {
            if (level.weight() == 6) {
                level.weight = 0;
                registry.add(level.name);
            }
        }
    }

    public static void main(String[] args) {
        Registry.INSTANCE.add("a");
        Registry.INSTANCE.add("b");
        Level.HIGH.weight = 3;
        new Job(Level.HIGH).run(Registry.INSTANCE);
    }
}
