//! What probes must not do to a program: call its code, wait for it, or fail where it would not.

use hindsight_test_programs::traces::lines;
use hindsight_test_programs::{Workplace, both, jdks, text};
use hindsight_tracelog::crash::{Fidelity, Value};

/// An object is handed to another thread while its class is being initialised, and its exception
/// with it.
const BEING_INITIALISED: &str = r#"
public class Initialised extends Thread {
    static class Settings {
        static final Settings SETTINGS = new Settings();
        int value;
        static { new Initialised(SETTINGS, null).go(); }
    }
    static class Wrapped extends RuntimeException {
        static final Wrapped WRAPPED = new Wrapped();
        static { new Initialised(null, WRAPPED).go(); }
    }
    final Settings settings;
    final RuntimeException failure;
    Initialised(Settings settings, RuntimeException failure) {
        this.settings = settings;
        this.failure = failure;
        setDaemon(true);
    }
    @Override public void run() {
        if (failure != null) throw failure;
        settings.value = 42;
    }
    void go() {
        start();
        try { join(20_000); } catch (InterruptedException e) { }
        if (isAlive()) {
            System.out.println(settings != null ? "the write hangs" : "the exception hangs");
            Runtime.getRuntime().halt(3);
        }
    }
    public static void main(String[] arguments) {
        System.out.println(Settings.SETTINGS.value);
        System.out.println(Wrapped.WRAPPED.getMessage());
    }
}"#;

#[test]
fn no_class_is_initialised_by_a_probe() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-initialised");
        let program = ("Initialised", BEING_INITIALISED);
        let (_, ran) = workplace.run_text(jdk, "11", "copy=deep", program);
        assert_eq!(text(&ran.stdout), "42\nnull\n", "{}", both(&ran));
        assert_eq!(workplace.crashes().len(), 1, "{}", both(&ran));
    }
}

/// Threads overflow stacks of many sizes, within monitors and with cleanup to do afterwards.
const OVERFLOWS: &str = r#"
public class Overflows {
    final Object lock = new Object();
    int entered;
    int depth;

    void monitors() { synchronized (lock) { entered++; monitors(); } }
    // With a frame of another size, the stack ends elsewhere.
    void more(long a, long b) { synchronized (lock) { long c = a + b; entered++; more(b, c); } }
    void counts() { depth++; try { counts(); } finally { depth--; } }

    static boolean run(Runnable body, int i) throws Exception {
        Thread thread = new Thread(null, () -> {
            try { body.run(); } catch (StackOverflowError e) { }
        }, "overflows", 256 * 1024 + i * 4099L);
        thread.setDaemon(true);
        thread.start();
        thread.join(20_000);
        return !thread.isAlive();
    }
    public static void main(String[] arguments) throws Exception {
        int wrong = 0;
        for (int i = 0; i < 40; i++) {
            Overflows of = new Overflows();
            if (!run(of::monitors, i) || !run(() -> of.more(1, 2), i)) {
                System.out.println("a thread spins in a monitor");
                Runtime.getRuntime().halt(3);
            }
            run(of::counts, i);
            wrong += of.depth == 0 ? 0 : 1;
        }
        System.out.println("wrong: " + wrong);
        throw new IllegalStateException("done");
    }
}"#;

#[test]
fn where_the_stack_ends_handlers_do_what_they_do() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-overflows");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Overflows", OVERFLOWS);
        // With interpreted code, each of the sizes overflows at another place of the code.
        let mut java = workplace.java_with_agent(jdk, "copy=deep");
        let ran = java.arg("-Xint").arg("-cp").arg(&classes).arg("Overflows");
        let ran = ran.output().unwrap();
        assert_eq!(text(&ran.stdout), "wrong: 0\n", "{}", both(&ran));
        assert_eq!(workplace.crashes().len(), 1, "{}", both(&ran));
        // A probe for a block is the first thing in each handler.
        let mut java = workplace.java_with_agent(jdk, "mode=trace,trace-what=coverage");
        let ran = java.arg("-Xint").arg("-cp").arg(&classes).arg("Overflows");
        let ran = ran.output().unwrap();
        assert_eq!(text(&ran.stdout), "wrong: 0\n", "{}", both(&ran));
    }
}

