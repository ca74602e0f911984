//! Exceptions that continue elsewhere: on another thread, through reflection, by a helper; and
//! classes whose loader does not find the probes.

use super::recrash::run_tests;
use hindsight_test_programs::{Workplace, both, jdks, reported, text};
use hindsight_tracelog::crash::Fidelity;
use std::fs;

/// The names of the captured frames of a crash file, in order.
fn captured(workplace: &Workplace, number: usize) -> Vec<String> {
    let crashes = workplace.crashes();
    let frames = crashes[number].failure.frames.iter();
    let captured = frames.filter(|frame| frame.fidelity != Fidelity::None);
    captured.map(|frame| frame.method.clone()).collect()
}

const WORKERS: &str = r#"
import java.util.concurrent.*;

public class Workers {
    static int price(String text) { text = text.trim(); return Integer.parseInt(text); }
    static int get(Future<Integer> future) throws Exception {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        }
    }
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, body -> {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            return thread;
        });
        Future<Integer> future = pool.submit(() -> price(" 12a "));
        System.out.println(get(future));
    }
}"#;

/// A thread that waits for a task rethrows its exception: the frames of the task come first, with
/// their arguments.
#[test]
fn what_another_thread_has_thrown_has_its_frames() {
    for jdk in jdks() {
        let workplace = Workplace::new("elsewhere-workers");
        let (classes, ran) = workplace.run_text(jdk, "17", "", ("Workers", WORKERS));
        assert_eq!(ran.status.code(), Some(1), "{}", both(&ran));
        let frames = captured(&workplace, 0);
        assert_eq!(frames, ["price", "lambda$main$1", "get", "main"]);
        let report = workplace
            .junit(jdk, &classes)
            .output()
            .expect("hindsight runs");
        let told = text(&report.stdout);
        let line = told.lines().find(|line| line.contains(" Workers.price:"));
        assert!(
            line.is_some_and(|line| line.contains(" reproduces ")),
            "{told}"
        );
    }
    // The writes of another thread cannot be undone, so the frames say where the exception comes
    // from.
    for jdk in jdks() {
        let workplace = Workplace::new("elsewhere-deep");
        workplace.run_text(jdk, "17", "copy=deep", ("Workers", WORKERS));
        assert_eq!(captured(&workplace, 0), ["get", "main"]);
        let crashes = workplace.crashes();
        let frames = &crashes[0].failure.frames;
        let price = frames.iter().find(|frame| frame.method == "price");
        let reason = price.map_or("no frame", |price| &price.reason);
        assert!(reason.contains("another thread"), "{reason}");
    }
}

const PASSED_ON: &str = r#"
public class PassedOn {
    static volatile RuntimeException saved;
    static int price(int by) { by -= 1; return 100 / by; }
    static void fail() { try { price(1); } catch (RuntimeException e) { saved = e; } }
    static void raise() { if (saved != null) throw saved; }
    static void passOn() { try { raise(); } catch (RuntimeException e) { saved = e; } }
    static void await(Thread thread) throws Exception { thread.join(); throw saved; }
    public static void main(String[] arguments) throws Exception {
        Runnable body = () -> {
            fail();
            for (int i = 0; i < 9; i++) passOn();
        };
        Thread thread = new Thread(arguments[0].equals("here") ? () -> { } : body);
        thread.setDaemon(true);
        if (arguments[0].equals("here")) body.run();
        thread.start();
        await(thread);
    }
}"#;

/// An exception that is kept and rethrown again and again is shown with the frames of its first
/// way, which its stack trace has.
#[test]
fn what_is_passed_on_many_times_keeps_its_first_frames() {
    for jdk in jdks() {
        for place in ["here", "there"] {
            let workplace = Workplace::new(&format!("elsewhere-passed-on-{place}"));
            let release = ["--release", "17"];
            let classes = workplace.compile_text(jdk, &release, "PassedOn", PASSED_ON);
            let ran = workplace
                .java_with_agent(jdk, "")
                .arg("-cp")
                .arg(classes)
                .args(["PassedOn", place])
                .output()
                .expect("java runs");
            assert_eq!(ran.status.code(), Some(1), "{}", both(&ran));
            let crashes = workplace.crashes();
            let first = &crashes[0].failure.frames[0];
            let told = (first.method.as_str(), first.arguments.len());
            assert_eq!(told, ("price", 1), "{place}: {:?}", captured(&workplace, 0));
            assert_ne!(first.fidelity, Fidelity::None, "{place}");
        }
    }
}

