//! The bounds of a recording: files, objects, memory; and the exceptions that it still reports.

use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, render, text};
use hindsight_tracelog::crash::Body;
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

fn run(workplace: &Workplace, jdk: &Jdk, options: &str, jvm: &[&str], source: &str) -> Output {
    let classes = workplace.compile_text(jdk, &["--release", "11"], "Main", source);
    (workplace.java_with_agent(jdk, options).args(jvm))
        .arg("-cp")
        .arg(&classes)
        .arg("Main")
        .output()
        .expect("java runs")
}

const TEN_FAILURES: &str = "
public class Main {
    static void fail(int n) {
        switch (n) {
            case 0: throw new IllegalStateException();
            case 1: throw new IllegalArgumentException();
            case 2: throw new UnsupportedOperationException();
            case 3: throw new ArithmeticException();
            case 4: throw new ClassCastException();
            case 5: throw new NullPointerException();
            case 6: throw new SecurityException();
            case 7: throw new NumberFormatException();
            case 8: throw new ArrayStoreException();
            default: throw new IndexOutOfBoundsException();
        }
    }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 30; i++) {
            int n = i % 10;
            Thread thread = new Thread(() -> fail(n));
            thread.setUncaughtExceptionHandler((t, e) -> { });
            thread.start();
            thread.join();
        }
    }
}";

/// Of ten different failures, each three times, only the allowed number is stored; these are
/// counted, and so are the others.
#[test]
fn so_many_crashes_are_stored_and_no_more() {
    for jdk in jdks() {
        for (option, refused) in [
            ("max-crashes=2", "crashes_beyond_max_crashes"),
            ("per-minute=2", "crashes_beyond_per_minute"),
        ] {
            let workplace = Workplace::new("bounded");
            let ran = run(&workplace, jdk, option, &[], TEN_FAILURES);
            let label = format!("JDK {} {option}: {}", jdk.version, both(&ran));
            assert!(ran.status.success(), "{label}");
            assert_eq!(workplace.crashes().len(), 2, "{label}");
            let counters = &workplace.run_json()["counters"];
            let label = format!("{label} {counters}");
            assert_eq!(counters["crashes_stored"], 2, "{label}");
            assert_eq!(counters["crashes_repeated"], 4, "{label}");
            assert_eq!(counters[refused], 24, "{label}");
        }
    }
}

#[test]
fn a_crash_takes_so_many_bytes_and_no_more() {
    const SOURCE: &str = "
import java.util.*;
public class Main {
    static void fail(String first, List<byte[]> all) { throw new IllegalStateException(); }
    public static void main(String[] args) {
        List<byte[]> all = new ArrayList<>();
        Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) { byte[] one = new byte[1_000]; random.nextBytes(one); all.add(one); }
        fail(\"it\", all);
    }
}";
    for jdk in jdks() {
        let sizes = ["", "max-bytes=200K"].map(|option| {
            let workplace = Workplace::new("bytes");
            run(&workplace, jdk, option, &[], SOURCE);
            let crash = &workplace.crashes()[0];
            let is_beyond =
                |body: &Body| matches!(body, Body::Hole(why) if why == "beyond max-bytes");
            let objects = crash.objects.iter().flatten();
            let beyond = objects.filter(|object| is_beyond(&object.body)).count();
            assert_eq!(beyond > 0, !option.is_empty(), "{beyond}");
            // What comes first is there.
            let told = render(crash);
            assert!(told.contains("first=\"it\""), "JDK {} {told}", jdk.version);
            let file = &workplace.crash_files()[0];
            fs::metadata(file).expect("a file").len()
        });
        let label = format!("JDK {} {sizes:?}", jdk.version);
        // The bytes are random, so they cannot be compressed.
        assert!(sizes[0] > 2_000_000 && sizes[1] < 400_000, "{label}");
    }
}

#[test]
fn a_large_array_does_not_make_a_file_that_nobody_can_read() {
    const SOURCE: &str = "
public class Main {
    static int at(byte[] large, byte[][] all, int[] small) { return small[3]; }
    public static void main(String[] args) {
        byte[][] all = new byte[300][1 << 20];
        at(new byte[129 << 20], all, new int[] {5});
    }
}";
    let jdk = &jdks()[0];
    let workplace = Workplace::new("large");
    let ran = run(&workplace, jdk, "max-bytes=1G", &["-Xmx1g"], SOURCE);
    assert_eq!(ran.status.code(), Some(1), "{}", both(&ran));
    let crash = &workplace.crashes()[0];
    assert!(crash.is_whole(), "{:?}", crash.damage);
    let bodies = || crash.objects.iter().flatten().map(|object| &object.body);
    let small =
        bodies().filter(|body| matches!(body, Body::Primitives(bytes) if bytes.len() == 1 << 20));
    assert_eq!(small.count(), 300);
    let beyond =
        bodies().filter(|body| matches!(body, Body::Hole(why) if why == "beyond max-bytes"));
    assert_eq!(beyond.count(), 1);
}

