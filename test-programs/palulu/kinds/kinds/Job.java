package kinds;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** Has a name that is another one each time, and somebody who listens. */
public class Job {
    private final String id = UUID.randomUUID().toString();
    private final StringBuilder log = new StringBuilder();
    private final List<Consumer<String>> listeners = new ArrayList<>();

    public String id() {
        return id;
    }

    public void step(String name) {
        log.append(name).append(';');
        listeners.forEach(listener -> listener.accept(name));
    }

    public void on(Consumer<String> listener) {
        listeners.add(listener);
    }

    public String log() {
        return log.toString();
    }
}
