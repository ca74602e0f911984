package handouts;

import java.util.ArrayList;
import java.util.List;

/** A text in lines, those below others with more blanks before them; its parts can be made by anybody. */
public final class Outline {
    private final Point root = new Point("");

    private Outline() {}

    public static Outline parse(String text) {
        Outline outline = new Outline();
        List<Point> open = new ArrayList<>(List.of(outline.root));
        for (String line : text.split(";")) {
            String said = line.stripLeading();
            int depth = line.length() - said.length();
            open.subList(depth + 1, open.size()).clear();
            Point point = new Point(said);
            open.get(depth).add(point);
            open.add(point);
        }
        return outline;
    }

    public Point first() {
        return root.at(0);
    }

    /** One line, and those below it. */
    public static final class Point {
        private final String said;
        private final List<Point> below = new ArrayList<>();

        public Point(String said) {
            this.said = said;
        }

        public void add(Point point) {
            below.add(point);
        }

        public Point at(int place) {
            return below.get(place);
        }

        public String said() {
            return said;
        }
    }
}
