//! Failures under the worst conditions: no memory, no stack, thousands of threads at once, while
//! another is being recorded, with no CPU time left. The program does what it does without the
//! agent, and what is recorded is complete.

use crate::record::api;
use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, render, text};
use serde_json::Value;
use std::process::{Command, Output};

/// Runs a program and, for comparison, the same without the agent.
fn run(workplace: &Workplace, jdk: &Jdk, options: &str, jvm: &[&str], source: &str) -> Output {
    let release = format!("{}", jdk.version.min(21));
    let classes = workplace.compile_text(jdk, &["--release", &release], "Main", source);
    let with = workplace
        .java_with_agent(jdk, options)
        .args(jvm)
        .arg("-cp")
        .arg(&classes)
        .arg("Main")
        .output()
        .unwrap();
    let without = jdk
        .java()
        .args(jvm)
        .arg("-cp")
        .arg(&classes)
        .arg("Main")
        .output()
        .unwrap();
    let label = format!("JDK {}: {}", jdk.version, both(&with));
    assert_eq!(with.status.code(), without.status.code(), "{label}");
    assert_eq!(text(&with.stdout), text(&without.stdout), "{label}");
    assert!(!text(&with.stderr).contains("internal error"), "{label}");
    with
}

fn counter(run: &Value, name: &str) -> u64 {
    run["counters"][name].as_u64().unwrap_or(0)
}

/// The recorder releases the program's objects before memory runs out: what dead threads have
/// overwritten with `copy=deep`, and the frames that an OutOfMemoryError has passed.
#[test]
fn nothing_is_held_that_the_program_needs() {
    const SOURCE: &str = "
import java.util.*;
public class Main {
    static class Node { Node next; byte[] some = new byte[50]; }
    static void fill(List<Object> into, int count, int size) {
        for (int i = 0; i < count; i++) into.add(new byte[size]);
    }
    static void run(Runnable body) throws Exception {
        Thread thread = new Thread(body);
        thread.setUncaughtExceptionHandler((t, e) -> { });
        thread.start();
        thread.join();
    }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5; i++) run(() -> fill(new ArrayList<>(), 25, 1_000_000));
        Node all = null;
        for (int i = 0; i < 60_000; i++) {
            Node node = new Node();
            node.next = all;
            all = node;
        }
        run(() -> fill(new ArrayList<>(), 1_000_000, 8_000_000));
        System.out.println(new byte[1_000].length + (all == null ? 0 : 1));
        run(() -> fill(new ArrayList<>(), 25, 1_000_000));
        System.out.println(\"all\");
    }
}";
    for jdk in jdks() {
        for options in ["", "copy=deep"] {
            let workplace = Workplace::new("held");
            let output = run(&workplace, jdk, options, &["-Xmx80m"], SOURCE);
            let label = format!("JDK {} {options}: {}", jdk.version, both(&output));
            assert_eq!(text(&output.stdout), "1001\nall\n", "{label}");
            assert_eq!(workplace.crash_files().len(), 1, "{label}");
        }
    }
}

/// Hazard: OutOfMemoryError inside the recorder.
#[test]
fn out_of_memory_is_recorded_without_memory() {
    const SOURCE: &str = "
import java.util.*;
public class Main {
    static final List<Object> all = new ArrayList<>();
    static void fill(List<Object> into, int size) {
        while (true) into.add(new byte[size]);
    }
    public static void main(String[] args) {
        // Nothing is left, not for the smallest object either.
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> { all.clear(); System.out.println(e.getClass()); });
        try { fill(all, 100_000); } catch (OutOfMemoryError e) { }
        try { fill(all, 1_000); } catch (OutOfMemoryError e) { }
        fill(all, 1);
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("no-memory");
        run(&workplace, jdk, "max-objects=500", &["-Xmx24m"], SOURCE);
        let found: Vec<String> = workplace.crashes().iter().map(render).collect();
        assert_eq!(found.len(), 1, "JDK {}: {found:?}", jdk.version);
        assert!(
            found[0].starts_with("java.lang.OutOfMemoryError in thread main, uncaught\n"),
            "JDK {}: {}",
            jdk.version,
            found[0]
        );
        // What the handlers hand over needs no memory either, as far as buffers exist.
        assert!(
            found[0].contains("Main.fill"),
            "JDK {}: {}",
            jdk.version,
            found[0]
        );
    }
}

