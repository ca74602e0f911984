package kinds;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes what it is told the class of. */
public class Net<V, E> {
    public static class Wire {
        public int length() {
            return 3;
        }
    }

    private final Class<? extends E> kind;
    private final List<V> ends = new ArrayList<>();
    private String name;

    public Net(Class<? extends E> kind) {
        this.kind = kind;
    }

    public E link(V from, V to) throws ReflectiveOperationException {
        ends.add(from);
        ends.add(to);
        return kind.getDeclaredConstructor().newInstance();
    }

    public int ends() {
        return ends.size();
    }

    public Net<V, E> named(String name) {
        this.name = name;
        return this;
    }

    public Optional<String> name() {
        return Optional.ofNullable(name);
    }
}
