//! The tests of frames whose state is complete, and whose class, trace or thread is out of the
//! ordinary.

use hindsight_test_programs::{
    Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, reported, root, text,
};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Records a program of `programs/`, makes tests with these options, and returns their frames crash
/// by crash.
#[track_caller]
fn frames(jdk: &Jdk, program: &str, jvm: &[&str], options: &[&str]) -> Vec<Value> {
    let workplace = Workplace::new(&format!("replays-{program}-{}", jdk.version));
    let source = root().join(format!("test-programs/programs/{program}.java"));
    let classes = workplace.compile(jdk, &["--release", "11"], &[source]);
    let run = workplace
        .java_with_agent(jdk, "")
        .args(jvm)
        .arg("-cp")
        .arg(&classes)
        .arg(program)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", both(&run));
    let (output, report) = reported(workplace.junit(jdk, &classes).args(options));

    let crashes = report["crashes"].as_array();
    let crashes = crashes.unwrap_or_else(|| panic!("{}", both(&output)));
    crashes
        .iter()
        .flat_map(|crash| crash["frames"].as_array().unwrap().clone())
        .collect()
}

#[track_caller]
fn check(jdk: &Jdk, frames: &[Value], method: &str, verdict: &str, reason: &str) {
    let of_method: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["method"] == method)
        .filter(|frame| !frame["class"].as_str().unwrap().starts_with("java."))
        .collect();
    assert!(!of_method.is_empty(), "{method} on JDK {}", jdk.version);
    for frame in of_method {
        let place = format!("{method} on JDK {}: {frame}", jdk.version);
        assert_eq!(frame["verdict"], verdict, "{place}");
        assert!(
            frame["reason"].as_str().unwrap().contains(reason),
            "{place}"
        );
    }
}

#[test]
fn superclasses_are_initialised_before_their_subclasses() {
    for jdk in jdks_in_turn() {
        for values in ["built", "loaded"] {
            let frames = frames(jdk, "Zones", &[], &["--values", values]);
            let reason = "ArrayIndexOutOfBoundsException in Zones.field:36";
            for method in ["field", "parse", "main"] {
                check(jdk, &frames, method, "reproduces", reason);
            }
        }
    }
}

/// The message of a JVM that does not even start is an error, not the verdict of each test.
#[test]
fn why_a_jvm_of_tests_does_not_start_is_told() {
    for jdk in jdks() {
        let workplace = Workplace::new("replays-unstartable");
        let source = (
            "Stops",
            "class Stops { public static void main(String[] a) { int x = 1 / a.length; } }",
        );
        let (classes, run) = workplace.run_text(jdk, "11", "", source);
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        for (option, reason) in [
            ("-Xmx1m", "-Xmx1m: Too small maximum heap"),
            ("-Xfoo", "-Xfoo: Unrecognized option: -Xfoo"),
        ] {
            let mut junit = workplace.junit(jdk, &classes);
            let made = junit.arg(format!("--java-option={option}")).output();
            let made = made.unwrap();
            let told = both(&made);
            assert!(!made.status.success() && made.stdout.is_empty(), "{told}");
            let expected = format!("does not start with the options of the tests, {reason}");
            assert!(told.contains(&expected), "{expected}: {told}");
        }
    }
}

#[test]
fn frames_that_the_program_took_out_of_the_trace_reproduce() {
    for jdk in jdks() {
        let frames = frames(jdk, "Cleaned", &[], &[]);
        for (method, place) in [
            ("inner", "Cleaned.inner:10"),
            ("middle", "Cleaned.inner:10"),
            ("outer", "Cleaned.outer:25"),
            ("main", "Cleaned.outer:25"),
        ] {
            check(jdk, &frames, method, "reproduces", place);
        }
    }
}

#[test]
fn what_fork_join_throws_on_in_the_same_thread_has_all_its_frames() {
    let jvm = ["-Djava.util.concurrent.ForkJoinPool.common.parallelism=0"];
    for jdk in jdks() {
        let frames = frames(jdk, "Joined", &jvm, &[]);
        // The bridge that javac has put beside `Integer compute()` calls that, and has the same
        // outcome.
        let is_bridge = |frame: &Value| frame["descriptor"] == "()Ljava/lang/Object;";
        let (bridges, frames): (Vec<Value>, Vec<Value>) = frames.into_iter().partition(is_bridge);
        check(jdk, &bridges, "compute", "unsupported", "a bridge");
        for method in ["job", "parallel", "compute"] {
            check(jdk, &frames, method, "reproduces", "Joined.job:14");
        }
    }
}

