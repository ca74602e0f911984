package readable;

import dev.hindsight.replay.Crash;
import dev.hindsight.replay.Frame;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class OutcomeCrash0001Test {

    // Frame 0 of the crash: readable.Outcome$1.end(Shop.java:111)
    @Test
    void end_frame0() throws Exception {
        Outcome outcome = Outcome.FAILURE;
        outcome.end("no such thing");
    }

    // Frame 1 of the crash: readable.Shop.count(Shop.java:86)
    @Test
    void count_frame1() throws Exception {
        LongAdder visits = new LongAdder();
        visits.add(42L);
        StringJoiner names = new StringJoiner(", ", "[", "]");
        names.add("Ada");
        names.add("Ben");
        Shop.count(visits, names, new CountDownLatch(3), new Semaphore(2, true));
    }

    // Frame 2 of the crash: readable.Shop.fail(Shop.java:82)
    @Test
    void fail_frame2() throws Exception {
        Frame frame = Crash.of(OutcomeCrash0001Test.class, "crash-0001.hsc").frame(2);
        // clock: Clock {started = 42282230340943}
        Clock clock = frame.argument(7);
        Node node = new Node("a");
        Node next = new Node("b");
        next.next = node;
        node.next = next;
        Map<String, List<Integer>> ratings = new HashMap<>();
        ratings.put("pen", new ArrayList<>(Arrays.asList(5, null)));
        BitSet days = new BitSet();
        days.set(1);
        days.set(2);
        days.set(70);
        Shop.fail(node, Request.builder("GET").url("https://example.org").retries(3).build(),
                Money.of(250L, "EUR"), Size.LARGE, ratings,
                new Box<>(UUID.fromString("00000000-0000-0001-0000-000000000002")), clock,
                "abc".toCharArray(), days);
    }

    // Frame 3 of the crash: readable.Shop.total(Shop.java:72)
    @Test
    void total_frame3() throws Exception {
        Shop shop = new Shop();
        shop.setOpened(9);
        shop.stock.put("pen", 3);
        Listener listener = new Listener();
        listener.setName("Bob \"the \\ builder\"");
        listener.setActive(true);
        shop.addListener(listener);
        shop.getTags().add("new");
        shop.addToQueue("first");
        shop.with(new Item("cup", 1));
        shop.with(new Item("jar", 4));
        Collection<Item> items = new ArrayList<>(List.of(new Item("pen", 2), new Item("ink", 1)));
        Order order = new Order(new Customer("Ann", new Address("Main St", 5)), items);
        order.setDate(LocalDate.of(2024, 2, 29));
        order.note = "rush";
        shop.total(order, Locale.GERMANY, Optional.of("coupon"), new BigDecimal("12.50"),
                Color.RED);
    }

    // Frame 4 of the crash: readable.Shop.book(Shop.java:59)
    @Test
    void book_frame4() throws Exception {
        Shop shop = new Shop();
        shop.setOpened(9);
        shop.stock.put("pen", 3);
        Listener listener = new Listener();
        listener.setName("Bob \"the \\ builder\"");
        listener.setActive(true);
        shop.addListener(listener);
        shop.getTags().add("new");
        shop.addToQueue("first");
        shop.with(new Item("cup", 1));
        shop.with(new Item("jar", 4));
        shop.book(new Customer("Ann", new Address("Main St", 5)), LocalDate.of(2024, 2, 29),
                List.of(new Item("pen", 2), new Item("ink", 1)), new BigDecimal("12.50"),
                Color.RED);
    }

    // Frame 5 of the crash: readable.Shop.main(Shop.java:100)
    @Test
    void main_frame5() throws Exception {
        Shop.main(new String[0]);
    }
}