/// A program that continues with a completely full heap would come to a halt if each probe tried to
/// allocate.
#[test]
fn a_full_heap_is_not_collected_for_each_probe() {
    const SOURCE: &str = "
public class Main {
    static final RuntimeException SHARED = new RuntimeException(\"shared\", null, false, false) {};
    static Object[] all;
    static Object last;
    int number;
    static int down(int depth, Object o) {
        if (depth == 0) { throw SHARED; }
        return down(depth - 1, o) + 1;
    }
    static int wide(int depth, Object a, Object b, Object c, Object d, Object e, Object f,
            Object g, Object h, Object i, Object j, Object k, Object l, Object m) {
        if (depth == 0) { throw SHARED; }
        return wide(depth - 1, a, b, c, d, e, f, g, h, i, j, k, l, m) + 1;
    }
    void set(int value, Object o) {
        number = value;
        last = o;
    }
    static void fill() {
        Object[] top = null;
        for (int size = 1_000_000; size >= 1; size /= 10) {
            try {
                while (true) {
                    Object[] one = new Object[size];
                    one[0] = top;
                    top = one;
                }
            } catch (OutOfMemoryError e) { }
        }
        all = top;
    }
    public static void main(String[] args) {
        Object o = new Object();
        Main main = new Main();
        for (int i = 0; i < 3; i++) { main.set(i, o); }
        try { down(20, o); } catch (RuntimeException e) { }
        fill();
        int caught = 0;
        for (int i = 0; i < 10; i++) {
            try { down(20, o); } catch (RuntimeException e) { caught++; }
        }
        for (int i = 0; i < 100; i++) {
            try { wide(25, o, o, o, o, o, o, o, o, o, o, o, o, o); } catch (RuntimeException e) { caught++; }
        }
        for (int i = 0; i < 100; i++) { main.set(i, o); }
        all = null;
        System.out.println(caught + \" \" + main.number);
    }
}
";
    for jdk in jdks() {
        for options in ["", "copy=deep", "mode=trace"] {
            let workplace = Workplace::new("storm-full");
            let log = workplace.join("gc.log");
            let log_option = format!("-Xlog:gc:file={}", log.display());
            let jvm = ["-Xmx32m", "-XX:+UseSerialGC", &log_option];
            let classes = workplace.compile_text(jdk, &["--release", "17"], "Main", SOURCE);
            let output = workplace
                .java_with_agent(jdk, options)
                .args(jvm)
                .arg("-cp")
                .arg(&classes)
                .arg("Main")
                .output()
                .unwrap();
            let label = format!("JDK {} {options}: {}", jdk.version, both(&output));
            assert_eq!(text(&output.stdout), "110 99\n", "{label}");
            workplace.assert_instrumented(&label);
            let pauses = std::fs::read_to_string(&log).unwrap();
            // There are some 20 without the agent; there would be 400 and more.
            let pauses = pauses.matches("Pause").count();
            assert!(pauses < 120, "{pauses} collections, {label}");
        }
    }
}

/// Hazard: StackOverflowError inside the recorder.
#[test]
fn a_stack_overflow_keeps_the_frames_at_both_ends() {
    const SOURCE: &str = "
public class Main {
    static int down(int n) { return down(n + 1) + 1; }
    public static void main(String[] args) { down(0); }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("no-stack");
        run(&workplace, jdk, "", &["-Xss640k"], SOURCE);
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1, "JDK {}", jdk.version);
        let frames = &crashes[0].failure.frames;
        let last: Vec<&str> = frames
            .iter()
            .rev()
            .take(2)
            .map(|frame| frame.method.as_str())
            .collect();
        assert_eq!(last, ["main", "down"], "JDK {}", jdk.version);
        let dropped = frames
            .iter()
            .find(|frame| frame.reason.contains("deep recursion"));
        assert!(
            dropped.is_some() && frames.len() < 4_000,
            "JDK {}: {}",
            jdk.version,
            frames.len()
        );
        // This is the first call of all, at the other end.
        let first = &frames[frames.len() - 2];
        assert_eq!(
            first.arguments[0].value,
            hindsight_tracelog::crash::Value::Int(0)
        );
    }
}

/// An `escape:` rule is asked when a method is left, at the end of the stack without room to read
/// the trace: a method further out is asked again, or the one that catches it.
#[test]
fn a_stack_overflow_that_escapes_is_told_where_there_is_room() {
    const SOURCE: &str = "
public class Main {
    static int deepest;
    static int down(int n) { deepest = n; return down(n + 1) + 1; }
    static class Held implements AutoCloseable { public void close() { } }
    // Its handlers are met where there is no room either, and throw on.
    static int held(int n) { try (Held held = new Held()) { return held(n + 1) + 1; } }
    static int last() { return down(0); }
    static int pad(int n) { return n == 0 ? last() : pad(n - 1) + 1; }
    public static void main(String[] args) {
        try { down(0); } catch (StackOverflowError e) { }
        try { pad(deepest * 9 / 10); } catch (StackOverflowError e) { System.out.println(\"caught\"); }
        if (args.length == 0) held(0);
    }
}";
    for jdk in jdks() {
        for rule in ["escape:Main.down", "escape:Main.last", "escape:Main.held"] {
            let workplace = Workplace::new("no-stack-escape");
            // Frames of the interpreter have one size.
            let jvm = ["-Xss1m", "-Xint"];
            run(&workplace, jdk, &format!("report={rule}"), &jvm, SOURCE);
            let crashes = workplace.crashes();
            let label = format!("JDK {}, {rule}", jdk.version);
            let crash = crashes.first().unwrap_or_else(|| panic!("{label}"));
            assert_eq!(crash.meta.reason, rule, "{label}");
            let trace = &crash.failure.exceptions[0].stack;
            assert!(trace.len() > 1_000, "{label}: {}", trace.len());
            let captured = &crash.failure.frames;
            assert!(captured.len() > 500, "{label}: {}", captured.len());
        }
    }
}

/// Threads that wait for each other, and then fail together.
const MANY: &str = "
import java.util.*;
import java.util.concurrent.*;
public class Main {
    static void fail(int n, String why) { throw new IllegalStateException(why + n); }
    static int COUNT = Integer.getInteger(\"count\");
    public static void main(String[] args) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(COUNT);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            int n = i;
            Runnable body = () -> {
                try { go.await(); } catch (InterruptedException e) { return; }
                fail(n, \"why \");
            };
            Thread thread = MAKE;
            thread.setUncaughtExceptionHandler((t, e) -> done.countDown());
            thread.start();
            threads.add(thread);
        }
        go.countDown();
        done.await();
        for (Thread thread : threads) thread.join();
        System.out.println(done.getCount());
    }
}";

fn many_threads(jdk: &Jdk, make: &str, count: u64) {
    let workplace = Workplace::new("many-threads");
    let source = MANY.replace("MAKE", make);
    let property = format!("-Dcount={count}");
    run(
        &workplace,
        jdk,
        "",
        &[&property, "-Xmx512m", "-Xss256k"],
        &source,
    );
    let crashes = workplace.crashes();
    let label = format!("JDK {} {make}", jdk.version);
    assert_eq!(crashes.len(), 1, "{label}");
    let told = render(&crashes[0]);
    assert!(
        told.contains("Main.fail:5 n=") && told.contains("why=\"why \""),
        "{label}: {told}"
    );
    let run = workplace.run_json();
    assert_eq!(run["crashes"][0]["count"], count, "{label}: {run}");
    assert_eq!(
        counter(&run, "crashes_repeated"),
        count - 1,
        "{label}: {run}"
    );
}

/// Hazard: thousands of threads.
#[test]
fn thousands_of_threads_may_crash_at_once() {
    for jdk in jdks() {
        many_threads(jdk, "new Thread(body)", 2_000);
    }
}

/// Hazard: thousands of virtual threads.
#[test]
fn thousands_of_virtual_threads_may_crash_at_once() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        many_threads(jdk, "Thread.ofVirtual().unstarted(body)", 20_000);
    }
}

/// A virtual thread that waited for a monitor of the agent at the end of its stack would crash the
/// JVM.
#[test]
fn the_stacks_of_thousands_of_virtual_threads_may_end_at_once() {
    const SOURCE: &str = "
public class Main {
    int depth;
    int deeper(int depth) {
        this.depth = depth;
        return deeper(depth + 1) + 1;
    }
    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[3000];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofVirtual().unstarted(() -> {
                try {
                    new Main().deeper(0);
                } catch (StackOverflowError e) { }
            });
        }
        for (Thread thread : threads) { thread.start(); }
        for (Thread thread : threads) { thread.join(); }
        System.out.println(\"over\");
    }
}
";
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        for options in ["", "copy=deep"] {
            let workplace = Workplace::new("storm-ends");
            let quiet = ["-XX:ErrorFile=/dev/null", "-XX:-CreateCoredumpOnCrash"];
            let output = run(&workplace, jdk, options, &quiet, SOURCE);
            assert_eq!(text(&output.stdout), "over\n", "{}", both(&output));
            workplace.assert_instrumented(options);
        }
    }
}