/// While the first thread's class waits for its loader's answer, a second thread loads another one.
const ASKED: &str = r#"
import java.io.InputStream;
import java.util.concurrent.*;

public class Asked extends ClassLoader {
    static { registerAsParallelCapable(); }
    static final CountDownLatch asked = new CountDownLatch(1), loaded = new CountDownLatch(1);
    Asked() { super(Asked.class.getClassLoader()); }

    public static class First { int v; public First() { v = 1; System.out.println("first " + v); } }
    public static class Second { int v; public Second() { v = 2; System.out.println("second " + v); } }

    @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.startsWith("java.lang.Hindsight")) {
            asked.countDown();
            try { loaded.await(20, TimeUnit.SECONDS); } catch (InterruptedException e) { }
            throw new ClassNotFoundException(name);
        }
        if (!name.startsWith("Asked$")) return super.loadClass(name, resolve);
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) return known;
            try (InputStream in = Asked.class.getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) { throw new ClassNotFoundException(name); }
        }
    }
    static void make(Asked loader, String name) {
        try { loader.loadClass(name, true).getDeclaredConstructor().newInstance(); } catch (Exception e) { throw new Error(e); }
    }
    public static void main(String[] arguments) throws Exception {
        Asked loader = new Asked();
        Thread first = new Thread(() -> make(loader, "Asked$First"));
        first.start();
        asked.await();
        make(loader, "Asked$Second");
        loaded.countDown();
        first.join();
    }
}"#;

#[test]
fn a_loader_that_is_being_asked_gets_no_probes() {
    let alone = "classes_left_alone:its loader was being asked for the probes";
    let refuses = "classes_left_alone:its loader does not find the probes";
    for jdk in jdks() {
        for options in ["copy=fields", "mode=trace"] {
            let workplace = Workplace::new("probes-asked");
            let (_, ran) = workplace.run_text(jdk, "11", options, ("Asked", ASKED));
            assert_eq!(text(&ran.stdout), "second 2\nfirst 1\n", "{}", both(&ran));
            let counters = &workplace.run_json()["counters"];
            assert_eq!(counters[alone], 1, "{options}: {counters}");
            assert_eq!(counters[refuses], 1, "{options}: {counters}");
        }
    }
}

/// An exception of a loader that could not look says nothing about what it will find the next time.
#[test]
fn a_loader_that_could_not_answer_is_asked_again() {
    let unanswered = "classes_left_alone:its loader could not be asked for the probes";
    let refusal = "throw new ClassNotFoundException(name);\n        }\n";
    let failure = "if (!again) throw new StackOverflowError();\n        }\n";
    let source = ASKED
        .replacen(refusal, failure, 1)
        .replace(
            "asked.countDown();",
            "boolean again = asked.getCount() == 0; asked.countDown();",
        )
        .replace("asked.await();", "first.join();")
        .replace(
            "loaded.await(20, TimeUnit.SECONDS);",
            "loaded.await(0, TimeUnit.SECONDS);",
        );
    for jdk in jdks() {
        let workplace = Workplace::new("probes-asked-again");
        let (_, ran) = workplace.run_text(jdk, "11", "copy=fields", ("Asked", &source));
        assert_eq!(text(&ran.stdout), "first 1\nsecond 2\n", "{}", both(&ran));
        let counters = &workplace.run_json()["counters"];
        let counters = counters.as_object().unwrap().iter();
        let alone = counters.filter(|(name, _)| name.contains("its loader"));
        let alone: Vec<_> = alone
            .map(|(name, count)| (name.as_str(), count.as_u64()))
            .collect();
        assert_eq!(alone, [(unanswered, Some(1))]);
    }
}

/// A field is written by handles that have the object bound, or compute it from something else.
const BOUND: &str = r#"
import java.lang.invoke.*;

