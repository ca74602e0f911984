import java.util.ArrayList;
import java.util.List;

/** Does its work once: a test that has done it leaves nothing to do for another. */
public class Once {
    enum Service {
        INSTANCE;

        private boolean started;

        void start(String port) {
            if (started) {
                return;
            }
            started = true;
            Integer.parseInt(port);
        }
    }

    private static boolean loaded;
    private static final List<String> NAMES = new ArrayList<>();

    static void load(String line) {
        if (loaded || !NAMES.isEmpty()) {
            return;
        }
        loaded = true;
        NAMES.add(line);
        Service.INSTANCE.start(line.substring(line.indexOf('=') + 1));
    }

    static void boot(String line) {
        load(line.trim());
    }

    public static void main(String[] args) {
        boot(" port=none ");
    }
}
