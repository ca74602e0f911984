//! The bounds of traces when threads overflow their stacks or continue after pauses; and what
//! probes do themselves is in no trace.

use hindsight_test_programs::traces::lines;
use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, text};
use std::process::Command;

/// Records the run of a program.
fn record(workplace: &Workplace, jdk: &Jdk, options: &str, program: (&str, &str)) {
    let options = format!("mode=trace,{options}");
    let (_, ran) = workplace.run_text(jdk, "17", &options, program);
    assert!(ran.status.success(), "{}", both(&ran));
}

/// Tasks of a pool overflow its thread's stack by calling themselves; others follow.
const ENDLESS: &str = r#"
import java.util.concurrent.*;

public class Endless {
    static class Deep implements Runnable {
        int depth;
        public void run() { depth++; run(); depth++; }
    }
    static class Task implements Runnable {
        public void run() { }
    }
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 20; i++) pool.submit(new Task()).get();
            try {
                pool.submit(new Deep()).get();
                throw new AssertionError();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof StackOverflowError)) throw e;
            }
            for (int i = 0; i < 79; i++) pool.submit(new Task()).get();
        }
        pool.shutdown();
    }
}"#;

/// The outermost call of a task calls itself until the stack overflows, where the ends of the
/// innermost calls find no stack to be recorded.
#[test]
fn bounds_hold_behind_the_end_of_the_stack() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-endless");
        for (options, told) in [
            ("sample=10", 28..=31),
            // These include calls that overflow.
            ("sample=Endless$Deep;Endless$Task", 297..=297),
            ("sample=Endless$Task.run;Endless$Deep.run/2", 146..=151),
            ("from=Endless$Deep.run,until=Endless$Deep.run", 0..=0),
        ] {
            let _ = std::fs::remove_dir_all(workplace.join("out"));
            record(&workplace, jdk, options, ("Endless", ENDLESS));
            // It reports events that were lost.
            let events = Command::new(hindsight())
                .arg("events")
                .arg(workplace.join("out"))
                .output()
                .expect("hindsight runs");
            let events = text(&events.stdout);
            let tasks = events.matches("Task.run(").count();
            let label = format!("{tasks} with {options} on JDK {}", jdk.version);
            assert!(told.contains(&tasks), "{label}");
            assert!(events.contains("Deep.run(") || options == "sample=10");
        }
    }
}

/// Two threads whose numbers are alike; the first ends, then the second leaves a method in a pause.
const PAUSED: &str = r#"
import java.util.concurrent.SynchronousQueue;

public class Paused {
    static void start() { }
    static void stop() { }
    static int outer(SynchronousQueue<Integer> go) throws Exception { go.take(); return inner(1); }
    static int inner(int i) { return i + 1; }
    static int later(int i) { return i + 2; }
    static void body(SynchronousQueue<Integer> go, SynchronousQueue<Integer> done) {
        try {
            inner(0);
            done.put(0);
            outer(go);
            done.put(1);
            go.take();
            later(5);
            done.put(2);
        } catch (Exception e) { throw new RuntimeException(e); }
    }
    public static void main(String[] arguments) throws Exception {
        SynchronousQueue<Integer> go = new SynchronousQueue<>(), done = new SynchronousQueue<>();
        SynchronousQueue<Integer> first = new SynchronousQueue<>();
        start();
        Thread one = new Thread(() -> {
            inner(9);
            try { first.put(0); first.take(); } catch (Exception e) { throw new RuntimeException(e); }
        }, "one");
        one.start();
        first.take();
        Thread other;
        do { other = new Thread(() -> body(go, done), "other"); }
        while ((other.getId() & 1023) != (one.getId() & 1023));
        other.start();
        done.take();
        while (other.getState() != Thread.State.WAITING) Thread.sleep(1);
        first.put(1);
        one.join();
        stop();
        go.put(1);
        done.take();
        start();
        go.put(1);
        done.take();
        stop();
        other.join();
    }
}"#;

#[test]
fn a_thread_that_ran_in_a_pause_says_so() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-paused");
        let options = "from=Paused.start,until=Paused.stop";
        record(&workplace, jdk, options, ("Paused", PAUSED));
        let lines = lines(&workplace);
        let later = lines.iter().position(|line| line.contains("Paused.later("));
        let later = later.expect("it is in the second window");
        assert!(!lines[later].contains('|'), "{lines:#?}");
        assert!(lines[later - 1].contains("after a pause"), "{lines:#?}");
    }
}

/// Passes on values, each of which is the first of its kind that is recorded.
const TOLD: &str = r#"
import java.io.File;
import java.math.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.*;
import java.util.*;
import java.util.regex.Pattern;

public class Told {
    static Object[] values() {
        LocalDateTime time = LocalDateTime.of(2020, 1, 2, 3, 4, 5, 6);
        BigInteger large = BigInteger.ONE.shiftLeft(900);
        return new Object[] {
            1.25e300, 1.5f, 12345678L, 'x', new UUID(1, 2), Locale.GERMANY, Locale.FRENCH,
            large, new BigDecimal("12.5"), new BigDecimal(large, 7), new BigDecimal("1e99"),
            Duration.ofMillis(1234), Period.ofDays(3), time, time.toLocalDate(), time.toLocalTime(),
            ZonedDateTime.of(time, ZoneId.of("Europe/Berlin")), OffsetDateTime.of(time, ZoneOffset.UTC),
            OffsetTime.of(time.toLocalTime(), ZoneOffset.ofHours(2)), YearMonth.of(2020, 1),
            MonthDay.of(1, 2), Year.of(2020), ZoneId.of("UTC"), Instant.ofEpochSecond(12345, 77),
            URI.create("http://h/x"), URI.create("a/b").resolve("c"), new File("a"), Path.of("a/b"),
            Pattern.compile("x"), Currency.getInstance("EUR"), StandardCharsets.UTF_8,
            Clock.systemUTC(), Clock.fixed(Instant.EPOCH, ZoneId.of("Europe/Berlin"))
        };
    }
    static void tell(Object[] values) {
        for (Object value : values) one(value);
    }
    static void one(Object value) { }
    public static void main(String[] arguments) {
        tell(values());
    }
}"#;

#[test]
fn what_tells_values_is_not_recorded() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-told");
        let options = "include=Told;java.util.concurrent.**,from=Told.tell,until=Told.tell";
        record(&workplace, jdk, options, ("Told", TOLD));
        let lines = lines(&workplace);
        // These events are not calls: threads, classes and objects.
        let other = [" thread ", " is defined", " was there before", " new "];
        let calls = lines.iter();
        let calls = calls.filter(|line| !other.iter().any(|other| line.contains(other)));
        let (own, foreign): (Vec<&String>, Vec<&String>) =
            calls.partition(|line| line.contains("Told."));
        let first = foreign.first();
        assert_eq!((foreign.len(), first), (0, None), "JDK {}", jdk.version);
        assert_eq!(own.len(), 2 * 34, "{own:#?}");
        for told in [
            "1970-01-01T03:25:45.000000077Z",
            "1970-01-01T00:00:00Z Europe/Berlin",
        ] {
            assert!(
                own.iter().any(|line| line.contains(told)),
                "{told}: {own:#?}"
            );
        }
    }
}