public class Bound {
    static final Bound IT = new Bound();
    static int total;
    int value = 1;

    static final VarHandle FIELD, BOUND, STATIC;
    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            FIELD = lookup.findVarHandle(Bound.class, "value", int.class);
            STATIC = lookup.findStaticVarHandle(Bound.class, "total", int.class);
            VarHandle bound = null;
            try {
                // From JDK 22 on.
                bound = (VarHandle) MethodHandles.class
                        .getMethod("insertCoordinates", VarHandle.class, int.class, Object[].class)
                        .invoke(null, FIELD, 0, new Object[] {IT});
            } catch (NoSuchMethodException e) { }
            BOUND = bound;
        } catch (ReflectiveOperationException e) { throw new Error(e); }
    }
    static void direct(Bound it) { FIELD.setVolatile(it, 2); throw new IllegalStateException("" + it.value); }
    static void ofClass(Bound it) { STATIC.setVolatile(2); throw new IllegalStateException("" + it.value); }
    static void bound(Bound it) { BOUND.setVolatile(2); throw new IllegalStateException("" + it.value); }

    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "direct": direct(IT); break;
            case "class": ofClass(IT); break;
            default: bound(IT);
        }
    }
}"#;

#[test]
fn what_a_bound_handle_writes_over_is_missed_and_said_so() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-bound");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Bound", BOUND);
        for (way, method, is_exact) in [
            ("direct", "direct", true),
            ("class", "ofClass", true),
            ("bound", "bound", false),
        ] {
            if way == "bound" && jdk.version < 22 {
                continue;
            }
            let _ = std::fs::remove_dir_all(workplace.join("out"));
            let mut java = workplace.java_with_agent(jdk, "copy=deep");
            let ran = java.arg("-cp").arg(&classes).args(["Bound", way]).output();
            let ran = ran.unwrap();
            let crashes = workplace.crashes();
            assert_eq!(crashes.len(), 1, "{}", both(&ran));
            let mut frames = crashes[0].failure.frames.iter();
            let frame = frames.find(|frame| frame.method == method).unwrap();
            assert_eq!(
                frame.fidelity == Fidelity::Deep && frame.reason.is_empty(),
                is_exact,
                "{way} on JDK {}: {:?} {}",
                jdk.version,
                frame.fidelity,
                frame.reason
            );
        }
    }
}

/// An encoder and a decoder run until the JIT uses its own code for them.
const CODED: &str = r#"
import java.util.*;

public class Coded {
    static final Base64.Encoder ENCODER = Base64.getEncoder();
    static final Base64.Decoder DECODER = Base64.getDecoder();

    static void encode(byte[] from, byte[] to, boolean last) {
        ENCODER.encode(from, to);
        if (last) throw new IllegalStateException("encoded");
    }
    static void decode(byte[] from, byte[] to, boolean last) {
        DECODER.decode(from, to);
        if (last) throw new IllegalStateException("decoded");
    }
    static void caught(Runnable body) {
        Thread thread = new Thread(body);
        thread.start();
        try { thread.join(); } catch (InterruptedException e) { }
    }
    public static void main(String[] arguments) {
        byte[] plain = new byte[96], coded = new byte[128];
        for (int i = 0; i < 60_000; i++) encode(plain, coded, false);
        for (int i = 0; i < 60_000; i++) decode(coded, plain, false);
        byte[] text = coded.clone();
        Arrays.fill(coded, (byte) 7);
        caught(() -> encode(new byte[96], coded, true));
        Arrays.fill(plain, (byte) 7);
        caught(() -> decode(text, plain, true));
    }
}"#;

