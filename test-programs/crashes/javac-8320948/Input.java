import java.util.List;

/** Calls a constructor with one argument too few, inferred through two generic methods. */
class Input {
    class Report {
        private Report(Author author, String unused) {}

        Report about(Topic<String> topics) {
            return new Report(Author.of(Topic.all(topics)));
        }
    }

    interface Author {
        static <E> Author of(List<? extends Topic<E>> topics) {
            return null;
        }
    }

    static class Topic<E> {
        static <R> List<? extends Topic<R>> all(Topic<R> topics) {
            return null;
        }
    }
}
