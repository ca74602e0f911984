//! Failures are told apart, and none is lost: behind wrappers with causes of their own, below code
//! of the JDK, in floods.

use hindsight_test_programs::{
    Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, render, reported, text,
};
use hindsight_tracelog::reader::Crash;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Runs a program with the agent, which must report no problem.
fn run(workplace: &Workplace, jdk: &Jdk, options: &str, program: (&str, &str)) {
    let (_, output) = workplace.run_text(jdk, "17", options, program);
    assert!(output.status.code().is_some(), "{}", both(&output));
    assert!(
        !text(&output.stderr).contains("hindsight:"),
        "{}",
        both(&output)
    );
}

const WRAPPED: &str = "
import java.lang.reflect.InvocationTargetException;
import java.rmi.RemoteException;
import java.util.concurrent.*;

public class Wrapped {
    static class Own extends RuntimeException {
        static Throwable last;
        String why;
        Throwable inner;
        Own(Throwable inner) { this.inner = inner; last = this; }
        @Override public Throwable getCause() { throw new IllegalStateException(\"called\"); }
    }
    static class Derived extends Own {
        Derived(Throwable inner) { super(inner); }
    }
    public static int size(String text) { return text.length(); }
    static void reflected(String text) throws Exception {
        Wrapped.class.getMethod(\"size\", String.class).invoke(null, text);
    }
    static void remote(String text) throws Exception {
        try { size(text); } catch (NullPointerException e) { throw new RemoteException(\"far\", e); }
    }
    static void own(String text) {
        try { size(text); } catch (NullPointerException e) { throw new Derived(e); }
    }
    static void pooled(String text) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try { pool.submit(() -> { reflected(text); return 0; }).get(); } finally { pool.shutdown(); }
    }
    interface Body { void run() throws Exception; }
    static void start(String name, Body body) throws Exception {
        Thread thread = new Thread(() -> {
            try { body.run(); } catch (RuntimeException e) { throw e; } catch (Exception e) { sneak(e); }
        }, name);
        thread.setUncaughtExceptionHandler((of, e) -> { });
        thread.start();
        thread.join();
    }
    @SuppressWarnings(\"unchecked\")
    static <T extends Throwable> void sneak(Throwable e) throws T { throw (T) e; }
    public static void main(String[] args) throws Exception {
        start(\"reflected\", () -> reflected(null));
        start(\"remote\", () -> remote(null));
        start(\"own\", () -> own(null));
        start(\"pooled\", () -> pooled(null));
    }
}
";

/// The exception that `getCause` would return is a cause, and its frames are captured; the method
/// is not called.
#[test]
fn causes_that_a_class_keeps_by_itself_are_found() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("wrapped");
        run(&workplace, jdk, "", ("Wrapped", WRAPPED));
        let crashes = workplace.crashes();
        let wrappers = [
            "java.lang.reflect.InvocationTargetException <- java.lang.NullPointerException",
            "java.rmi.RemoteException <- java.lang.NullPointerException",
            "Wrapped$Derived <- java.lang.NullPointerException",
            "java.util.concurrent.ExecutionException <- java.lang.reflect.InvocationTargetException \
             <- java.lang.NullPointerException",
        ];
        assert_eq!(crashes.len(), wrappers.len());
        for (crash, wrapper) in crashes.iter().zip(wrappers) {
            let shown = render(crash);
            assert!(shown.starts_with(&format!("{wrapper} in ")), "{shown}");
            let causes = wrapper.matches(" <- ").count();
            let size = format!("Wrapped.size:17 (cause {causes}) text=null");
            assert!(shown.contains(&size), "JDK {}: {shown}", jdk.version);
        }
        let (_, report) = reported(&mut workplace.junit(jdk, workplace.join("classes")));

        for crash in report["crashes"].as_array().expect("crashes") {
            let frames = crash["frames"].as_array().expect("frames");
            let size = frames.iter().find(|frame| frame["method"] == "size");
            let verdict = size.map(|frame| &frame["verdict"]);
            assert_eq!(verdict, Some(&Value::from("reproduces")), "{crash}");
        }
    }
}

const CAUSES: &str = "
import java.util.*;
import java.util.concurrent.*;

public class Causes {
    static final ThreadLocal<String> TENANT = new ThreadLocal<>();
    static class Failed extends RuntimeException {
        Failed(String message, Throwable cause) { super(message, cause); }
    }
    static int each(int total, int parts) { return total / parts; }
    static int price(List<Integer> order) {
        return each(TENANT.get().length() + order.size(), order.size());
    }
    static int handle(List<Integer> order) {
        try { return price(order); } catch (RuntimeException e) { throw new Failed(\"order failed\", e); }
    }
    static int joined(List<Integer> order) {
        return CompletableFuture.supplyAsync(() -> { TENANT.set(\"acme\"); return each(4, order.size()); }).join();
    }
    static int lost(Thread thread, List<Integer> order) {
        return CompletableFuture.supplyAsync(() -> each(thread.getName().length(), order.size())).join();
    }
    static void start(String name, Runnable body) throws Exception {
        Thread thread = new Thread(() -> { TENANT.set(\"acme\"); body.run(); }, name);
        thread.setUncaughtExceptionHandler((of, e) -> { });
        thread.start();
        thread.join();
    }
    public static void main(String[] args) throws Exception {
        List<Integer> order = new ArrayList<>();
        start(\"handle\", () -> handle(order));
        start(\"joined\", () -> joined(order));
        Thread own = Thread.currentThread();
        start(\"lost\", () -> lost(own, order));
    }
}
";

/// A test that ends in the recorded wrapper does not reproduce if the wrapper has another cause.
#[test]
fn another_cause_in_the_same_wrapper_is_another_failure() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("causes");
        run(&workplace, jdk, "", ("Causes", CAUSES));
        let (output, report) = reported(&mut workplace.junit(jdk, workplace.join("classes")));

        let frame = |crash: usize, method: &str| {
            let frames = report["crashes"][crash]["frames"].as_array();
            let mut frames = frames.into_iter().flatten();
            let frame = frames.find(|frame| frame["method"] == method);
            let frame = frame.unwrap_or_else(|| panic!("no {method}: {}", both(&output)));
            let verdict = frame["verdict"].as_str().unwrap_or_default().to_owned();
            (
                verdict,
                frame["reason"].as_str().unwrap_or_default().to_owned(),
            )
        };
        for (crash, method) in [(0, "each"), (1, "each"), (1, "joined"), (2, "each")] {
            let (verdict, reason) = frame(crash, method);
            assert_eq!(
                verdict, "reproduces",
                "JDK {}: {crash} {method}: {reason}",
                jdk.version
            );
        }
        // The thread in which the test runs has no tenant, and thread-local values are not
        // recorded.
        for (crash, method, wrapper) in [
            (0, "handle", "Causes$Failed in Causes.handle:"),
            (2, "lost", "java.util.concurrent.CompletionException in "),
        ] {
            let (verdict, reason) = frame(crash, method);
            assert_eq!(verdict, "differs", "JDK {}: {reason}", jdk.version);
            assert!(reason.starts_with(&format!("throws {wrapper}")), "{reason}");
            assert!(
                reason.contains(", caused by java.lang.NullPointerException in "),
                "{reason}"
            );
            let instead = " instead of java.lang.ArithmeticException in Causes.each:10";
            assert!(reason.contains(instead), "{reason}");
        }
    }
}

const TAXES: &str = "
public class Taxes {
    public static int rate(Object of, int by) { return of.hashCode() / by; }
    public static int total(Object[] all, int by) {
        int total = 0;
        for (Object of : all) total += rate(of, by);
        return total;
    }
    public static void main(String[] args) { System.out.println(total(new Object[] {\"x\", 42}, args.length)); }
}
";

/// A JVM loads classes with preview features only with an option, and so does javac.
#[test]
fn tests_of_classes_with_preview_features_run() {
    for jdk in jdks() {
        let workplace = Workplace::new("preview");
        let release = jdk.version.to_string();
        let classes = workplace.compile_text(jdk, &["--release", &release], "Taxes", TAXES);
        // Which features are preview features depends on the version; the minor version of a file
        // says that it uses one.
        let file = classes.join("Taxes.class");
        let mut bytes = fs::read(&file).unwrap();
        bytes[4..6].fill(0xff);
        fs::write(&file, bytes).unwrap();
        let output = workplace
            .java_with_agent(jdk, "")
            .args(["--enable-preview", "-cp"])
            .arg(&classes)
            .arg("Taxes")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        let output = workplace
            .junit(jdk, &classes)
            .arg("--project")
            .output()
            .unwrap();
        let told = text(&output.stdout);
        assert!(
            output.status.success(),
            "JDK {}: {}",
            jdk.version,
            both(&output)
        );
        assert!(
            told.contains("3 of 3 frames reproduce"),
            "JDK {}: {told}",
            jdk.version
        );
        let pom = fs::read_to_string(workplace.join("tests/pom.xml")).unwrap();
        assert!(pom.contains("<arg>--enable-preview</arg>"), "{pom}");
        assert!(pom.contains("<argLine>--enable-preview</argLine>"), "{pom}");
        let release = format!("<maven.compiler.release>{}<", jdk.version);
        assert!(pom.contains(&release), "{pom}");
    }
}

/// Consoles have assertions off, so the test of one that failed passes there, whatever the bug.
#[test]
fn a_failed_assertion_says_what_its_tests_need() {
    const ASSERTS: &str = "
public class Halves {
    static int half(int number) {
        assert number % 2 == 0 : number;
        return number / 2;
    }
    public static void main(String[] args) {
        half(3);
    }
}
";
    const THROWS: &str = "
public class Halves {
    static int half(int number) {
        if (number % 2 != 0) throw new AssertionError(number);
        return number / 2;
    }
    public static void main(String[] args) { half(3); }
}
";
    for jdk in jdks_in_turn() {
        for (program, is_said) in [(ASSERTS, true), (THROWS, false)] {
            let workplace = Workplace::new("asserts");
            let classes = workplace.compile_text(jdk, &["--release", "11"], "Halves", program);
            let run = workplace
                .java_with_agent(jdk, "")
                .args(["-ea", "-cp"])
                .arg(&classes)
                .arg("Halves")
                .output()
                .unwrap();
            assert_eq!(run.status.code(), Some(1), "{}", both(&run));
            let output = workplace.junit(jdk, &classes).output().unwrap();
            assert!(output.status.success(), "{}", both(&output));
            let source = workplace.join("tests/src/test/java/HalvesCrash0001Test.java");
            let source = fs::read_to_string(source).unwrap();
            let said = source.contains("nothing where assertions are off: java -ea");
            assert_eq!(said, is_said, "{source}");
        }
    }
}

const ALIKE: &str = "
import java.util.*;
import java.util.stream.*;

public class Alike {
    static String user(String text) { return text.substring(0, text.indexOf('@')); }
    static String end(String text) { return text.substring(0, text.indexOf('.')); }
    static List<String> names(List<String> of) { return of.stream().sorted().collect(Collectors.toList()); }
    static List<String> tags(List<String> of) { return of.stream().sorted().collect(Collectors.toList()); }
    static void serve(Runnable work) {
        try { work.run(); } catch (RuntimeException e) { handled++; }
    }
    static int handled;
    public static void main(String[] args) {
        List<String> some = Arrays.asList(\"a\", null);
        for (int round = 0; round < 30; round++) {
            serve(() -> user(\"none\"));
            serve(() -> end(\"none\"));
            serve(() -> names(some));
            serve(() -> tags(some));
        }
        System.out.println(handled);
    }
}
";

/// Failures whose first frames are all the JDK's are distinguished by the program's.
#[test]
fn failures_deep_in_the_jdk_are_told_apart() {
    for jdk in jdks() {
        let workplace = Workplace::new("alike");
        run(
            &workplace,
            jdk,
            "report=caught:Alike.serve",
            ("Alike", ALIKE),
        );
        let run = workplace.run_json();
        let crashes = run["crashes"].as_array().expect("crashes");
        let counts: Vec<u64> = crashes
            .iter()
            .filter_map(|crash| crash["count"].as_u64())
            .collect();
        assert_eq!(counts, [30; 4], "JDK {}: {run}", jdk.version);
    }
}

const FLOOD: &str = "
public class Flood {
    static int number(String text) { return Integer.parseInt(text); }
    static int first(int[] of) { return of[0]; }
    static void serve(Runnable work) {
        try { work.run(); } catch (RuntimeException e) { }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2000; i++) serve(() -> number(\"x\"));
        serve(() -> first(null));
    }
}
";

/// A new failure among thousands of a known one is stored, and it is reported that not all are
/// counted.
#[test]
fn a_flood_of_one_failure_hides_no_other() {
    for jdk in jdks() {
        for rule in [
            "caught:Flood.serve",
            "escape:Flood.number;escape:Flood.first",
        ] {
            let workplace = Workplace::new("flood");
            let options = format!("report={rule}");
            run(&workplace, jdk, &options, ("Flood", FLOOD));
            let classes: Vec<String> = workplace
                .crashes()
                .iter()
                .map(|crash| crash.failure.exceptions[0].class.clone())
                .collect();
            assert_eq!(
                classes,
                [
                    "java.lang.NumberFormatException",
                    "java.lang.NullPointerException"
                ],
                "JDK {} {rule}",
                jdk.version
            );
            let run = workplace.run_json();
            let passed = run["counters"]["exceptions_not_examined"].as_u64();
            let counted = run["crashes"][0]["count"].as_u64();
            assert_eq!(passed.unwrap_or(0) + counted.unwrap_or(0), 2000, "{run}");
            let grouped = Command::new(hindsight())
                .arg("crashes")
                .arg(workplace.join("out"))
                .output()
                .unwrap();
            let grouped = text(&grouped.stdout);
            let told = grouped.contains("at least ");
            assert_eq!(told, passed.is_some(), "{grouped}");
        }
    }
}

const COUNTED: &str = "
public class Counted {
    static class Worker {
        void handle(int number) { throw new IllegalStateException(\"x\" + number); }
    }
    static final IllegalStateException SHARED = new IllegalStateException(\"shared\");
    static void run(int number) {
        try { new Worker().handle(number); } catch (IllegalStateException e) { }
    }
    static void rethrow(int number) {
        try { new Worker().handle(number); } catch (IllegalStateException e) { throw e; }
    }
    static void shared() {
        try { throw SHARED; } catch (IllegalStateException e) { }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 7; i++) { run(i); }
        for (int i = 0; i < 5; i++) { shared(); }
        rethrow(1);
    }
}
";

/// Rules that match the same failure on its way up count it once; a shared exception that is thrown
/// anew counts again.
#[test]
fn a_failure_counts_once_whatever_rules_see_it() {
    for jdk in jdks() {
        let workplace = Workplace::new("counted");
        let options = "report=\"uncaught;escape:Counted$Worker.handle;escape:Counted.rethrow;\
                       caught:Counted.run;caught:Counted.rethrow;caught:Counted.shared\"";
        run(&workplace, jdk, options, ("Counted", COUNTED));
        let run = workplace.run_json();
        let crashes = run["crashes"].as_array().expect("crashes");
        let mut counts: Vec<u64> = crashes
            .iter()
            .filter_map(|crash| crash["count"].as_u64())
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 5, 7], "JDK {}: {run}", jdk.version);
    }
}

const PASSED: &str = "
import java.util.concurrent.*;

public class Passed {
    static final IllegalStateException SHARED = new IllegalStateException();
    static int work(int n) { return 10 / n; }
    static int task(int n) { return work(n); }
    static int waitFor(int n) throws Exception {
        FutureTask<Integer> task = new FutureTask<>(() -> task(n));
        new Thread(task).start();
        try { return task.get(); } catch (ExecutionException e) { throw (Exception) e.getCause(); }
    }
    static void shared() { throw SHARED; }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            try { waitFor(0); } catch (ArithmeticException e) { }
        }
        for (int i = 0; i < 3; i++) {
            Thread thread = new Thread(() -> {
                try { shared(); } catch (IllegalStateException e) { }
            });
            thread.start();
            thread.join();
        }
    }
}
";

/// A task fails in its thread, and the thread that waits for it throws the same exception, as
/// JUnit's `assertTimeoutPreemptively` does.
#[test]
fn a_failure_that_passes_to_another_thread_counts_once() {
    for jdk in jdks() {
        let workplace = Workplace::new("passed");
        let options = "report=\"escape:Passed.task;escape:Passed.waitFor;escape:Passed.shared\"";
        run(&workplace, jdk, options, ("Passed", PASSED));
        let run = workplace.run_json();
        let crashes = run["crashes"].as_array().expect("crashes");
        let mut counts: Vec<u64> = (crashes.iter())
            .filter_map(|crash| crash["count"].as_u64())
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, [3, 4], "JDK {}: {run}", jdk.version);
    }
}

const HANDED: &str = "
import java.util.*;

public class Handed {
    static int work(int n) { return 10 / n; }
    static void handOver(int n) {
        try {
            work(n);
        } catch (Throwable e) {
            Thread self = Thread.currentThread();
            self.getUncaughtExceptionHandler().uncaughtException(self, e);
        }
    }
    static void dies() { work(0); }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            handOver(0);
        }
        ThreadGroup inner = new ThreadGroup(new ThreadGroup(\"outer\"), \"inner\");
        // The last dies of what leaves no method of the program.
        Thread deaf = new Thread(() -> handOver(0));
        deaf.setUncaughtExceptionHandler((thread, e) -> { });
        for (Thread thread : List.of(deaf, new Thread(inner, Handed::dies), new Thread(List.of().iterator()::next))) {
            thread.start();
            thread.join();
        }
    }
}
";

/// Libraries that catch everything, as Swing does, call the handler of uncaught exceptions
/// themselves; if that is the JDK's, this is reported. A thread that dies is reported once,
/// although it calls the same handler.
#[test]
fn what_is_handed_over_to_the_default_handler_counts_once() {
    for jdk in jdks() {
        let workplace = Workplace::new("handed");
        run(&workplace, jdk, "", ("Handed", HANDED));
        let run = workplace.run_json();
        let crashes = run["crashes"].as_array().expect("crashes");
        let mut counts: Vec<u64> = crashes
            .iter()
            .filter_map(|crash| crash["count"].as_u64())
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 3], "JDK {}: {run}", jdk.version);
        let first = &workplace.crashes()[0];
        assert_eq!(first.meta.reason, "uncaught");
        // They are the method that was left, the one that has caught it, and `main`.
        assert_eq!(first.failure.frames.len(), 3, "JDK {}", jdk.version);
    }
}

const AGAIN: &str = "
import java.io.*;

public class Again {
    static final IllegalStateException SHARED = new IllegalStateException(\"shared\");
    static int work(int n) { return 10 / n; }
    static void fail(int n) { throw new IllegalArgumentException(\"n\" + n); }
    static void tryResources(int n) {
        try (Reader r = new StringReader(\"a\"); Writer w = new StringWriter()) { work(n); } catch (Exception e) { }
    }
    static void tryResource(int n) throws IOException {
        try (Reader r = new StringReader(\"a\")) { work(n); }
    }
    static void tryRethrow(int n) {
        try { work(n); } catch (RuntimeException e) { n++; throw e; } finally { n--; }
    }
    static void tryNested(int n) {
        try {
            try { work(n); } catch (IllegalStateException | ArithmeticException e) { if (n == 0) throw e; }
        } catch (RuntimeException e) { }
    }
    static void tryThrown(int n) {
        try {
            try { throw new IllegalStateException(\"thrown\"); } catch (IllegalStateException e) { if (n == 0) throw e; }
        } catch (RuntimeException e) { }
    }
    static void tryOfJdk(String text) {
        try {
            try { Integer.parseInt(text); } catch (NumberFormatException e) { if (text.isEmpty()) throw e; }
        } catch (RuntimeException e) { }
    }
    static void tryWrapped(int n) {
        try { work(n); } catch (ArithmeticException e) { throw new IllegalStateException(e); }
    }
    static void tryShared() {
        try { throw SHARED; } catch (IllegalStateException e) { }
    }
    static void leaves(int n) throws IOException {
        try (Reader r = new StringReader(\"a\"); Writer w = new StringWriter()) { fail(n); }
    }
    interface Body { void run() throws Exception; }
    static void quietly(Body body) {
        try { body.run(); } catch (Exception e) { }
    }
    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 2; round++) {
            tryResources(0);
            quietly(() -> tryResource(0));
            quietly(() -> tryRethrow(0));
            tryNested(0);
            tryThrown(0);
            tryOfJdk(\"\");
            quietly(() -> tryWrapped(0));
            tryShared();
            Thread thread = new Thread(() -> {
                try { leaves(1); } catch (IOException e) { }
            });
            thread.setUncaughtExceptionHandler((of, e) -> { });
            thread.start();
            thread.join();
        }
    }
}
";

/// An exception that handlers rethrow is caught only by the last, and counts once, however many see
/// it.
#[test]
fn what_handlers_throw_on_is_one_failure() {
    for jdk in jdks() {
        let workplace = Workplace::new("again");
        let options = "report=\"uncaught;escape:Again.fail;caught:Again.try*\"";
        run(&workplace, jdk, options, ("Again", AGAIN));
        let reasons: Vec<String> = (workplace.crashes().into_iter())
            .map(|crash| crash.meta.reason)
            .collect();
        let expected = [
            "caught:Again.tryResources",
            "caught:Again.tryNested",
            "caught:Again.tryThrown",
            "caught:Again.tryOfJdk",
            "caught:Again.tryWrapped",
            "caught:Again.tryShared",
            "escape:Again.fail",
        ];
        assert_eq!(reasons, expected, "JDK {}", jdk.version);
        let run = workplace.run_json();
        let crashes = run["crashes"].as_array().expect("crashes");
        let counts: Vec<u64> = (crashes.iter())
            .filter_map(|crash| crash["count"].as_u64())
            .collect();
        assert_eq!(counts, [2; 7], "JDK {}: {run}", jdk.version);
    }
}

const SNEAKY: &str = "
import java.util.concurrent.Callable;

public class Sneaky {
    @SuppressWarnings(\"unchecked\")
    static <X extends Throwable> RuntimeException sneaky(Throwable t) throws X { throw (X) t; }
    static int work(int n) { return 10 / n; }
    static <T> T unchecked(Callable<T> call) {
        try { return call.call(); } catch (Exception e) { throw Sneaky.<RuntimeException>sneaky(e); }
    }
    static int handle(int n) { return unchecked(() -> work(n)); }
    public static void main(String[] args) {
        handle(0);
    }
}
";

/// A helper that rethrows an exception is captured if it has probes, and is in no stack trace: it
/// is the same failure in all modes.
#[test]
fn what_a_helper_throws_on_is_one_group() {
    for jdk in jdks() {
        let workplace = Workplace::new("sneaky");
        for mode in ["crash", "second-chance", "second-chance"] {
            run(&workplace, jdk, &format!("mode={mode}"), ("Sneaky", SNEAKY));
        }
        let crashes = workplace.crashes();
        let has_helper = |crash: &Crash| render(crash).contains("Sneaky.sneaky ");
        assert!(has_helper(&crashes[0]), "{}", render(&crashes[0]));
        assert!(!crashes.iter().all(has_helper), "JDK {}", jdk.version);
        let grouped = Command::new(hindsight())
            .arg("crashes")
            .arg(workplace.join("out"))
            .output()
            .unwrap();
        let grouped = text(&grouped.stdout);
        assert!(grouped.contains("1 group of 3 crashes"), "{grouped}");
    }
}

/// Rules that match no method of the loaded classes only cause a hint.
#[test]
fn rules_that_name_no_method_are_told() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("unnamed");
    let options = "report=caught:Counted.typo";
    run(&workplace, jdk, options, ("Counted", COUNTED));
    let told = workplace.run_json();
    assert_eq!(told["counters"]["methods_named_by_report"], 0, "{told}");
    let grouped = Command::new(hindsight())
        .arg("crashes")
        .arg(workplace.join("out"))
        .output()
        .unwrap();
    assert!(
        both(&grouped).contains("matches report=caught:Counted.typo"),
        "{}",
        both(&grouped)
    );
}

/// A rule that matches nothing is reported with the reason, even beside others that match.
#[test]
fn each_rule_that_names_nothing_is_told() {
    let program = ("Counted", COUNTED);
    let jdks = jdks_in_turn();
    let jdk = &jdks[0];
    for (options, named, told) in [
        (
            "report=\"caught: Counted.run;caught:Counted.rnu;escape:Counted$Worker.<init>\"",
            1,
            &[
                "no method of a class that was loaded matches report=caught:Counted.rnu\n",
                "no method that matches report=escape:Counted$Worker.<init> has probes (1 method without: ",
            ][..],
        ),
        (
            "exclude=Counted$Worker,report=\"uncaught;escape:Counted$Worker.*\"",
            0,
            &[
                "escape:Counted$Worker.*, but 1 class that it may mean was outside of include= and exclude=\n",
            ],
        ),
        (
            "include=Counted;java.lang.Integer,report=\"uncaught;escape:java.lang.Integer.parseInt\"",
            0,
            &[
                "escape:java.lang.Integer.parseInt, but 1 class that it may mean was loaded before the agent",
            ],
        ),
    ] {
        let workplace = Workplace::new("rules-told");
        run(&workplace, jdk, options, program);
        let run = workplace.run_json();
        let counted = &run["counters"]["methods_named_by_report"];
        assert_eq!(*counted, named, "JDK {} {options}: {run}", jdk.version);
        assert!(!workplace.crashes().is_empty(), "{options}");
        let grouped = Command::new(hindsight())
            .arg("crashes")
            .arg(workplace.join("out"))
            .output()
            .unwrap();
        let said = text(&grouped.stderr);
        assert_eq!(said.lines().count(), told.len(), "{options}: {said}");
        for told in told {
            assert!(said.contains(told), "{options}: {said}");
        }
    }
}

/// While a run continues, `run.json` soon says that rules have matched a method, because a run that
/// is killed says no more.
#[test]
fn rules_that_name_a_method_are_told_before_the_end() {
    const SOURCE: &str = "
import java.nio.file.*;

public class Goes {
    static class Late { static void handle() { System.nanoTime(); } }
    public static void main(String[] args) throws Exception {
        Path run = Paths.get(System.getProperty(\"run\"));
        String named = \"\\\"methods_named_by_report\\\": \";
        if (!Files.readString(run).contains(named + 0)) { throw new IllegalStateException(); }
        Late.handle();
        for (int i = 0; i < 400 && !Files.readString(run).contains(named + 1); i++) { Thread.sleep(100); }
        new ProcessBuilder(\"kill\", \"-9\", \"\" + ProcessHandle.current().pid()).start();
        Thread.sleep(60_000);
    }
}
";
    // One JDK suffices: it takes as long as the agent sleeps.
    let jdk = &jdks()[0];
    let workplace = Workplace::new("goes-on");
    let classes = workplace.compile_text(jdk, &["--release", "17"], "Goes", SOURCE);
    let output = workplace
        .java_with_agent(jdk, "report=escape:**Late.handle,include=Goes*")
        .arg(format!(
            "-Drun={}",
            workplace.join("out/run.json").display()
        ))
        .arg("-cp")
        .arg(&classes)
        .arg("Goes")
        .output()
        .expect("java runs");
    let told = workplace.run_json();
    let label = format!("{}\n{told}", both(&output));
    assert_eq!(output.status.code(), None, "{label}");
    assert!(told["ended_ms"].is_null(), "{label}");
    let counters = &told["counters"];
    assert_eq!(counters["methods_named_by_report"], 1, "{label}");
    assert!(
        counters["classes_instrumented"].as_u64() >= Some(1),
        "{label}"
    );
}

/// A test framework skips a test by an exception that leaves it, and languages use some for control
/// flow.
const PASSED_OVER: [(&str, &str); 3] = [
    (
        "TestAbortedException",
        "package org.opentest4j; public class TestAbortedException extends RuntimeException { }",
    ),
    (
        "ControlThrowable",
        "package scala.util.control; public class ControlThrowable extends RuntimeException { }",
    ),
    (
        "Passed",
        "
public class Passed {
    static class Break extends scala.util.control.ControlThrowable { }
    static void assume() { throw new org.opentest4j.TestAbortedException(); }
    static void leave() { throw new Break(); }
    static void assertTrue() { throw new AssertionError(\"no\"); }
    public static void main(String[] args) throws Exception {
        Runnable[] all = { () -> assume(), () -> leave(), () -> assertTrue() };
        for (Runnable test : all) {
            try { test.run(); } catch (Throwable e) { System.out.println(e.getMessage()); }
        }
        Thread thread = new Thread(() -> leave());
        thread.start();
        thread.join();
    }
}
",
    ),
];

/// The JDK's handler of uncaught exceptions ignores it, too, if threads can be stopped.
#[test]
fn a_thread_that_was_stopped_is_no_failure() {
    let program = "public class Stopped {
    public static void main(String[] args) throws Exception {
        for (Throwable end : new Throwable[] { new ThreadDeath() { }, new IllegalStateException() }) {
            Thread thread = new Thread(() -> end(end));
            thread.start();
            thread.join();
        }
    }
    static void end(Throwable end) {
        if (end instanceof Error) throw (Error) end;
        throw (RuntimeException) end;
    }
}
";
    for jdk in jdks() {
        let workplace = Workplace::new("failures-stopped");
        let classes = workplace.compile_text(jdk, &[], "Stopped", program);
        let output = workplace
            .java_with_agent(jdk, "")
            .arg("-cp")
            .arg(&classes)
            .arg("Stopped")
            .output()
            .unwrap();
        let crashes = workplace.crashes();
        let all = ["Stopped$1", "java.lang.IllegalStateException"];
        let expected = match jdk.version {
            ..20 => &all[1..],
            _ => &all[..],
        };
        let thrown: Vec<&str> = crashes
            .iter()
            .map(|crash| &*crash.failure.exceptions[0].class)
            .collect();
        assert_eq!(thrown, expected, "{}", both(&output));
    }
}

#[test]
fn a_test_that_is_passed_over_and_a_jump_are_no_failures() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("failures-passed");
        let sources = PASSED_OVER.map(|(name, source)| {
            let path = workplace.join(format!("{name}.java"));
            fs::write(&path, source).unwrap();
            path
        });
        let classes = workplace.compile(jdk, &["--release", "17"], &sources);
        let rule = "report=\"uncaught;escape:Passed.assume;escape:Passed.assertTrue;escape:Passed.leave;caught:Passed.main\"";
        let output = workplace
            .java_with_agent(jdk, rule)
            .arg("-cp")
            .arg(&classes)
            .arg("Passed")
            .output()
            .unwrap();
        assert_eq!(
            text(&output.stdout),
            "null\nnull\nno\n",
            "{}",
            both(&output)
        );
        let crashes = workplace.crashes();
        let thrown: Vec<(&str, &str)> = crashes
            .iter()
            .map(|crash| (&*crash.meta.reason, &*crash.failure.exceptions[0].class))
            .collect();
        let expected = [
            ("escape:Passed.assertTrue", "java.lang.AssertionError"),
            ("uncaught", "Passed$Break"),
        ];
        assert_eq!(thrown, expected, "{}", both(&output));
        let counters = &workplace.run_json()["counters"];
        assert_eq!(counters["tests_passed_over"], 1, "{counters}");
        assert_eq!(counters["jumps_passed_over"], 3, "{counters}");
    }
}