/// Exceptions that the program throws and catches do not concern the agent: they cause no file, and
/// use no memory.
#[test]
fn a_million_caught_exceptions_leave_nothing() {
    const SOURCE: &str = "
public class Main {
    static int deep(int depth, int n) {
        if (depth == 0) throw new IllegalStateException(\"no \" + n);
        return deep(depth - 1, n) + 1;
    }
    static long used() {
        for (int i = 0; i < 3; i++) System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
    static void some(int count) {
        for (int i = 0; i < count; i++) {
            try { deep(20, i); } catch (IllegalStateException expected) { }
        }
    }
    public static void main(String[] args) {
        some(50_000);
        long before = used();
        some(950_000);
        System.out.println((used() - before) / 1024);
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("million");
        let small = ["-Xmx16m", "-XX:+UseSerialGC"];
        let ran = run(&workplace, jdk, "copy=fields", &small, SOURCE);
        let label = format!("JDK {}: {}", jdk.version, both(&ran));
        assert!(ran.status.success(), "{label}");
        let grown: i64 = text(&ran.stdout).trim().parse().expect(&label);
        assert!(grown < 200, "{grown} KiB: {label}");
        assert!(workplace.crashes().is_empty(), "{label}");
        workplace.assert_instrumented(&label);
    }
}

/// Hazard: a weak map whose value keeps its key. An exception that was made once and for all does
/// not keep what it has passed, nor does a trace keep objects by their numbers.
#[test]
fn what_an_exception_has_passed_is_let_go_of() {
    const SOURCE: &str = "
public class Main {
    static final RuntimeException SHARED = new RuntimeException(\"shared\", null, false, false) {};
    byte[] last;
    static void take(Main into, byte[] large) {
        into.last = large;
        large[0] = 1;
        throw SHARED;
    }
    public static void main(String[] args) {
        int caught = 0;
        for (int i = 0; i < 20; i++) {
            try { take(new Main(), new byte[25 << 20]); } catch (RuntimeException e) { caught++; }
        }
        System.out.println(caught);
    }
}";
    for jdk in jdks() {
        for copy in ["fields", "deep"] {
            let workplace = Workplace::new("passed");
            let ran = run(
                &workplace,
                jdk,
                &format!("copy={copy}"),
                &["-Xmx96m"],
                SOURCE,
            );
            let label = format!("JDK {} {copy}: {}", jdk.version, both(&ran));
            assert_eq!(text(&ran.stdout), "20\n", "{label}");
            workplace.assert_instrumented(&label);
        }
    }
}

#[test]
fn a_trace_does_not_keep_the_objects_that_it_has_numbered() {
    const SOURCE: &str = "
public class Main {
    int number;
    int own(int by) { number += by; return System.identityHashCode(this) & 1; }
    public static void main(String[] args) {
        int even = 0;
        for (int i = 0; i < 1_500_000; i++) even += new Main().own(i);
        System.out.println(even > 0);
    }
}";
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("numbered-objects");
        let small = ["-Xmx48m", "-XX:+UseSerialGC"];
        let ran = run(&workplace, jdk, "mode=trace,max-trace=2M", &small, SOURCE);
        let label = format!("JDK {}: {}", jdk.version, both(&ran));
        assert_eq!(text(&ran.stdout), "true\n", "{label}");
        workplace.assert_instrumented(&label);
        let run = workplace.run_json();
        let counters = &run["counters"];
        assert!(counters["trace_events_lost"].is_null(), "{run} {label}");
        let without = &counters["trace_objects_without_number"];
        assert!(without.is_null(), "{run} {label}");
    }
}

#[test]
fn suppressed_exceptions_are_told_with_their_stacks() {
    const SOURCE: &str = "
public class Main {
    static class Door implements AutoCloseable {
        @Override public void close() { throw new UnsupportedOperationException(\"stuck\"); }
    }
    static void work(int n) {
        try (Door door = new Door()) { throw new IllegalStateException(\"n is \" + n); }
    }
    public static void main(String[] args) { work(7); }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("suppressed");
        run(&workplace, jdk, "", &[], SOURCE);
        let file = &workplace.crash_files()[0];
        let ask = |options: &[&str]| {
            let mut command = Command::new(hindsight());
            let output = command.arg("inspect").arg(file).args(options).output();
            let output = output.expect("hindsight runs");
            assert!(output.status.success(), "{}", both(&output));
            text(&output.stdout)
        };
        let told = ask(&[]);
        for part in [
            "java.lang.IllegalStateException",
            "n is 7",
            "java.lang.UnsupportedOperationException",
            "stuck",
        ] {
            assert!(told.contains(part), "JDK {} {part}: {told}", jdk.version);
        }
        let told: Value = serde_json::from_str(&ask(&["--format", "json"])).expect("JSON");
        let exceptions = &told["exceptions"];
        assert_eq!(exceptions[0]["suppressed"][0], 1, "{told}");
        assert_eq!(exceptions[1]["message"], "stuck", "{told}");
        let stack = exceptions[1]["stack"].as_array().expect("a stack");
        let closes = |element: &Value| element["method"] == "close";
        assert!(stack.iter().any(closes), "{told}");
    }
}

/// After many exceptions, HotSpot throws one shared object, which has no stack trace.
#[test]
fn an_exception_that_the_jvm_made_before_gives_tests() {
    const SOURCE: &str = "
public class Main {
    static int length(String text) { return text.length(); }
    static int sum(String[] texts) {
        int sum = 0;
        for (String text : texts) sum += length(text);
        return sum;
    }
    public static void main(String[] args) {
        int caught = 0;
        for (int i = 0; i < 300_000; i++) {
            try { caught += sum(new String[] {\"a\", i % 2 == 0 ? null : \"b\"}); }
            catch (NullPointerException e) { if (e.getStackTrace().length == 0) break; }
        }
        System.out.println(caught);
        sum(new String[] {\"last\", null});
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("made-before");
        run(&workplace, jdk, "", &["-XX:-TieredCompilation"], SOURCE);
        let crash = &workplace.crashes()[0];
        let label = format!("JDK {}: {}", jdk.version, render(crash));
        assert!(crash.failure.exceptions[0].stack.is_empty(), "{label}");
        let made = Command::new(hindsight())
            .arg("junit")
            .args(workplace.crash_files())
            .arg("--classpath")
            .arg(workplace.join("classes"))
            .arg("--out")
            .arg(workplace.join("tests"))
            .args(["--format", "json", "--jdk"])
            .arg(&jdk.home)
            .output()
            .expect("hindsight runs");
        assert!(made.status.success(), "{label} {}", both(&made));
        let report: Value = serde_json::from_str(&text(&made.stdout)).expect("JSON");
        let frames = report["crashes"][0]["frames"].as_array().expect("frames");
        let reproduces = |method: &str| {
            frames
                .iter()
                .any(|frame| frame["method"] == method && frame["verdict"] == "reproduces")
        };
        let label = format!("{label} {report}");
        assert!(reproduces("length") && reproduces("sum"), "{label}");
    }
}

const CLASSES_WITHOUT_END: &str = "
public class Main {
    public static class Script {
        static final String NAME = \"VARIANT\";
        public static int run(int[] values, int at) { return values[at]; }
    }
    static class Once extends ClassLoader {
        Class<?> define(byte[] code) { return defineClass(null, code, 0, code.length); }
    }
    public static void main(String[] args) throws Exception {
        byte[] code;
        try (java.io.InputStream in = Main.class.getResourceAsStream(\"Main$Script.class\")) {
            code = in.readAllBytes();
        }
        int at = new String(code, \"ISO-8859-1\").indexOf(\"VARIANT\");
        Class<?> kept = new Once().define(code.clone());
        kept.getMethod(\"run\", int[].class, int.class).invoke(null, new int[1], 0);
        Class<?> script = null;
        for (int i = 0; i < 1100; i++) {
            byte[] number = String.format(\"%07d\", i).getBytes(\"ISO-8859-1\");
            System.arraycopy(number, 0, code, at, number.length);
            script = new Once().define(code.clone());
            script.getMethod(\"run\", int[].class, int.class).invoke(null, new int[1], 0);
            if (i % 250 == 249) System.gc();
        }
        fail(kept, 7);
        fail(script, 8);
    }
    static void fail(Class<?> script, int at) {
        try {
            script.getMethod(\"run\", int[].class, int.class).invoke(null, new int[1], at);
        } catch (ReflectiveOperationException e) {
            // That is what is wanted.
        }
    }
}";

/// A program that makes classes as long as it runs does not make the agent grow with them.
#[test]
fn what_is_known_of_unloaded_classes_is_forgotten() {
    for jdk in jdks() {
        let workplace = Workplace::new("unloaded");
        let jvm = ["-XX:+UseSerialGC", "-Xmx64m"];
        let ran = run(
            &workplace,
            jdk,
            // The definer gives no name.
            "report=escape:Main$Script.run",
            &jvm,
            CLASSES_WITHOUT_END,
        );
        let label = format!("JDK {}: {}", jdk.version, both(&ran));
        assert!(ran.status.success(), "{label}");
        let counters = &workplace.run_json()["counters"];
        let unloaded = counters["classes_unloaded"].as_u64();
        assert!(
            unloaded.is_some_and(|count| count > 700),
            "{label} {counters}"
        );
        // One of the first that is still loaded, and the last one, have their frames.
        let crashes = workplace.crashes();
        let told = |crash, at: &str| {
            let text = render(crash);
            text.contains("Main$Script.run") && text.contains(at)
        };
        let label = crashes.iter().map(render).collect::<String>();
        assert_eq!(crashes.len(), 2, "{label}");
        assert!(told(&crashes[0], "7") && told(&crashes[1], "8"), "{label}");
    }
}