#[test]
fn a_method_whose_class_cannot_be_initialised_is_told() {
    for jdk in jdks() {
        let frames = frames(jdk, "Failing", &[], &[]);
        let reason = "calling it runs the static initializer of Failing$Settings, which fails: \
                      java.lang.NumberFormatException in Failing$Settings.parse:9";
        check(jdk, &frames, "parse", "differs", reason);
        check(jdk, &frames, "limit", "reproduces", "Failing.limit:14");
    }
}

/// The JVM fills in a trace when it is asked for, and nobody has asked for this one: the handler
/// fails before.
#[test]
fn exceptions_that_are_passed_have_their_stack_traces() {
    const SOURCE: &str = "
public class Handled {
    static int depth(int left) {
        if (left == 0) throw new IllegalStateException(\"at the bottom\");
        return depth(left - 1) + 1;
    }
    static String told(RuntimeException failure) {
        String code = failure.getMessage().substring(20);
        return code + \" in \" + failure.getStackTrace()[0].getMethodName();
    }
    public static void main(String[] arguments) {
        try { depth(3); } catch (IllegalStateException e) { System.out.println(told(e)); }
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("replays-trace-{}", jdk.version));
        let (_, run) = workplace.run_text(jdk, "11", "", ("Handled", SOURCE));
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let inspected = Command::new(hindsight())
            .arg("inspect")
            .arg(&workplace.crash_files()[0])
            .output()
            .expect("hindsight runs");
        let told = text(&inspected.stdout);
        let (_, argument) = told.split_once("failure = ").expect(&told);
        for element in [
            "depth(Handled.java:4)",
            "depth(Handled.java:5)",
            "main(Handled.java:",
        ] {
            assert!(
                argument.contains(element),
                "{element} on JDK {}: {told}",
                jdk.version
            );
        }
    }
}

/// What the program has added to a thread is state like any other, and a test need not start the
/// thread.
#[test]
fn threads_of_the_programs_own_classes_are_restored() {
    const SOURCE: &str = "
import java.util.*;
public class Workers {
    static class Worker extends Thread {
        private final Deque<String> jobs = new ArrayDeque<>(List.of(\"four\"));
        private int done = 2;
        Worker() { super(\"worker one\"); }
        @Override public void run() {
            done++;
            step(jobs.peek());
        }
        private int step(String job) {
            return job.length() / (getName().length() - 7 - done);
        }
    }
    public static void main(String[] arguments) throws InterruptedException {
        Worker worker = new Worker();
        worker.start();
        worker.join();
    }
}";
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new(&format!("replays-workers-{}", jdk.version));
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Workers", SOURCE));
        assert_eq!(run.status.code(), Some(0), "{}", both(&run));
        let (_, report) = reported(&mut workplace.junit(jdk, &classes));
        let frames = report["crashes"][0]["frames"].as_array().unwrap();
        let place = "ArithmeticException in Workers$Worker.step:13";
        for method in ["step", "run"] {
            check(jdk, frames, method, "reproduces", place);
        }
    }
}

const SINGLES: &str = "
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.IntUnaryOperator;

public class Singles {
    interface Tree { }
    static final class Nil implements Tree {
        static final Nil NIL = new Nil();
        private Nil() { }
    }
    static final class Fork implements Tree {
        final Tree left;
        final Tree right;
        final IntUnaryOperator weight;
        Fork(Tree left, Tree right, IntUnaryOperator weight) {
            this.left = left;
            this.right = right;
            this.weight = weight;
        }
    }
    static final class Registry {
        static final Registry INSTANCE = new Registry();
        private final List<String> names = new ArrayList<>();
        private Registry() { }
    }
    static final class Marks {
        private static final Object NONE = new Object();
        private static final int[] EMPTY = {};
        static Object none() { return NONE; }
        static int[] empty() { return EMPTY; }
        static boolean is(Object value) { return value == NONE || value == EMPTY; }
    }
    static int depth(Tree tree, int by) {
        if (tree == Nil.NIL) return 0;
        Fork fork = (Fork) tree;
        return fork.weight.applyAsInt(1) / by + depth(fork.left, 1) + depth(fork.right, 1);
    }
    static int marked(Object[] values, IntUnaryOperator each, int by) {
        for (Object value : values) {
            if (!Marks.is(value)) throw new IllegalArgumentException(\"no mark\");
        }
        return each.applyAsInt(values.length) / by;
    }
    static int registered(Registry registry, int by) {
        if (registry != Registry.INSTANCE) throw new IllegalArgumentException(\"another one\");
        return 1 / (registry.names.size() - by);
    }
    static final class Parts {
        static final ExecutorService POOL = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        static final AtomicIntegerFieldUpdater<Parts> COUNT =
                AtomicIntegerFieldUpdater.newUpdater(Parts.class, \"count\");
        private final AtomicIntegerFieldUpdater<Parts> updater = COUNT;
        volatile int count;
    }
    static int pooled(ExecutorService pool, Parts parts, int by) throws Exception {
        parts.updater.incrementAndGet(parts);
        return pool.submit(() -> parts.count).get() / by;
    }
    static final class Host {
        private final java.io.PrintStream out = System.out;
        private final Runtime runtime = Runtime.getRuntime();
        private final ForkJoinPool common = ForkJoinPool.commonPool();
        private final java.nio.file.FileSystem files = java.nio.file.FileSystems.getDefault();
        private final ClassLoader loader = Singles.class.getClassLoader();
        private final Module module = java.net.http.HttpRequest.class.getModule();
        private final Thread owner = Thread.currentThread();
        private final java.net.http.HttpRequest request = java.net.http.HttpRequest
                .newBuilder(java.net.URI.create(\"http://localhost/x\")).header(\"a\", \"b\").build();
        private final ScheduledExecutorService pool = Executors.newScheduledThreadPool(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        boolean isHere() {
            return out == System.out && runtime == Runtime.getRuntime()
                    && common == ForkJoinPool.commonPool()
                    && files == java.nio.file.FileSystems.getDefault()
                    && loader == Singles.class.getClassLoader()
                    && module == java.net.http.HttpRequest.class.getModule()
                    && owner == Thread.currentThread();
        }
    }
    static int hosted(Host host, int by) throws Exception {
        if (!host.isHere()) throw new IllegalArgumentException(\"elsewhere\");
        int port = host.request.uri().getPort() + host.request.headers().map().size();
        return host.pool.submit(() -> port).get() / by;
    }
    static int wiped(String password, char[] passphrase, int by) {
        int length = password.length();
        Arrays.fill(passphrase, '0');
        return length / by;
    }
    static int withoutName(Map<String, Integer> identity, Map<String, Integer> weak, int by) {
        return (identity.get(null) + weak.get(null)) / by;
    }
    static void start(Callable<?> body) throws Exception {
        start((Runnable) () -> {
            try {
                body.call();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }
    static void start(Runnable body) throws Exception {
        Thread thread = new Thread(body);
        thread.setUncaughtExceptionHandler((of, e) -> { });
        thread.start();
        thread.join();
    }
    public static void main(String[] args) throws Exception {
        int more = args.length + 2;
        Fork leaf = new Fork(Nil.NIL, Nil.NIL, x -> x * more);
        start((Runnable) () -> depth(new Fork(leaf, Nil.NIL, x -> x + more), 0));
        start((Runnable) () -> marked(new Object[] {Marks.none(), Marks.empty()}, x -> x + more, 0));
        Registry.INSTANCE.names.add(\"a\");
        start((Runnable) () -> registered(Registry.INSTANCE, 1));
        Map<String, Integer> identity = new IdentityHashMap<>();
        identity.put(null, 3);
        start((Runnable) () -> withoutName(identity, new WeakHashMap<>(identity), 0));
        start((Runnable) () -> wiped(new String(\"not told\"), new char[12], 0));
        start((Callable<?>) () -> hosted(new Host(), 0));
        start((Callable<?>) () -> pooled(Parts.POOL, new Parts(), 0));
    }
}
";

/// A second object equal to that of a constant would be a different one to the program.
#[test]
fn what_constants_hold_is_the_same_object_in_tests() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new(&format!("replays-singles-{}", jdk.version));
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Singles", SINGLES));
        assert!(run.status.success(), "{}", both(&run));
        let (_, report) = reported(&mut workplace.junit(jdk, &classes));

        let crashes = report["crashes"].as_array().expect("crashes");
        let frames: Vec<Value> = crashes
            .iter()
            .flat_map(|crash| crash["frames"].as_array().expect("frames").clone())
            .collect();
        for method in [
            "depth",
            "marked",
            "registered",
            "pooled",
            "withoutName",
            "hosted",
            "wiped",
        ] {
            check(jdk, &frames, method, "reproduces", "ArithmeticException");
        }
        check(
            jdk,
            &frames,
            "wiped",
            "reproduces",
            "of that length stands for it",
        );
        let pool = "a new pool with daemon threads and no tasks stands for it";
        check(jdk, &frames, "hosted", "reproduces", pool);
    }
}

const ORDERS: &str = r#"
import java.util.*;

public class Orders {
    private static final Set<String> RULES = Set.of("allow", "deny");

    static void given(Set<String> rules, String expected) {
        if (rules.iterator().next().equals(expected)) {
            throw new IllegalStateException("first of " + rules.size());
        }
    }

    static void mapped(Map<String, Integer> rules, String expected) {
        if (rules.keySet().iterator().next().equals(expected)) {
            throw new IllegalStateException("first of " + rules.size());
        }
    }

    static void own(String expected) {
        if (RULES.iterator().next().equals(expected)) {
            throw new IllegalStateException("first of my own");
        }
    }

    // A small map has these keys in the other order. What the thread is called, no test knows.
    static void begin() {
        Map<String, Integer> large = new HashMap<>(512);
        large.put("Aa", 1);
        large.put("1", 2);
        if (Thread.currentThread().getName().equals("begun")) one(large);
    }

    static void one(Map<String, Integer> large) { two(large); }

    static void two(Map<String, Integer> large) { three(large); }

    static void three(Map<String, Integer> large) {
        if (large.keySet().iterator().next().equals("1")) Thread.currentThread().setName("met");
        end();
    }

    static void end() {
        if (Thread.currentThread().getName().equals("met")) throw new IllegalStateException("met");
    }

    static void run(Runnable what) {
        try {
            what.run();
        } catch (RuntimeException e) {
            System.out.println(e);
        }
    }

    public static void main(String[] arguments) {
        Set<String> two = Set.of("allow", "deny");
        Set<String> many = Set.of("a", "b", "c", "d", "e");
        Map<String, Integer> map = Map.of("x", 1, "y", 2, "z", 3);
        run(() -> given(two, two.iterator().next()));
        run(() -> given(many, many.iterator().next()));
        run(() -> mapped(map, map.keySet().iterator().next()));
        run(() -> own(RULES.iterator().next()));
        Thread.currentThread().setName("begun");
        run(Orders::begin);
    }
}
"#;

/// `Set.of` and `Map.of` iterate in another order in each JVM: code that depends on it finds the
/// recorded one, even if the set is the program's own. A `HashMap` has the order of its size; it is
/// loaded if building it does not reproduce, even between two frames that end alike and have
/// nothing to load.
#[test]
fn the_order_of_immutable_sets_is_as_recorded() {
    for jdk in jdks() {
        let workplace = Workplace::new("orders");
        let program = ("Orders", ORDERS);
        let (classes, run) = workplace.run_text(jdk, "17", "report=caught:Orders.run", program);
        assert_eq!(workplace.crash_files().len(), 5, "{}", both(&run));
        let (_, report) = reported(&mut workplace.junit(jdk, &classes));
        // Candidates run in another order: building there would not reproduce.
        let check = |frame: &Value| {
            let is_loaded = frame["values"]["state"] == true;
            assert!(frame["verdict"] == "reproduces" && is_loaded, "{frame}");
        };
        let crashes = report["crashes"].as_array().expect("crashes");
        for crash in crashes {
            let frames = crash["frames"].as_array().expect("frames");
            match frames[0]["method"] == "end" {
                true => frames[1..=3].iter().for_each(check),
                false => check(&frames[0]),
            }
        }
    }
}

const SHOWN: &str = r#"
import java.util.*;

public class Shown {
    static void fail(Set<String> two, Set<String> many, Map<String, Integer> map, Set<String> kept, String told) {
        throw new IllegalStateException();
    }
    public static void main(String[] arguments) {
        Set<String> two = Set.of("a", "b");
        Set<String> many = Set.of("a", "b", "c", "d", "e", "f");
        Map<String, Integer> map = Map.of("a", 1, "b", 2, "c", 3, "d", 4);
        Set<String> kept = Collections.unmodifiableSet(Set.of("a", "b", "c", "d", "e"));
        StringJoiner told = new StringJoiner(" ");
        for (Set<String> keys : List.of(two, many, map.keySet(), kept)) {
            told.add(String.join("", keys));
        }
        fail(two, many, map, kept, told.toString());
    }
}
"#;

/// Immutable sets and maps are shown in the order in which the recorded program met their elements.
#[test]
fn immutable_sets_are_shown_in_the_recorded_order() {
    for jdk in jdks() {
        // Each JVM draws another one.
        for _ in 0..3 {
            let workplace = Workplace::new("shown");
            let (_, run) = workplace.run_text(jdk, "17", "", ("Shown", SHOWN));
            assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
            let inspected = Command::new(hindsight())
                .arg("inspect")
                .arg(&workplace.crash_files()[0])
                .output()
                .expect("hindsight runs");
            let shown = text(&inspected.stdout);
            let keys = |name: &str| -> String {
                let (_, line) = shown.split_once(&format!(" {name} = ")).expect(&shown);
                let line = line.lines().next().unwrap_or_default();
                line.split('"').skip(1).step_by(2).collect()
            };
            let all = ["two", "many", "map", "kept"].map(keys).join(" ");
            assert_eq!(all, keys("told"), "JDK {}: {shown}", jdk.version);
        }
    }
}

const CHANCE: &str = "
import java.util.Random;

public class Chance {
    static void drawn() {
        if (new Random().nextInt(3) > 0) throw new IllegalStateException(\"drawn\");
    }
    static void some() {
        drawn();
    }
    public static void main(String[] args) throws Exception {
        MAIN
    }
}
";

/// A test that has reproduced by chance reports that, be it one of several or the only one. Each
/// try detects that in two of five cases.
#[test]
fn what_depends_on_chance_is_told() {
    let several = "while (true) some();";
    let only = "
        boolean[] failed = {false};
        while (!failed[0]) {
            Thread thread = new Thread(Chance::drawn);
            thread.setUncaughtExceptionHandler((of, e) -> failed[0] = true);
            thread.start();
            thread.join();
        }";
    let jdk = &jdks()[0];
    for main in [several, only] {
        let workplace = Workplace::new("replays-chance");
        let source = CHANCE.replace("MAIN", main);
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Chance", &source));
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        let is_told = (0..30).any(|_| {
            let (output, report) = reported(&mut workplace.junit(jdk, &classes));
            let frames = report["crashes"][0]["frames"].as_array();
            let frames = frames.unwrap_or_else(|| panic!("{}", both(&output)));
            let test = workplace.join("tests/src/test/java/ChanceCrash0001Test.java");
            let test = fs::read_to_string(test).unwrap_or_default();
            for frame in frames {
                let reproduces = frame["verdict"] == "reproduces";
                assert_eq!(frame["steady"].is_boolean(), reproduces, "{frame}");
                let reason = frame["reason"].as_str().expect("a reason");
                let is_remarked = reason.contains("; not each time: it depends on");
                assert_eq!(is_remarked, frame["steady"] == false, "{frame}");
                // It draws until it fails.
                if frame["method"] == "main" {
                    assert_eq!(frame["steady"], true, "{frame}");
                }
            }
            let unsteady = frames.iter().filter(|frame| frame["steady"] == false);
            let remarks = test.matches("// Does not reproduce each time:").count();
            assert_eq!(remarks, unsteady.count(), "{test}");
            frames[0]["steady"] == false
        });
        assert!(is_told, "{main}");
    }
}

const LOCKED: &str = r#"
public class Locked {
    private int stored;
    public static void main(String[] arguments) {
        Object full = new Object();
        synchronized (full) {
            notified(full, new Locked());
        }
    }
    static void notified(Object full, Locked all) {
        full.notifyAll();
        all.put();
    }
    synchronized void put() {
        add(3);
    }
    private void add(int number) {
        notify();
        stored += number;
        throw new IllegalStateException();
    }
}"#;

/// A method that was called with the lock of its receiver or of an argument is called so in its
/// test; others are called without.
#[test]
fn locks_that_methods_were_called_with_are_held() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("replays-locked");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Locked", LOCKED));
        let (output, report) = reported(&mut workplace.junit(jdk, &classes));
        let frames = report["crashes"][0]["frames"].as_array();
        let frames = frames.unwrap_or_else(|| panic!("{}{}", both(&run), both(&output)));
        let held = "; with ";
        for (method, reason) in [
            ("add", "; with the receiver's lock, as it was called"),
            ("notified", "; with the lock of full, as it was called"),
            ("put", ""),
            ("main", ""),
        ] {
            check(jdk, frames, method, "reproduces", reason);
            let of_method = frames.iter().find(|frame| frame["method"] == method);
            let told = of_method.unwrap()["reason"].as_str().unwrap();
            assert_eq!(told.contains(held), !reason.is_empty(), "{told}");
        }
    }
}

const LOCAL: &str = r#"
import java.util.*;

public class Local {
    static int kind(String name) {
        switch (name.toLowerCase()) {
            case "title": return 1;
            default: throw new IllegalStateException("no kind " + name.toLowerCase());
        }
    }
    public static void main(String[] arguments) {
        Locale.setDefault(Locale.forLanguageTag("tr-TR"));
        Locale.setDefault(Locale.Category.FORMAT, Locale.forLanguageTag("ja-JP-u-ca-japanese"));
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kolkata"));
        kind("TITLE");
    }
}"#;

/// The program's settings of the default locale and time zone are recorded, and set in a test that
/// depends on them.
#[test]
fn default_locale_and_time_zone_are_recorded() {
    for jdk in jdks() {
        let workplace = Workplace::new("replays-defaults");
        let (classes, ran) = workplace.run_text(jdk, "17", "", ("Local", LOCAL));
        assert_eq!(ran.status.code(), Some(1), "{}", both(&ran));
        let defaults = &workplace.crashes()[0].meta.defaults;
        assert_eq!(defaults.locale, "tr-TR");
        assert_eq!(defaults.format, "ja-JP-u-ca-japanese");
        assert_eq!(defaults.zone, "Asia/Kolkata");
        let mut junit = workplace.junit(jdk, &classes);
        let told = text(&junit.output().expect("hindsight runs").stdout);
        assert!(told.contains("2 of 2 frames reproduce"), "{told}");
        let kind = told.lines().find(|line| line.contains(" Local.kind:"));
        let set = "; with the recorded defaults: locale tr-TR, ";
        assert!(kind.is_some_and(|line| line.contains(set)), "{told}");
        assert_eq!(told.matches("recorded defaults").count(), 1, "{told}");
    }
}

const INTERNED: &str = r#"
import java.util.*;

public class Interned {
    public static final class Symbol {
        private static final Map<String, Symbol> ALL = new HashMap<>();
        private final String name;
        public Symbol(String name) { this.name = name; }
        public static synchronized Symbol of(String name) { return ALL.computeIfAbsent(name, Symbol::new); }
    }
    public static final class Plain {
        final String name;
        public Plain(String name) { this.name = name; }
        public static Plain of(String name) { return new Plain(name); }
    }
    static int cost(Symbol symbol, Plain plain, int n) {
        if (symbol == Symbol.of("a")) return n;
        throw new IllegalArgumentException(symbol.name + plain.name);
    }
    public static void main(String[] arguments) { cost(Symbol.of("b"), new Plain("p"), 2); }
}"#;

/// A constructor could be called, but a factory returns the same object again, and programs compare
/// that by identity: the test passes with the fix.
#[test]
fn what_a_factory_shares_is_had_from_it() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("replays-interned");
        let (classes, ran) = workplace.run_text(jdk, "17", "", ("Interned", INTERNED));
        assert_eq!(ran.status.code(), Some(1), "{}", both(&ran));
        let (output, _) = reported(&mut workplace.junit(jdk, &classes));
        let test =
            fs::read_to_string(workplace.join("tests/src/test/java/InternedCrash0001Test.java"));
        let test = test.unwrap_or_else(|_| panic!("{}", both(&output)));
        assert!(test.contains("Symbol.of(\"b\")"), "{test}");
        assert!(test.contains("new Interned.Plain(\"p\")"), "{test}");
    }
}