/// Hazard: a crash while crashing.
#[test]
fn a_crash_while_crashing_is_recorded_too() {
    const SOURCE: &str = "
public class Main {
    static class Rude extends RuntimeException {
        @Override public String getMessage() { throw new IllegalStateException(\"rude\"); }
        @Override public StackTraceElement[] getStackTrace() { throw new IllegalStateException(\"ruder\"); }
        @Override public synchronized Throwable getCause() { throw new Error(\"rudest\"); }
        @Override public int hashCode() { throw new Error(); }
        @Override public boolean equals(Object other) { throw new Error(); }
    }
    static void first(int n) { throw new Rude(); }
    static void second(int n) { int[] none = {}; none[n] = n; }
    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> first(1), \"one\");
        // Of its own thread, while it dies; the JVM says nothing of this one.
        thread.setUncaughtExceptionHandler((t, e) -> second(2));
        thread.start();
        thread.join();
        // While the JVM goes down.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> second(3), \"hook\"));
        Thread[] both = new Thread[2];
        for (int i = 0; i < 2; i++) {
            both[i] = new Thread(() -> { Object o = \"text\"; Integer n = (Integer) o; }, \"both\");
            both[i].start();
        }
        for (Thread one : both) one.join();
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("crash-in-crash");
        run(
            &workplace,
            jdk,
            "report=uncaught;escape:Main.second",
            &[],
            SOURCE,
        );
        let found: Vec<String> = workplace.crashes().iter().map(render).collect();
        let has = |parts: &[&str]| {
            found
                .iter()
                .any(|told| parts.iter().all(|part| told.contains(part)))
        };
        let label = format!("JDK {}: {}", jdk.version, found.join(""));
        assert!(
            has(&["Main$Rude in thread one, uncaught", "Main.first:10 n=1"]),
            "{label}"
        );
        assert!(has(&["escape:Main.second", "n=2"]), "{label}");
        assert!(has(&["thread hook", "n=3"]), "{label}");
        assert!(has(&["ClassCastException in thread both"]), "{label}");
        let run = workplace.run_json();
        assert!(run["ended_ms"].is_number(), "{label} {run}");
    }
}

/// Recording stops when it has used its share of CPU time, and reports that.
#[test]
fn a_budget_of_cpu_time_is_kept() {
    const SOURCE: &str = "
public class Main {
    static void fail(int n) { throw new IllegalStateException(); }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3_000; i++) {
            int n = i;
            Thread thread = new Thread(() -> fail(n));
            thread.setUncaughtExceptionHandler((t, e) -> { });
            thread.start();
            thread.join();
        }
        System.out.println(\"done\");
        // What is known by then is all that is told.
        if (Boolean.getBoolean(\"dies\")) {
            new ProcessBuilder(\"kill\", \"-9\", \"\" + ProcessHandle.current().pid()).start();
            Thread.sleep(60_000);
        }
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("budget-killed");
        run(&workplace, jdk, "cpu=0.01%", &["-Ddies=true"], SOURCE);
        let run_json = workplace.run_json();
        let label = format!("JDK {}: {run_json}", jdk.version);
        assert!(run_json["ended_ms"].is_null(), "{label}");
        assert_eq!(run_json["cpu"]["paused"], true, "{label}");
        // How often it failed is not known, and no exact number is shown for it.
        let told = Command::new(hindsight())
            .arg("crashes")
            .arg(workplace.path.join("out"))
            .output();
        let told = text(&told.expect("hindsight runs").stdout);
        assert!(told.contains("at least"), "{label}\n{told}");

        let workplace = Workplace::new("budget");
        // It has three milliseconds at once, and then next to nothing.
        run(&workplace, jdk, "cpu=0.01%", &[], SOURCE);
        // The first failure is recorded, because the bucket is full at the start.
        assert_eq!(workplace.crashes().len(), 1, "JDK {}", jdk.version);
        let run = workplace.run_json();
        let cpu = &run["cpu"];
        let label = format!("JDK {}: {cpu}", jdk.version);
        assert_eq!(cpu["limit"], "0.01%", "{label}");
        assert!(cpu["pauses"].as_u64() >= Some(1), "{label}");
        assert!(cpu["paused_ms"].as_f64() > Some(0.0), "{label}");
        assert!(cpu["spent_ms"].as_f64() > Some(3.0), "{label}");
        let refused = cpu["failures_not_recorded"].as_u64().unwrap();
        assert!(refused > 0, "{label}");
        assert_eq!(
            counter(&run, "crashes_repeated") + refused,
            2_999,
            "{label}"
        );
    }
}

/// A Main that uses the API, run with the agent.
fn run_with_api(
    workplace: &Workplace,
    jdk: &Jdk,
    options: &str,
    source: &str,
    argument: Option<&str>,
) -> Output {
    let jar = api(workplace);
    let path = jar.to_str().unwrap();
    let classes = workplace.compile_text(jdk, &["--release", "17", "-cp", path], "Main", source);
    workplace
        .java_with_agent(jdk, options)
        .arg("-cp")
        .arg(format!("{path}:{}", classes.display()))
        .arg("Main")
        .args(argument)
        .output()
        .unwrap()
}

/// Hazard: calling program code from a probe or a snapshot changes behaviour.
#[test]
fn no_code_of_the_program_runs_for_a_recording() {
    const SOURCE: &str = "
import dev.hindsight.Hindsight;
import java.io.File;
import java.lang.reflect.Proxy;
import java.math.*;
import java.nio.file.Path;
import java.util.*;
public class Main {
    static int called;
    static class Touchy extends AbstractList<String> implements Comparable<Touchy>, CharSequence {
        @Override public String get(int index) { called++; return null; }
        @Override public int size() { called++; return 1; }
        @Override public int hashCode() { called++; return 1; }
        @Override public boolean equals(Object other) { called++; return true; }
        @Override public String toString() { called++; return null; }
        @Override public Iterator<String> iterator() { called++; return null; }
        @Override public int compareTo(Touchy other) { called++; return 0; }
        @Override public int length() { called++; return 0; }
        @Override public char charAt(int index) { called++; return 0; }
        @Override public CharSequence subSequence(int from, int to) { called++; return null; }
    }
    static class Whole extends BigInteger {
        Whole() { super(\"123456789012345678901234567890\"); }
        @Override public int bitLength() { called++; return super.bitLength(); }
        @Override public int signum() { called++; return super.signum(); }
        @Override public BigInteger abs() { called++; return this; }
        @Override public int intValue() { called++; return 1; }
        @Override public long longValue() { called++; return 1; }
        @Override public int hashCode() { called++; return 1; }
        @Override public boolean equals(Object other) { called++; return true; }
        @Override public String toString() { called++; return null; }
        @Override public String toString(int radix) { called++; return null; }
    }
    static class Part extends BigDecimal {
        Part() { super(\"0.5\"); }
        @Override public BigInteger unscaledValue() { called++; return null; }
        @Override public int scale() { called++; return 1; }
        @Override public int hashCode() { called++; return 1; }
        @Override public String toString() { called++; return null; }
    }
    static class Named extends File {
        Named() { super(\"name\"); }
        @Override public String getPath() { called++; return null; }
        @Override public String getName() { called++; return null; }
        @Override public boolean exists() { called++; return false; }
        @Override public int hashCode() { called++; return 1; }
        @Override public String toString() { called++; return null; }
    }
    Object last;
    BigDecimal kept;
    static Object same(Object one, Object[] more) { return one; }
    static Object same(BigInteger one, BigDecimal two, File three, Path four) { return two; }
    void store(Object one) { last = one; last = same(last, new Object[] {last}); }
    static void fail(Touchy touchy, BigDecimal of, Object[] more) {
        Hindsight.record(\"why\");
        throw new IllegalStateException();
    }
    static void hang(Touchy touchy, BigDecimal of, Object[] more, File dump) throws Exception {
        String own = String.valueOf(ProcessHandle.current().pid());
        new ProcessBuilder(\"kill\", \"-s\", \"USR1\", own).inheritIO().start().waitFor();
        for (int i = 0; i < 6000 && !dump.exists(); i++) Thread.sleep(10);
    }
    public static void main(String[] args) throws Exception {
        Touchy touchy = new Touchy();
        Whole whole = new Whole();
        BigDecimal of = new BigDecimal(whole, 3), part = new Part();
        File file = new Named();
        Path path = (Path) Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {Path.class},
            (proxy, method, arguments) -> { called++; return null; });
        Object[] more = {touchy, List.of(1), whole, of, part, file, path};
        Main main = new Main();
        called = 0;
        same(whole, of, file, path);
        same(whole, part, file, path);
        for (Object one : more) main.store(one);
        main.kept = of;
        main.store(main.kept);
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> System.out.println(called));
        if (args.length > 0) {
            hang(touchy, of, more, new File(args[0]));
            System.out.println(called);
            return;
        }
        fail(touchy, of, more);
    }
}";
    for jdk in jdks() {
        for (options, crashes) in [
            ("dump-on=USR1", 1),
            ("copy=fields", 2),
            ("copy=deep", 2),
            ("mode=second-chance", 2),
            ("mode=trace,trace-what=calls;writes;reads;values", 0),
        ] {
            let workplace = Workplace::new("touchy");
            let dump = workplace.join("out/crash-0001.hsc").display().to_string();
            let dump = options.starts_with("dump-on").then_some(dump.as_str());
            let output = run_with_api(&workplace, jdk, options, SOURCE, dump);
            let label = format!("JDK {} {options}: {}", jdk.version, both(&output));
            assert_eq!(text(&output.stdout), "0\n", "{label}");
            assert_eq!(workplace.crashes().len(), crashes, "{label}");
            if options != "mode=second-chance" {
                workplace.assert_instrumented(&label);
            }
        }
    }
}

/// The program's security manager, which a JDK before 24 can have, is program code, too.
#[test]
fn frames_that_still_run_are_read_without_asking_the_security_manager() {
    const SOURCE: &str = "
public class Main {
    static int called;
    static void fail() { throw new IllegalStateException(); }
    static void goOn(String why) {
        try { fail(); } catch (IllegalStateException e) { }
    }
    static void guard(SecurityManager manager) {
        System.setSecurityManager(manager);
        goOn(\"guarded\");
    }
    public static void main(String[] args) {
        guard(new SecurityManager() {
            @Override public void checkPermission(java.security.Permission permission) { called++; }
        });
        System.out.println(called);
    }
}";
    // From JDK 22 on, arguments of such frames are not recorded then.
    for jdk in jdks().iter().filter(|jdk| jdk.version < 22) {
        let workplace = Workplace::new("guarded");
        let allowed = ["-Djava.security.manager=allow"];
        run(&workplace, jdk, "report=caught:Main.goOn", &allowed, SOURCE);
        let crash = render(&workplace.crashes()[0]);
        assert!(crash.contains("\"guarded\""), "{crash}");
    }
}

/// Hazard: sockets, threads, class loaders; huge, cyclic and deep graphs.
#[test]
fn what_cannot_be_stored_is_a_hole_and_what_is_huge_is_cut() {
    const SOURCE: &str = "
import java.util.*;
public class Main {
    static class Node { Node next; Object held; }
    static void fail(Node deep, Object[] live, List<Object> cyclic) { throw new IllegalStateException(); }
    public static void main(String[] args) throws Exception {
        Node deep = null;
        for (int i = 0; i < 300_000; i++) { Node node = new Node(); node.next = deep; deep = node; }
        List<Object> cyclic = new ArrayList<>();
        cyclic.add(cyclic);
        ClassLoader loader = new java.net.URLClassLoader(new java.net.URL[0]);
        Object[] live = {new java.net.Socket(), new Thread(), loader, Main.class.getClassLoader(), System.in};
        fail(deep, live, cyclic);
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("huge");
        run(&workplace, jdk, "max-objects=5000", &[], SOURCE);
        let crash = &workplace.crashes()[0];
        let label = format!("JDK {}", jdk.version);
        let told = render(crash);
        for hole in [
            "hole(socket)",
            "hole(thread)",
            "hole(class loader)",
            // An object of which each JVM has its own is shown with the expression that returns it.
            "hole(ClassLoader.getSystemClassLoader())",
            "hole(System.in)",
        ] {
            assert!(told.contains(hole), "{label}: {told}");
        }
        let objects = crash.objects.len();
        assert!((5_000..5_200).contains(&objects), "{label}: {objects}");
        let beyond = |object: &hindsight_tracelog::crash::Object| matches!(&object.body, hindsight_tracelog::crash::Body::Hole(why) if why == "beyond max-objects");
        assert!(crash.objects.iter().flatten().any(beyond), "{label}");
    }
}

/// Hazard: recording the recorder's own classes, here those that the program calls.
#[test]
fn the_recorder_is_not_recorded() {
    const SOURCE: &str = "
import dev.hindsight.Hindsight;
import java.util.*;
public class Main {
    static int compare(String a, String b) {
        try {
            return a.charAt(b.length());
        } catch (RuntimeException e) {
            Hindsight.record(e);
            Hindsight.record(\"why\");
            throw e;
        }
    }
    public static void main(String[] args) {
        List<String> list = new ArrayList<>(List.of(\"b\", \"a\"));
        Collections.sort(list, Main::compare);
    }
}";
    let own = "include=Main;dev.hindsight.**;java.lang.Hindsight*";
    for jdk in jdks_in_turn() {
        for (options, files) in [
            ("include=**".to_owned(), 2),
            (own.to_owned(), 2),
            (format!("{own},copy=deep"), 2),
            (format!("{own},mode=trace"), 0),
        ] {
            let workplace = Workplace::new("recorder");
            let output = run_with_api(&workplace, jdk, &options, SOURCE, None);
            let label = format!("JDK {} {options}: {}", jdk.version, both(&output));
            assert_eq!(output.status.code(), Some(1), "{label}");
            let crashes = workplace.crashes();
            assert_eq!(crashes.len(), files, "{label}");
            for crash in &crashes {
                let mut frames = crash.failure.frames.iter();
                let is_ours = frames.any(|frame| frame.class.contains("indsight"));
                let told = render(crash);
                assert!(!is_ours && told.contains("Main.compare:"), "{label} {told}");
                assert!(told.contains(" a=\"a\" b=\"b\""), "{label} {told}");
            }
            if options.starts_with(own) {
                // These are those of Main; only a trace records its constructor.
                let own = if files == 0 { 3 } else { 2 };
                let run = workplace.run_json();
                assert_eq!(counter(&run, "methods_instrumented"), own, "{label} {run}");
            }
        }
    }
}

/// Hazards: VMDeath races with threads still recording; System.exit, Runtime.halt.
#[test]
fn the_jvm_may_go_down_while_threads_crash() {
    const SOURCE: &str = "
import java.io.File;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
public class Main {
    static final AtomicInteger next = new AtomicInteger();
    // As many causes as no other one has: all are new.
    static void fail(int n, List<String> data) {
        Exception cause = null;
        for (int i = 0; i < n; i++) cause = new Exception(cause);
        throw new IllegalStateException(cause);
    }
    public static void main(String[] args) throws Exception {
        List<String> data = new ArrayList<>();
        for (int i = 0; i < 40_000; i++) data.add(\"text \" + i * 31);
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    Thread one = new Thread(() -> fail(next.incrementAndGet(), data));
                    one.setUncaughtExceptionHandler((x, e) -> { });
                    one.start();
                    try { one.join(); } catch (InterruptedException e) { return; }
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        File out = new File(args[0]);
        while (Arrays.stream(out.list()).noneMatch(name -> name.endsWith(\".part\"))) Thread.sleep(1);
        Thread.sleep(Integer.parseInt(args[1]));
        if (args[2].equals(\"exit\")) System.exit(3);
        Runtime.getRuntime().halt(3);
    }
}";
    for jdk in jdks() {
        for (delay, down) in [("0", "exit"), ("0", "halt"), ("30", "exit"), ("70", "halt")] {
            let workplace = Workplace::new("down");
            let classes = workplace.compile_text(jdk, &["--release", "17"], "Main", SOURCE);
            let output = workplace
                .java_with_agent(jdk, "per-minute=1000")
                .arg("-cp")
                .arg(classes)
                .arg("Main")
                .arg(workplace.join("out"))
                .args([delay, down])
                .output()
                .unwrap();
            let label = format!("JDK {} {down} {delay}: {}", jdk.version, both(&output));
            assert_eq!(output.status.code(), Some(3), "{label}");
            assert_eq!(text(&output.stderr), "", "{label}");
            // Each file with its final name is complete, which reading them checks. A file that was
            // being written is finished.
            assert!(!workplace.crashes().is_empty(), "{label}");
            let run = workplace.run_json();
            assert!(run["ended_ms"].is_number(), "{label} {run}");
        }
    }
}
