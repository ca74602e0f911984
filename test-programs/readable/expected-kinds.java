package readable;

import java.math.MathContext;
import java.math.RoundingMode;
import java.net.URI;
import java.nio.file.FileSystems;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.MonthDay;
import java.time.OffsetTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class KindsCrash0001Test {

    // Frame 0 of the crash: readable.Kinds.errors(Kinds.java:103)
    @Test
    void errors_frame0() throws Exception {
        IllegalStateException old = new IllegalStateException("old", new Error("cause"));
        old.addSuppressed(new Refused("closed", 3));
        Kinds.errors(old, new NumberFormatException("no number"), new Refused("why", 7));
    }

    // Frame 1 of the crash: readable.Kinds.host(Kinds.java:99)
    @Test
    void host_frame1() throws Exception {
        IllegalStateException old = new IllegalStateException("old", new Error("cause"));
        old.addSuppressed(new Refused("closed", 3));
        Kinds.host(System.out, Runtime.getRuntime(), FileSystems.getDefault(),
                ClassLoader.getSystemClassLoader(), ModuleLayer.boot().findModule("java.base")
                .orElseThrow(), new Desk(Thread.currentThread(), ForkJoinPool.commonPool()), old);
    }

    // Frame 2 of the crash: readable.Kinds.others(Kinds.java:93)
    @Test
    void others_frame2() throws Exception {
        LinkedBlockingQueue<String> bounded = new LinkedBlockingQueue<>(3);
        bounded.add("x");
        WeakHashMap<String, Integer> weak = new WeakHashMap<>();
        weak.put("key", 1);
        Kinds.others(new MathContext(7), new MathContext(3, RoundingMode.DOWN),
                new AtomicIntegerArray(new int[] {4, 0, 2}), bounded,
                new LinkedBlockingDeque<>(List.of(1, 2)), Collections.nCopies(3, "again"), weak);
    }

    // Frame 3 of the crash: readable.Kinds.sorted(Kinds.java:83)
    @Test
    @SuppressWarnings({"rawtypes", "unchecked"})
    void sorted_frame3() throws Exception {
        Map<String, Integer> ages = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        ages.put("Ann", 40);
        Comparator reverseComparator = Collections.reverseOrder();
        TreeSet<Integer> down = new TreeSet<>(reverseComparator);
        down.add(3);
        down.add(2);
        down.add(1);
        PriorityQueue<Integer> heap = new PriorityQueue<>(reverseComparator);
        heap.add(9);
        heap.add(5);
        heap.add(7);
        ConcurrentSkipListMap<String, Integer> skips = new ConcurrentSkipListMap<>();
        skips.put("a", 1);
        skips.put("b", 2);
        Properties properties = new Properties();
        properties.setProperty("host", "localhost");
        Properties settings = new Properties(properties);
        settings.setProperty("port", "80");
        Kinds.sorted(ages, down, heap, skips, new ConcurrentSkipListSet<>(List.of(1, 3)), settings);
    }

    // Frame 4 of the crash: readable.Kinds.times(Kinds.java:73)
    @Test
    void times_frame4() throws Throwable {
        Kinds.times(new Timestamp(1709164800123L), Timestamp.from(Instant.ofEpochSecond(-5L, 1001)),
                new Date(86400000L), new Time(1000L), MonthDay.of(2, 29),
                OffsetTime.parse("10:15:30+01:00"), URI.create("https://example.org:8443/a?b=c#d")
                .toURL());
    }

    // Frame 5 of the crash: readable.Kinds.texts(Kinds.java:44)
    @Test
    void texts_frame5() throws Exception {
        Kinds.texts("k7", new ArrayList<>(List.of(new String("k7"), "other")), "other");
    }

    // Frame 6 of the crash: readable.Kinds.boxes(Kinds.java:38)
    @Test
    void boxes_frame6() throws Exception {
        Integer one = 1234;
        Map<String, Long> totals = new HashMap<>();
        Long total = 5000L;
        totals.put("all", total);
        Kinds.boxes(one, one, 7, totals, total);
    }

    // Frame 7 of the crash: readable.Kinds.main(Kinds.java:111)
    @Test
    void main_frame7() throws Exception {
        Kinds.main(new String[0]);
    }
}
