package readable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Builders of several forms, factories elsewhere, and what is made whole by calls that follow. */
public class Makers {
    static void added(Part leg, Part table, Entry second, Entry first) {
        throw new IllegalStateException("added");
    }

    static void grown(Pile<String> pile, Grid grid, Index index, Ages ages, Recent<String> recent) {
        Part table = new Part("table");
        Part leg = new Part("leg");
        table.add(new Part("top"));
        table.add(leg);
        leg.add(new Part("screw"));
        Diary diary = new Diary("mine");
        Entry first = new Entry(diary, "rain");
        added(leg, table, new Entry(diary, "sun"), first);
    }

    static void kept(Word word, Font font, Font plain) {
        Pile<String> pile = new Pile<>();
        pile.push("a");
        pile.push("b");
        Grid grid = new Grid(2, 3);
        grid.set(0, 2, 1.5);
        grid.set(1, 0, -1);
        Index index = new Index();
        index.put("one", 1);
        index.put("two", 2);
        Ages ages = new Ages();
        ages.birth("Ann", 1990);
        ages.birth("Bob", 2001);
        Recent<String> recent = new Recent<>(2);
        recent.add("x");
        recent.add("y");
        grown(pile, grid, index, ages, recent);
    }

    static void page(Page page) {
        Word word = new Word("pen");
        word.hashCode();
        word.letters();
        kept(word, Font.PLAIN.withSize(12).bold(true), Font.PLAIN);
    }

    static void mail(Mail mail) {
        page(Page.start().to("https://example.org").limit(5).make());
    }

    static void menu(Menu menu) {
        mail(Mail.builder("joe").subject("lunch").header("A: b").header("C: d").build());
    }

    static void many(Object[][] some, Object[][] others) {
        menu(new Menu.Builder("noon").price("soup", 4).price("rice", 6).build());
    }

    static void drawn(Shape shape, Scale<Shape> scale) {
        many(objects(), objects());
    }

    static Object[][] objects() {
        Object[][] rows = new Object[3][12];
        for (Object[] row : rows) {
            java.util.Arrays.setAll(row, at -> new StringBuilder());
        }
        return rows;
    }

    static void numbered(Ticket ticket) {
        drawn(Shape.circle(2.5), Scale.by(3));
    }

    public static void main(String[] args) {
        numbered(new Ticket("pen"));
    }
}

/** Its factory is in what it is declared to be. */
abstract class Shape {
    static Shape circle(double radius) {
        return new Circle(radius);
    }

    private static final class Circle extends Shape {
        private final double radius;

        private Circle(double radius) {
            this.radius = radius;
        }
    }
}

/** The same of an interface. */
interface Scale<T> {
    static Scale<Shape> by(int factor) {
        return new Hidden.ByFactor(factor);
    }

    class Hidden {
        private static class ByFactor implements Scale<Shape> {
            private final int factor;

            ByFactor(int factor) {
                this.factor = factor;
            }
        }
    }
}

/** Its constructor gives the recorded number once. */
class Ticket {
    private static int last;

    private final int number = ++last;
    private final String what;

    Ticket(String what) {
        this.what = what;
    }
}

/** Its builder is not called so. */
class Page {
    private final String url;
    private final int most;

    private Page(Spec spec) {
        url = spec.url;
        most = spec.limit;
    }

    static Spec start() {
        return new Spec();
    }

    static class Spec {
        private String url;
        private int limit = 30;

        Spec to(String url) {
            this.url = url;
            return this;
        }

        Spec limit(int limit) {
            this.limit = limit;
            return this;
        }

        Page make() {
            return new Page(this);
        }
    }
}

/** Its builder begins with something, and collects. */
class Mail {
    private final String receiver;
    private final String subject;
    private final List<String> headers;

    private Mail(Builder builder) {
        receiver = builder.receiver;
        subject = builder.subject;
        headers = List.copyOf(builder.headers);
    }

    static Builder builder(String receiver) {
        return new Builder(receiver);
    }

    static class Builder {
        private final String receiver;
        private final List<String> headers = new ArrayList<>();
        private String subject;

        private Builder(String receiver) {
            this.receiver = receiver;
        }

