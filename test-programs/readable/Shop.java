package readable;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/** Objects of many shapes, each of which a person would know how to make. */
public class Shop {
    final Map<String, Integer> stock = new HashMap<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final Set<String> tags = new LinkedHashSet<>();
    private final Deque<String> queue = new ArrayDeque<>();
    private final List<Item> shelf = new ArrayList<>();
    private int opened;

    Shop with(Item item) {
        shelf.add(item);
        return this;
    }

    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    public Set<String> getTags() {
        return tags;
    }

    void addToQueue(String entry) {
        queue.add(entry);
    }

    void setOpened(int opened) {
        this.opened = opened;
    }

    void book(Customer customer, LocalDate date, List<Item> items, BigDecimal price, Color color) {
        Order order = new Order(customer, items);
        order.setDate(date);
        order.note = "rush";
        total(order, Locale.GERMANY, Optional.of("coupon"), price, color);
    }

    void total(Order order, Locale locale, Optional<String> coupon, BigDecimal price, Color color) {
        Node first = new Node("a");
        first.next = new Node("b");
        first.next.next = first;
        Request request = Request.builder("GET").url("https://example.org").retries(3).build();
        Map<String, List<Integer>> ratings = new HashMap<>();
        ratings.put("pen", new ArrayList<>(Arrays.asList(5, null)));
        BitSet days = new BitSet();
        days.set(1, 3);
        days.set(70);
        fail(first, request, Money.of(250, "EUR"), Size.LARGE, ratings, new Box<>(UUID.fromString(
                "00000000-0000-0001-0000-000000000002")), new Clock(), "abc".toCharArray(), days);
    }

    static void fail(Node node, Request request, Money money, Size size,
            Map<String, List<Integer>> ratings, Box<UUID> box, Clock clock, char[] letters, BitSet days) {
        LongAdder visits = new LongAdder();
        visits.add(41);
        visits.increment();
        StringJoiner names = new StringJoiner(", ", "[", "]").add("Ada").add("Ben");
        count(visits, names, new CountDownLatch(3), new Semaphore(2, true));
    }

    static void count(LongAdder visits, StringJoiner names, CountDownLatch missing, Semaphore seats) {
        Outcome.FAILURE.end("no such thing");
    }

    public static void main(String[] args) {
        Shop shop = new Shop();
        shop.stock.put("pen", 3);
        shop.setOpened(9);
        Listener listener = new Listener();
        listener.setName("Bob \"the \\ builder\"");
        listener.setActive(true);
        shop.addListener(listener);
        shop.getTags().add("new");
        shop.addToQueue("first");
        shop.with(new Item("cup", 1)).with(new Item("jar", 4));
        shop.book(new Customer("Ann", new Address("Main St", 5)), LocalDate.of(2024, 2, 29),
                List.of(new Item("pen", 2), new Item("ink", 1)), new BigDecimal("12.50"), Color.RED);
    }
}

enum Color { RED, GREEN }

enum Outcome {
    FAILURE {
        @Override
        void end(String why) {
            throw new IllegalStateException(why);
        }
    };

    abstract void end(String why);
}

class Listener {
    private String name;
    private boolean active;

    public void setName(String name) {
        this.name = name;
    }

    public void setActive(boolean active) {
        this.active = active;
    }
}

class Address {
    private final String street;
    private final int number;

    Address(String street, int number) {
        this.street = Objects.requireNonNull(street);
        this.number = number;
    }
}

class Customer {
    private final String name;
    private final Address address;

    Customer(String name, Address address) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException();
        }
        this.name = name;
        this.address = address;
    }
}

class Item {
    private final String name;
    private final int count;

    Item(String name, int count) {
        this.name = name;
        this.count = count;
    }
}

class Order {
    private final Customer customer;
    /** The same object in two places. */
    private final Customer payer;
    private final List<Item> items;
    private LocalDate date;
    String note;

    Order(Customer customer, Collection<Item> items) {
        this.customer = customer;
        this.payer = customer;
        this.items = new ArrayList<>(items);
    }

    void setDate(LocalDate date) {
        this.date = date;
    }
}

class Node {
    private final String name;
    Node next;

    Node(String name) {
        this.name = name;
    }
}

class Money {
    private final long cents;
    private final String currency;

    private Money(long cents, String currency) {
        this.cents = cents;
        this.currency = currency;
    }

    static Money of(long cents, String currency) {
        return new Money(cents, currency);
    }
}

class Size {
    static final Size LARGE = new Size(7);
    private final int code;

    private Size(int code) {
        this.code = code;
    }
}

class Box<T> {
    private final T value;

    Box(T value) {
        this.value = value;
    }
}

/** Its state cannot be made from outside. */
class Clock {
    private final long started;

    Clock() {
        started = System.nanoTime() | 1;
    }
}

class Request {
    private final String method;
    private final String url;
    private final int retries;

    private Request(Builder builder) {
        method = builder.method;
        url = builder.url;
        retries = builder.retries;
    }

    static Builder builder(String method) {
        Builder builder = new Builder();
        builder.method = method;
        return builder;
    }

    static class Builder {
        private String method = "POST";
        private String url;
        private int retries = 1;

        Builder method(String method) {
            this.method = method;
            return this;
        }

        Builder url(String url) {
            this.url = url;
            return this;
        }

        Builder retries(int retries) {
            this.retries = retries;
            return this;
        }

        Request build() {
            return new Request(this);
        }
    }
}