const REFLECTED: &str = r#"
import java.lang.reflect.*;

public class Reflected {
    int inner(int number, String text) { number -= 1; return Integer.parseInt(text + number); }
    public Object middle(int number) throws Throwable {
        Method method = Reflected.class.getDeclaredMethod("inner", int.class, String.class);
        return call(method, this, number, "x");
    }
    static Object call(Method method, Object on, Object... arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }
    public static void main(String[] arguments) throws Throwable {
        Method method = Reflected.class.getDeclaredMethod("middle", int.class);
        try { call(method, new Reflected(), 5); } catch (NumberFormatException e) { }
    }
}"#;

/// Methods that are still running keep their arguments, even those called by reflection.
#[test]
fn frames_behind_reflection_are_captured_while_they_run() {
    for jdk in jdks() {
        let workplace = Workplace::new("elsewhere-reflected");
        let rules = "report=escape:Reflected.inner";
        let (_, ran) = workplace.run_text(jdk, "17", rules, ("Reflected", REFLECTED));
        assert!(ran.status.success(), "{}", both(&ran));
        let frames = captured(&workplace, 0);
        assert_eq!(frames, ["inner", "call", "middle", "call", "main"]);
    }
}

const DISPATCHER: &str = r#"
public class Dispatcher {
    static final RuntimeException SHARED = new IllegalStateException("shared");
    int handle(String text) { return Integer.parseInt(text); }
    void throwOn(Exception e) throws Exception { if (e != null) throw e; }
    void dispatch(String text) {
        Exception failed = null;
        try {
            try { handle(text); } catch (Exception e) { failed = e; }
            throwOn(failed);
        } catch (Exception e) { System.out.println("an error page"); }
    }
    public static void main(String[] arguments) {
        new Dispatcher().dispatch("x");
        new Dispatcher().dispatch("y");
    }
}"#;

/// A method that catches an exception, has a helper rethrow it and catches it again has failed
/// once.
#[test]
fn what_a_helper_throws_on_is_one_failure() {
    for jdk in jdks() {
        let workplace = Workplace::new("elsewhere-dispatcher");
        let rules = "report=caught:Dispatcher.dispatch";
        let (_, ran) = workplace.run_text(jdk, "17", rules, ("Dispatcher", DISPATCHER));
        assert!(ran.status.success(), "{}", both(&ran));
        let run = workplace.run_json();
        let counts: u64 = (run["crashes"].as_array().expect("crashes").iter())
            .filter_map(|crash| crash["count"].as_u64())
            .sum();
        assert_eq!(counts, 2, "{run}");
    }
}

const SANDBOX: &str = r#"
import java.io.InputStream;
import java.util.Set;

/** Scripts may load these classes of the platform, and none else. */
public class Sandbox extends ClassLoader {
    static final Set<String> ALLOWED = Set.of(
            "java.lang.Object", "java.lang.String", "java.lang.Runnable", "java.lang.Throwable",
            "java.lang.RuntimeException");
    Sandbox() { super(null); }
    @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        Class<?> known = findLoadedClass(name);
        if (known != null) return known;
        if (ALLOWED.contains(name)) return Class.forName(name);
        if (name.startsWith("java.")) throw new ClassNotFoundException("not allowed: " + name);
        try (InputStream in = Sandbox.class.getResourceAsStream(name + ".class")) {
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (java.io.IOException e) { throw new ClassNotFoundException(name); }
    }
    public static void main(String[] arguments) throws Throwable {
        Runnable script = (Runnable) new Sandbox().loadClass("Sandbox$Script", true).getDeclaredConstructor().newInstance();
        for (int i = 0; i < 2; i++) {
            try { script.run(); System.out.println("done"); } catch (RuntimeException e) { System.out.println(e); }
        }
    }
    public static class Script implements Runnable {
        int runs;
        String last;
        public Script() { }
        public void run() {
            runs++;
            last = runs == 1 ? "k1" : "k2";
            if (runs == 2) throw new RuntimeException(last);
        }
    }
}"#;

