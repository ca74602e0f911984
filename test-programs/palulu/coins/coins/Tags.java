package coins;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Takes boxes, has a bridge for that, and gives one view of what it has. */
public final class Tags implements Consumer<Long> {
    private final Map<Long, Character> marks = new HashMap<>();
    private final Set<Long> view = Collections.unmodifiableSet(marks.keySet());

    @Override
    public void accept(Long tag) {
        mark(tag, '-');
    }

    public void mark(Long tag, Character mark) {
        if (tag == null) {
            throw new Untagged("a coin without a tag can be told from no other one, so it is not marked");
        }
        marks.put(tag, mark);
    }

    public Set<Long> all() {
        return view;
    }

    /** Says why. */
    public static final class Untagged extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Untagged(String why) {
            super(why);
        }
    }
}
