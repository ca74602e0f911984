import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Fails because of what static fields have become since their classes were initialised. */
public class Settings {
    static class Registry {
        private static final Map<String, Integer> LIMITS = new HashMap<>();
        static int rounds = 1;
        static String password = "hunter2-in-a-static";
        static final int CONSTANT = 7;

        static void limit(String name, int most) {
            LIMITS.put(name, most);
        }

        static int left(String name) {
            Integer most = LIMITS.get(name);
            return most == null ? CONSTANT : most - 5 * rounds;
        }
    }

    private static Settings last;
    private static final List<Settings> ALL = new ArrayList<>();

    final String name;

    Settings(String name) {
        this.name = name;
        last = this;
        ALL.add(this);
    }

    /** Reads statics of its own class alone. */
    void check() {
        if (ALL.size() == 2 && last == this && ALL.get(1) == this) {
            throw new IllegalStateException("full: " + name);
        }
    }

    /** Reads those of a class that is not on the stack, but for a plan nobody would know. */
    int compute(String of) {
        int left = Registry.left(of);
        if (left < 0) {
            throw new IllegalArgumentException(of);
        }
        return left;
    }

    public static void main(String[] args) {
        new Settings("first");
        Settings second = new Settings("second");
        Registry.limit("second", 10);
        Registry.rounds = 3;
        if (args.length == 0) {
            second.check();
        } else {
            second.compute("second");
        }
    }
}