const LEFT_ALONE: &str = "classes_left_alone:its loader does not find the probes";

/// The JVM asks a class's own loader for the probes: if that refuses, the class is left alone.
#[test]
fn classes_whose_loader_refuses_the_probes_are_left_alone() {
    for jdk in jdks() {
        for options in ["copy=fields", "copy=deep", "mode=trace"] {
            let workplace = Workplace::new("elsewhere-sandbox");
            let javac = ["--release", "17"];
            let classes = workplace.compile_text(jdk, &javac, "Sandbox", SANDBOX);
            let ran = workplace
                .java_with_agent(jdk, options)
                .arg("-cp")
                .arg(&classes)
                .arg("Sandbox")
                .output()
                .expect("java runs");
            assert_eq!(
                text(&ran.stdout),
                "done\njava.lang.RuntimeException: k2\n",
                "{options}: {}",
                both(&ran)
            );
            let run = workplace.run_json();
            let counted = &run["counters"][LEFT_ALONE];
            assert_eq!(counted, 1, "{options}: {run}");
        }
    }
}

/// Beans behind proxies whose classes a framework makes in the running program, and a bean that is
/// enhanced itself.
const BEANS: &str = r#"
import java.util.*;

class Prices {
    Map<String, Long> all;
    long price(String item) { return all.get(item); }
}
class Limits {
    int most;
    boolean fits(int count) { return count <= most; }
}
class Source { Object target; Source(Object target) { this.target = target; } }
class Advised { Source source; Advised(Source source) { this.source = source; } }
class Callback { Advised advised; Callback(Advised advised) { this.advised = advised; } }
class Prices$$SpringCGLIB$$0 extends Prices {
    Callback callback;
    Prices$$SpringCGLIB$$0(Prices target) { callback = new Callback(new Advised(new Source(target))); }
    @Override long price(String item) { return ((Prices) callback.advised.source.target).price(item); }
}
class Limits$$SpringCGLIB$$0 extends Limits {
    Object callback = "of no use";
}
class Orders {
    Prices prices;
    Limits limits;
    long place(String item, int count) {
        if (!limits.fits(count)) return 0;
        return prices.price(item) * count;
    }
}
public class Beans {
    public static void main(String[] args) {
        Prices prices = new Prices();
        prices.all = new HashMap<>(Map.of("pen", 150L));
        Orders orders = new Orders();
        orders.prices = new Prices$$SpringCGLIB$$0(prices);
        orders.limits = new Limits$$SpringCGLIB$$0();
        orders.limits.most = 3;
        orders.place("cup", 3);
    }
}
"#;

#[test]
fn what_a_proxy_goes_round_stands_for_it() {
    for jdk in jdks() {
        let workplace = Workplace::new("beans");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Beans", BEANS));
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        for made in ["Prices$$SpringCGLIB$$0", "Limits$$SpringCGLIB$$0"] {
            fs::remove_file(classes.join(format!("{made}.class"))).unwrap();
        }
        let (output, report) = reported(&mut workplace.junit(jdk, &classes));
        let frames = report["crashes"][0]["frames"].as_array().unwrap();
        let place = (frames.iter()).find(|frame| frame["method"] == "place");
        let place = place.unwrap_or_else(|| panic!("{}", both(&output)));
        assert_eq!(
            place["verdict"], "reproduces",
            "JDK {}: {place}",
            jdk.version
        );
        let reason = place["reason"].as_str().unwrap();
        assert!(reason.contains("Prices$$SpringCGLIB$$0"), "{reason}");

        let fixed = BEANS.replace("all.get(item)", "all.getOrDefault(item, 0L)");
        let fixed_place = Workplace::new("beans-fixed");
        let fixed = fixed_place.compile_text(jdk, &["--release", "11"], "Beans", &fixed);
        let (passed, all) = run_tests(&workplace, jdk, &fixed);
        assert_eq!(
            (passed.len(), all),
            (2, 2),
            "JDK {}: {passed:?}",
            jdk.version
        );
    }
}
