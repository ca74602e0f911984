//! Failures are told apart, and none is lost: behind wrappers with causes of their own, below code
//! of the JDK, in floods.
//!
//! - [`counted_once`] is about those that are seen more than once, [`rules`] about what decides.

mod counted_once;
mod rules;

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
