//! Exceptions that go on elsewhere: on another thread, through reflection, by a helper; and classes whose
//! loader knows nothing of the agent.

use hindsight_test_programs::{Workplace, both, jdks, text};
use hindsight_tracelog::crash::Fidelity;

/// The frames of a crash file that were captured, by name, in their order.
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

/// Who waits for a task throws on what it has thrown: the frames of the task come first, with their arguments.
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
    // The writes of another thread cannot be undone: it is told where the exception comes from.
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

/// Methods that are still running keep their arguments, also those that reflection has called.
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

/// A method that catches an exception, has a helper throw it on and catches it again has failed once.
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

/// The JVM asks a class's own loader for the probes: where that refuses, the class is left alone.
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
