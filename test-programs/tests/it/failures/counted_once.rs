//! A failure counts once, whatever rules see it, wherever it goes, and whoever throws it on.

use super::*;

pub(super) const COUNTED: &str = "
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