        Builder subject(String subject) {
            this.subject = subject;
            return this;
        }

        Builder header(String header) {
            headers.add(header);
            return this;
        }

        Mail build() {
            return new Mail(this);
        }
    }
}

/** The same with a constructor, and with keys and values. */
class Menu {
    private final String time;
    private final Map<String, Integer> prices;

    private Menu(String time, Map<String, Integer> prices) {
        this.time = time;
        this.prices = prices;
    }

    static class Builder {
        private final String time;
        private final Map<String, Integer> prices = new TreeMap<>();

        Builder(String time) {
            this.time = time;
        }

        Builder price(String dish, int price) {
            prices.put(dish, price);
            return this;
        }

        Menu build() {
            return new Menu(time, Collections.unmodifiableMap(prices));
        }
    }
}

/** Its parent is given it, once. */
class Part {
    private final String name;
    private final List<Part> parts = new ArrayList<>();
    private Part whole;

    Part(String name) {
        this.name = name;
    }

    void add(Part part) {
        if (part.whole != null) {
            throw new IllegalArgumentException("part of another one");
        }
        part.whole = this;
        parts.add(part);
    }
}

/** Its entries add themselves. */
class Diary {
    private final String name;
    private final List<Entry> entries = new ArrayList<>();

    Diary(String name) {
        this.name = name;
    }

    List<Entry> entries() {
        return entries;
    }
}

class Entry {
    private final Diary diary;
    private final String weather;

    Entry(Diary diary, String weather) {
        this.diary = diary;
        this.weather = weather;
        diary.entries().add(this);
    }
}

/** A chain, the last one first. */
class Pile<T> {
    private Node top;
    private int size;

    void push(T item) {
        Node node = new Node();
        node.item = item;
        node.below = top;
        top = node;
        size++;
    }

    private class Node {
        private T item;
        private Node below;
    }
}

/** A matrix in one array. */
class Grid {
    private final int rows;
    private final int columns;
    private final double[] cells;

    Grid(int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
        cells = new double[rows * columns];
    }

    void set(int row, int column, double value) {
        cells[row * columns + column] = value;
    }
}

/** A table of chains. */
class Index {
    private final Slot[] slots = new Slot[8];
    private int size;

    void put(String key, int value) {
        int hash = key.hashCode();
        slots[hash & 7] = new Slot(hash, key, value, slots[hash & 7]);
        size++;
    }

    private static class Slot {
        private final int hash;
        private final String key;
        private final int value;
        private final Slot next;

        Slot(int hash, String key, int value, Slot next) {
            this.hash = hash;
            this.key = key;
            this.value = value;
            this.next = next;
        }
    }
}

/** Holds what it makes of what it is given. */
class Ages {
    private final List<Birth> births = new ArrayList<>();

    void birth(String name, int year) {
        births.add(new Birth(name, year));
    }

    private static class Birth {
        private final String name;
        private final int year;

        Birth(String name, int year) {
            this.name = name;
            this.year = year;
        }
    }
}

/** A collection of the JDK's with more. */
class Recent<T> extends ArrayList<T> {
    private static final long serialVersionUID = 1;
    private final int most;

    Recent(int most) {
        this.most = most;
    }
}

/** Keeps what it has computed. */
class Word {
    private final String text;
    private int hash;
    private String letters;

    Word(String text) {
        this.text = text;
    }

    String letters() {
        if (letters == null) {
            letters = text + "!";
        }
        return letters;
    }

    @Override
    public int hashCode() {
        int known = hash;
        if (known == 0) {
            known = text.hashCode();
            hash = known;
        }
        return known;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Word && ((Word) other).text.equals(text);
    }
}

/** Never changes, but gives copies that have. */
final class Font implements Cloneable {
    static final Font PLAIN = new Font(10);
    private final int size;
    private boolean bold;

    private Font(int size) {
        this.size = size;
    }

    Font withSize(int size) {
        Font font = new Font(size);
        font.bold = bold;
        return font;
    }

    Font bold(boolean bold) {
        try {
            Font font = (Font) clone();
            font.bold = bold;
            return font;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