#[test]
fn what_the_jit_codes_itself_is_undone() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-coded");
        let (_, ran) = workplace.run_text(jdk, "11", "copy=deep", ("Coded", CODED));
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 2, "{}", both(&ran));
        for (crash, method) in crashes.iter().zip(["encode", "decode"]) {
            let mut frames = crash.failure.frames.iter();
            let frame = frames.find(|frame| frame.method == method).unwrap();
            let written = (frame.patch.iter()).filter(|patch| patch.value == Value::Int(7));
            assert!(
                frame.fidelity == Fidelity::Deep && written.count() >= 90,
                "{method} on JDK {}: {} {:?}",
                jdk.version,
                frame.reason,
                frame.patch
            );
        }
    }
}

/// A thread continues to write when its log has filled nearly as many chunks as an `int` can count.
const LASTING: &str = r#"
import java.lang.reflect.Field;
import java.lang.reflect.Method;

public class Lasting {
    /** Has this thread's log filled so many chunks. */
    static void age(int chunks) throws Exception {
        Class<?> type = Class.forName("java.lang.HindsightLog");
        Method current = type.getDeclaredMethod("current");
        current.setAccessible(true);
        Field field = type.getDeclaredField("chunks");
        field.setAccessible(true);
        field.setInt(current.invoke(null), chunks);
    }
    static void fill(byte[] all) {
        for (int i = 0; i < all.length; i++) all[i] = 7;
        throw new IllegalStateException("filled");
    }
    public static void main(String[] arguments) throws Exception {
        age(Integer.MAX_VALUE - 1);
        fill(new byte[6000]);
    }
}"#;

#[test]
fn a_log_lasts() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-lasting");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Lasting", LASTING);
        let mut java = workplace.java_with_agent(jdk, "copy=deep");
        java.arg("--add-opens=java.base/java.lang=ALL-UNNAMED");
        let ran = java.arg("-cp").arg(&classes).arg("Lasting").output();
        let ran = ran.unwrap();
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1, "{}", both(&ran));
        let mut frames = crashes[0].failure.frames.iter();
        let frame = frames.find(|frame| frame.method == "fill").unwrap();
        let written = (frame.patch.iter()).filter(|patch| patch.value == Value::Int(0));
        assert_eq!(
            (frame.fidelity, written.count()),
            (Fidelity::Deep, 6000),
            "JDK {}: {}",
            jdk.version,
            frame.reason
        );
    }
}

/// A sampled method calls itself while the heap is full.
const SAMPLED: &str = r#"
public class Sampled {
    static class Deep {
        static int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }
    }
    static Object[] kept;

    public static void main(String[] arguments) {
        Deep.down(3);
        int size = 1 << 16;
        while (size > 0) {
            try {
                Object[] more = new Object[size];
                more[0] = kept;
                kept = more;
            } catch (OutOfMemoryError e) { size /= 2; }
        }
        int depth = -1;
        try { depth = Deep.down(1000); } catch (OutOfMemoryError e) { }
        kept = null;
        System.out.println("depth: " + depth);
    }
}"#;

#[test]
fn a_sampled_recursion_needs_no_memory() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-sampled");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Sampled", SAMPLED);
        let mut java = workplace.java_with_agent(jdk, "mode=trace,sample=Sampled$Deep");
        java.args(["-Xmx32m", "-XX:+UseSerialGC", "-cp"]);
        let ran = java.arg(&classes).arg("Sampled").output();
        let ran = ran.unwrap();
        assert_eq!(text(&ran.stdout), "depth: 1000\n", "{}", both(&ran));
        let told = lines(&workplace);
        let calls = told.iter().filter(|line| line.contains(".down("));
        assert!(calls.count() >= 4, "{told:?}");
    }
}

/// An exception that another thread uses as a monitor is caught while one is on its way.
const HELD: &str = r#"
import java.util.concurrent.*;

public class Held {
    static void fail(Exception e) throws Exception { throw e; }
    static void clean(Exception e, ExecutionException shared) throws Exception {
        try {
            fail(e);
        } finally {
            try { fail(shared); } catch (ExecutionException caught) { }
        }
    }
    public static void main(String[] arguments) throws Exception {
        Exception inner = new Exception("inner");
        ExecutionException shared = new ExecutionException(inner);
        CountDownLatch held = new CountDownLatch(1), done = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            synchronized (shared) {
                held.countDown();
                try {
                    System.out.println(done.await(20, TimeUnit.SECONDS) ? "goes on" : "waits");
                } catch (InterruptedException e) { }
            }
        });
        holder.start();
        held.await();
        try { clean(inner, shared); } catch (Exception e) { }
        done.countDown();
        holder.join();
    }
}"#;

