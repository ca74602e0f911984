package readable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Builders of several forms, and factories elsewhere. */
public class Makers {
    static void page(Page page) {
        throw new IllegalStateException("page");
    }

    static void mail(Mail mail) {
        page(Page.start().to("https://example.org").limit(5).make());
    }

    static void menu(Menu menu) {
        mail(Mail.builder("joe").subject("lunch").header("A: b").header("C: d").build());
    }

    static void drawn(Shape shape, Scale<Shape> scale) {
        menu(new Menu.Builder("noon").price("soup", 4).price("rice", 6).build());
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