#[test]
fn no_monitor_is_taken_by_a_probe() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-held");
        let (_, ran) = workplace.run_text(jdk, "11", "", ("Held", HELD));
        assert_eq!(text(&ran.stdout), "goes on\n", "{}", both(&ran));
        workplace.assert_instrumented(&both(&ran));
    }
}

/// More threads write at once than have logs; long after them a thread with a log fails.
const CROWD: &str = r#"
import java.util.*;
import java.util.concurrent.*;

public class Crowd {
    static class Box { int value; }
    static void burst(int size) throws Exception {
        CountDownLatch written = new CountDownLatch(size), go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < size; i++) threads.add(Thread.ofVirtual().start(() -> {
            Box box = new Box();
            box.value = 3;
            written.countDown();
            try { go.await(); } catch (InterruptedException e) { }
            box.value = 4;
        }));
        written.await();
        go.countDown();
        for (Thread thread : threads) thread.join();
    }
    static void fail(Box box) {
        box.value = 8;
        throw new IllegalStateException("failed");
    }
    public static void main(String[] arguments) throws Exception {
        Box box = new Box();
        burst(9000);
        box.value = 1;
        // Others may learn of that.
        synchronized (box) { box.value = 2; }
        fail(box);
    }
}"#;

#[test]
fn a_crowd_of_writers_is_forgotten() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        let workplace = Workplace::new("probes-crowd");
        let (_, ran) = workplace.run_text(jdk, "21", "copy=deep", ("Crowd", CROWD));
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1, "{}", both(&ran));
        for (method, is_sure) in [("fail", true), ("main", false)] {
            let mut frames = crashes[0].failure.frames.iter();
            let frame = frames.find(|frame| frame.method == method).unwrap();
            assert_eq!(
                frame.reason.is_empty(),
                is_sure,
                "{method}: {}",
                frame.reason
            );
        }
    }
}

/// A class writes a field while a superclass has the same name, in another loader.
const TWINS: &str = r#"
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

public class Twins extends ClassLoader {
    Twins() { super(Twins.class.getClassLoader()); }

    public static class Twin { }
    public static class Middle extends Twin { }
    /** Called as the other one, once it is loaded. */
    public static class Twim extends Middle implements IntConsumer {
        int value;
        @Override public void accept(int next) {
            value = next;
            throw new IllegalStateException("failed");
        }
    }
    @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream in = Twins.class.getResourceAsStream("Twins$Twim.class")) {
            String code = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            byte[] bytes = code.replace("Twim", "Twin").getBytes(StandardCharsets.ISO_8859_1);
            return defineClass(name, bytes, 0, bytes.length);
        } catch (java.io.IOException e) { throw new ClassNotFoundException(name); }
    }
    static void pass(IntConsumer twin) { twin.accept(7); }
    public static void main(String[] arguments) throws Exception {
        Class<?> twin = new Twins().findClass("Twins$Twin");
        pass((IntConsumer) twin.getConstructor().newInstance());
    }
}"#;

#[test]
fn a_write_to_a_field_that_nobody_finds_is_not_passed_over() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-twins");
        let (_, ran) = workplace.run_text(jdk, "11", "copy=deep", ("Twins", TWINS));
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1, "{}", both(&ran));
        assert_eq!(workplace.run_json()["counters"]["fields_not_found"], 1);
        let mut frames = crashes[0].failure.frames.iter();
        let frame = frames.find(|frame| frame.method == "pass").unwrap();
        assert_ne!(frame.reason, "", "JDK {}: {:?}", jdk.version, frame.patch);
    }
}
