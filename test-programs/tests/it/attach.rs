//! Attaching to a running JVM, on every JDK: what is recorded then, and who refuses.

use hindsight_test_programs::{
    Jdk, Workplace, agent, both, hindsight, jdks, jdks_in_turn, render, text,
};
use hindsight_tracelog::crash::{Fidelity, Value as Stored};
use hindsight_tracelog::reader::Crash;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Follows the letters on its input, and fails in three ways.
const SERVER: &str = "
import java.util.*;
import java.util.concurrent.*;
public class Server {
    static int at(int[] weights, int index) { return weights[index]; }
    static int work(List<Integer> numbers, String why) {
        numbers = new ArrayList<>(numbers);
        return at(new int[numbers.size()], numbers.get(0));
    }
    static final RuntimeException SHARED = new RuntimeException(\"shared\");
    static void shared(int n) { if (n == 0) throw SHARED; shared(n - 1); }
    public static void main(String[] args) throws Exception {
        say(\"ready\");
        for (int letter; (letter = System.in.read()) >= 0; ) {
            int given = letter;
            Thread thread = new Thread(() -> serve(given), \"worker\");
            thread.start();
            thread.join();
            say(\"done\");
        }
        work(List.of(9), \"main\");
    }
    static void serve(int letter) {
        switch (letter) {
            case 'w' -> work(List.of(7, 1), \"worker\");
            // Caught by the JDK's own code, which was loaded long ago.
            case 's' -> {
                for (int i = 0; i < 3; i++) {
                    int n = i;
                    new FutureTask<>(() -> { shared(n); return null; }).run();
                }
                shared(0);
            }
            case 'l' -> new Late(\"x\").fail(3);
        }
    }
    static void say(String what) { System.out.println(what); System.out.flush(); }
}
class Late {
    private final String name;
    Late(String name) { this.name = name; }
    int fail(int by) { return by / (name.length() - 1); }
}
";

/// Has a thread do the work that existed before.
const POOL: &str = "
import java.util.concurrent.*;
public class Server {
    static final BlockingQueue<Integer> JOBS = new LinkedBlockingQueue<>(), DONE = new LinkedBlockingQueue<>();
    static int at(int[] weights, int index) { return weights[index]; }
    static int middle(int index) { return at(new int[1], index) + 1; }
    static void once(int index) {
        try { middle(index); } catch (RuntimeException e) { }
    }
    static void serve(String name) {
        try {
            while (true) { int job = JOBS.take(); once(job); DONE.put(job); }
        } catch (InterruptedException e) { }
    }
    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> serve(\"it\"), \"worker\");
        worker.setDaemon(true);
        worker.start();
        say(\"ready\");
        for (int letter; (letter = System.in.read()) >= 0; ) {
            JOBS.put(letter);
            DONE.take();
            say(\"done\");
        }
    }
    static void say(String what) { System.out.println(what); System.out.flush(); }
}
";

/// A JVM to which the tests attach.
pub(crate) struct Server {
    jvm: Child,
    input: Option<ChildStdin>,
}

impl Server {
    fn start(jdk: &Jdk, workplace: &Workplace, options: &[&str]) -> Server {
        Server::of(SERVER, jdk, workplace, options)
    }

    pub(crate) fn of(source: &str, jdk: &Jdk, workplace: &Workplace, options: &[&str]) -> Server {
        Server::beside("", source, jdk, workplace, options)
    }

    /// Starts one with a jar on its class path.
    fn beside(
        jar: &str,
        source: &str,
        jdk: &Jdk,
        workplace: &Workplace,
        options: &[&str],
    ) -> Server {
        let javac = ["-g", "--release", "17", "-cp", jar];
        let classes = workplace.compile_text(jdk, &javac, "Server", source);
        let classes = format!("{}:{jar}", classes.display());
        let mut jvm = jdk
            .verifying_java()
            .current_dir(workplace.join("."))
            .args(options)
            .arg("-cp")
            .arg(&classes)
            .arg("Server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = jvm.stdin.take();
        let mut server = Server { jvm, input };
        server.read("ready\n");
        server
    }

    fn read(&mut self, expected: &str) {
        let mut said = vec![0; expected.len()];
        self.jvm
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut said)
            .unwrap();
        assert_eq!(text(&said), expected);
    }

    pub(crate) fn ask(&mut self, letter: u8) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[letter]).unwrap();
        input.flush().unwrap();
        self.read("done\n");
    }

    pub(crate) fn attach(&self, arguments: &[&str]) -> Output {
        Command::new(hindsight())
            .arg("attach")
            .arg(self.jvm.id().to_string())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Ends the input, at which its main thread fails.
    pub(crate) fn end(mut self) -> Output {
        drop(self.input.take());
        self.jvm.wait_with_output().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
fn a_running_jvm_is_recorded_and_let_go() {
    for jdk in jdks() {
        let workplace = Workplace::new("attach");
        let mut server = Server::start(jdk, &workplace, &[]);
        server.ask(b'w');
        let out = format!("out={},version=v7", workplace.join("out").display());
        let attached = server.attach(&[&out, "--format", "json"]);
        assert!(attached.status.success(), "{}", both(&attached));
        let said: Value = serde_json::from_slice(&attached.stdout).unwrap();
        assert_eq!(said["schema"], "hindsight.attach/1");
        assert_eq!(said["status"], "started");
        assert_eq!(said["out"], workplace.join("out").to_str().unwrap());
        assert!(said["classes"].as_u64() >= Some(1), "{said}");
        assert_eq!(said["refused"], 0, "{said}");

        // Another agent stays out, and reports that to its user.
        let again = server.attach(&["out=elsewhere"]);
        assert_eq!(again.status.code(), Some(1));
        assert!(
            stderr(&again).contains("is in this JVM already"),
            "{}",
            both(&again)
        );

        for letter in *b"wsl" {
            server.ask(letter);
        }
        let off = server.attach(&["mode=off"]);
        assert!(off.status.success(), "{}", both(&off));
        assert!(text(&off.stdout).contains("records no more"));
        for late in ["out=elsewhere", "record", "mode=off"] {
            let said = server.attach(&[late]);
            let over = stderr(&said).contains("has been switched off in this JVM");
            assert_eq!(over, late != "mode=off", "{late}: {}", both(&said));
            assert_eq!(said.status.code(), Some(i32::from(over)), "{late}");
        }
        server.ask(b'l');
        let output = server.end();
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));

        let rendered: Vec<String> = workplace.crashes().iter().map(render).collect();
        assert_eq!(
            rendered.join(""),
            "\
java.lang.ArrayIndexOutOfBoundsException in thread worker, uncaught
  Server.at:5 weights=[I(8 bytes) index=7
  Server.work:8 numbers=ImmutableCollections$List12 why=\"worker\"
  Server.serve:25 letter=119
  Server.lambda$main$:16 given=119
java.lang.RuntimeException in thread worker, uncaught
  Server.shared n=0
  Server.serve letter=115
  Server.lambda$main$ given=115
java.lang.ArithmeticException in thread worker, uncaught
  Late.fail:42 this=Late{name=\"x\"} by=3
  Server.serve:34 letter=108
  Server.lambda$main$:16 given=108
",
            "JDK {}",
            jdk.version
        );
        let run = workplace.run_json();
        assert!(
            run["started_ms"].as_i64() < run["ended_ms"].as_i64(),
            "{run}"
        );
        assert_eq!(run["version"], "v7");
    }
}

/// Has classes of the JDK's compiler loaded, as many as a program's server has.
const LOADED: &str = "
import java.net.URI;
import java.nio.file.*;
import java.util.*;
public class Server {
    public static void main(String[] args) throws Exception {
        Path root = FileSystems.getFileSystem(URI.create(\"jrt:/\")).getPath(\"/modules/jdk.compiler\");
        List<Class<?>> loaded = new ArrayList<>();
        try (var files = Files.walk(root.resolve(\"com/sun/tools/javac\"))) {
            for (Path file : (Iterable<Path>) files.filter(file -> file.toString().endsWith(\".class\"))::iterator) {
                String name = root.relativize(file).toString().replace('/', '.');
                loaded.add(Class.forName(name.substring(0, name.length() - 6), false, Server.class.getClassLoader()));
            }
        }
        System.out.println(\"ready\");
        System.out.flush();
        while (System.in.read() >= 0) { }
    }
}
";

/// Switching off does not wait until all classes have probes that are not wanted any more.
#[test]
fn a_jvm_is_let_go_while_it_is_being_attached_to() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("attach-off");
        let server = Server::of(LOADED, jdk, &workplace, &[]);
        let out = workplace.join("out");
        let out = format!("out={},include=com.sun.tools.javac.**", out.display());
        let (attached, off) = thread::scope(|scope| {
            let attaching = scope.spawn(|| server.attach(&[&out]));
            // The agent is there at some time before the other command ends, however slow both are.
            let off = loop {
                let is_last = attaching.is_finished();
                let off = server.attach(&["mode=off"]);
                if off.status.success() || is_last {
                    break off;
                }
            };
            (attaching.join().unwrap(), off)
        });
        let label = format!("JDK {} {} {}", jdk.version, both(&attached), both(&off));
        assert!(text(&off.stdout).contains("records no more"), "{label}");
        assert_eq!(attached.status.code(), Some(1), "{label}");
        assert!(
            stderr(&attached).contains("has been switched off"),
            "{label}"
        );
        assert!(server.end().status.success());
        let run = workplace.run_json();
        assert!(run["ended_ms"].is_number(), "{label} {run}");
        assert!(run["counters"]["crashes_stored"].is_null(), "{label} {run}");
    }
}

/// A thread of a server continues in methods that it has been in before; what it calls from there
/// is captured.
#[test]
fn what_a_thread_calls_that_was_there_before_is_captured() {
    for jdk in jdks() {
        let workplace = Workplace::new("attach-pool");
        let mut server = Server::of(POOL, jdk, &workplace, &[]);
        server.ask(b'w');
        let out = format!(
            "out={},report=escape:Server.at",
            workplace.join("out").display()
        );
        let attached = server.attach(&[&out]);
        assert!(attached.status.success(), "{}", both(&attached));
        // The first job may have been waited for by a method without probes.
        server.ask(b'x');
        let output = server.end();
        assert_eq!(output.status.code(), Some(0), "{}", both(&output));
        let rendered: Vec<String> = workplace.crashes().iter().map(render).collect();
        let rendered = rendered.join("");
        for frame in [
            "  Server.at:5 weights=[I(4 bytes) index=120\n",
            "  Server.middle:6 index=120\n",
            "  Server.once:8 index=120\n",
        ] {
            assert!(rendered.contains(frame), "JDK {}: {rendered}", jdk.version);
        }
    }
}

/// The annotations of classes that were loaded before the agent, and get no probes before their
/// first failure, are known all the same; and the program's own requests work.
#[test]
fn what_waits_for_its_second_chance_keeps_secrets_and_may_ask() {
    const SOURCE: &str = "
import dev.hindsight.Hindsight;
import java.lang.annotation.*;
@Retention(RetentionPolicy.RUNTIME) @interface Pii {}
class User { @Pii String name = new StringBuilder(\"hunter\").append(2).toString(); int age = 7; }
public class Server {
    static int 𠮷 = 3;
    static int fail(User user) { throw new IllegalStateException(\"no\" + user.age); }
    static void quiet(User user) {
        Thread thread = new Thread(() -> fail(user));
        thread.setUncaughtExceptionHandler((t, e) -> { });
        thread.start();
        try { thread.join(); } catch (InterruptedException e) { }
    }
    public static void main(String[] args) throws Exception {
        User user = new User();
        Hindsight.record(\"before\");
        System.out.println(\"ready\");
        for (int letter; (letter = System.in.read()) >= 0; ) {
            if (letter == 'r') Hindsight.record(\"asked\");
            if (letter == 'f') quiet(user);
            System.out.println(\"done\");
        }
    }
}
";
    for jdk in jdks() {
        let label = format!("JDK {}", jdk.version);
        let attached = |more: &str| {
            let workplace = Workplace::new("attach-waits");
            let jar = super::record::api(&workplace);
            let server = Server::beside(jar.to_str().unwrap(), SOURCE, jdk, &workplace, &[]);
            let out = workplace.join("out");
            let option = format!("mode=second-chance,out={}{more}", out.display());
            let attached = server.attach(&[&option]);
            assert!(attached.status.success(), "{label}: {}", both(&attached));
            (workplace, server)
        };
        let (workplace, mut server) = attached("");
        server.ask(b'r');
        assert_eq!(workplace.crashes().len(), 1, "{label}");
        server.end();

        let (workplace, mut server) = attached(",redact=annotation:Pii");
        // It learns from the first failure; until the methods have their probes, others are only
        // counted.
        let knows = |crash: &Crash| render(crash).contains("Server.fail:8 user=User");
        for _ in 0..300 {
            server.ask(b'f');
            if workplace.crashes().iter().any(knows) {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let output = server.end();
        assert_eq!(output.status.code(), Some(0), "{label}: {}", both(&output));
        let rendered: Vec<String> = workplace.crashes().iter().map(render).collect();
        let rendered = rendered.join("");
        assert!(rendered.contains("age=7"), "{label}: {rendered}");
        assert!(!rendered.contains("hunter2"), "{label}: {rendered}");
        let is_there = |crash: &Crash| {
            let mut statics = crash.failure.statics.iter();
            statics.any(|field| field.name == "𠮷" && field.value == Stored::Int(3))
        };
        assert!(workplace.crashes().iter().any(is_there), "{label}");
    }
}

/// Fails all the time, in several threads.
const FAILING: &str = "\
class Server {
    static int work(int[] all, String text) { return 1 + check(all, text); }
    static int check(int[] all, String text) { return text.length() + all[0]; }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            Thread failing = new Thread(() -> {
                while (true) {
                    Thread one = new Thread(() -> work(new int[] {1}, null));
                    one.setUncaughtExceptionHandler((thread, e) -> {});
                    one.start();
                    try {
                        one.join();
                        Thread.sleep(2);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
            failing.setDaemon(true);
            failing.start();
        }
        System.out.println(\"ready\");
        for (int letter = System.in.read(); letter >= 0; letter = System.in.read()) {
            Thread.sleep(300);
            System.out.println(\"done\");
        }
    }
}
";

/// Attaches to a server that fails all the time, and lets it go on until a crash that is `wanted`
/// is stored. It has half a minute at most, because on a busy machine probes take a while.
fn record_failing(
    source: &str,
    jdk: &Jdk,
    workplace: &Workplace,
    more: &str,
    wanted: impl Fn(&Crash) -> bool,
) {
    let options = ["-XX:-OmitStackTraceInFastThrow"];
    let mut server = Server::of(source, jdk, workplace, &options);
    let out = format!("out={}{more}", workplace.join("out").display());
    let attached = server.attach(&[&out]);
    assert!(attached.status.success(), "{}", both(&attached));
    for _ in 0..100 {
        server.ask(b'x');
        if workplace.crashes().iter().any(&wanted) {
            break;
        }
    }
    let output = server.end();
    assert_eq!(output.status.code(), Some(0), "{}", both(&output));
}

/// While probes are being inserted, a failure passes without its arguments; the next one has them
/// and is stored.
#[test]
fn a_server_that_fails_all_the_time_is_recorded_with_arguments() {
    for jdk in jdks() {
        let workplace = Workplace::new("attach-failing");
        let has_arguments = |crash: &Crash| {
            let rendered = render(crash);
            rendered.contains("  Server.check:3 all=[I(4 bytes) text=null")
                && rendered.contains("  Server.work:2 all=[I(4 bytes) text=null")
        };
        record_failing(FAILING, jdk, &workplace, "", has_arguments);
        let crashes = workplace.crashes();
        let rendered: Vec<String> = crashes.iter().map(render).collect();
        assert!(
            crashes.last().is_some_and(has_arguments),
            "JDK {}: {rendered:?}",
            jdk.version
        );
        assert!(rendered.len() <= 3, "JDK {}: {rendered:?}", jdk.version);
    }
}

/// Writes are logged once all classes have their probes, including collections: what is called
/// exact is so, and such a crash is stored in the end.
#[test]
fn deep_copies_of_a_running_jvm_are_exact_or_say_so() {
    let source = FAILING
        .replace("class Server {", CHANGING)
        .replace("work(new int[] {1}, null)", "handle(new Box())");
    for jdk in jdks() {
        let workplace = Workplace::new("attach-deep");
        let is_exact = |crash: &Crash| {
            let frame = &crash.failure.frames[1];
            frame.method == "handle" && frame.fidelity == Fidelity::Deep && frame.reason.is_empty()
        };
        record_failing(&source, jdk, &workplace, ",copy=deep", is_exact);
        let crashes = workplace.crashes();
        let mut exact = 0;
        for crash in crashes.iter().filter(|crash| is_exact(crash)) {
            let frame = &crash.failure.frames[1];
            exact += 1;
            for field in ["size", "value"] {
                let mut at_entry = frame.patch.iter().filter(|patch| patch.field == field);
                let is_one = at_entry.any(|patch| patch.value == Stored::Int(1));
                assert!(is_one, "JDK {}: {field} of {:?}", jdk.version, frame.patch);
            }
        }
        assert!(exact > 0, "JDK {}: {crashes:?}", jdk.version);
    }
}

const CHANGING: &str = "\
class Server {
    static class Box {
        final java.util.List<Integer> all = new java.util.ArrayList<>(java.util.List.of(1));
        int value = 1;
    }
    static int handle(Box box) {
        box.value = 9;
        box.all.add(9);
        return last(box);
    }
    static int last(Box box) {
        box.value = 10;
        box.all.clear();
        return 1 / (box.value - 10);
    }
";

#[test]
fn a_trace_of_a_running_jvm_ends_when_it_is_let_go() {
    for jdk in jdks() {
        let workplace = Workplace::new("attach-trace");
        let mut server = Server::start(jdk, &workplace, &[]);
        let out = format!("mode=trace,out={}", workplace.join("out").display());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let attached = server.attach(&[&out]);
        assert!(attached.status.success(), "{}", both(&attached));
        server.ask(b'w');
        let off = server.attach(&["mode=off"]);
        assert!(off.status.success(), "{}", both(&off));
        let instrumented = || workplace.run_json()["counters"]["classes_instrumented"].clone();
        let before = instrumented();
        let late = server.attach(&["record"]);
        assert!(
            stderr(&late).contains("has been switched off in this JVM"),
            "{}",
            both(&late)
        );
        server.ask(b'l');
        let output = server.end();
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        // Probes of classes that come later would cost something, and record nothing.
        assert_eq!(instrumented(), before, "JDK {}", jdk.version);

        let ask = |command: &str, options: &[&str]| {
            let said = Command::new(hindsight())
                .arg(command)
                .arg(workplace.join("out"))
                .args(options)
                .output()
                .unwrap();
            assert!(said.status.success(), "{}", both(&said));
            text(&said.stdout).to_owned()
        };
        let told = ask("events", &[]);
        assert!(told.contains("Server.work("), "JDK {}: {told}", jdk.version);
        assert!(!told.contains("Late"), "JDK {}: {told}", jdk.version);
        // No thread has defined the classes that existed.
        let server = "-            class Server was there before\n";
        assert!(told.contains(server), "JDK {}: {told}", jdk.version);
        let told = ask("events", &["--format", "json"]);
        let mut events = told.lines().map(|line| serde_json::from_str(line).unwrap());
        let is_server = |event: &Value| event["event"] == "class" && event["class"] == "Server";
        let class: Value = events.find(is_server).unwrap();
        assert_eq!(
            (&class["before"], &class["thread"]),
            (&true.into(), &Value::Null)
        );
        // The recording is this long, not the program.
        let stats: Value = serde_json::from_str(&ask("stats", &["--format", "json"])).unwrap();
        let started = stats["started_ms"].as_u64().unwrap();
        assert!(u128::from(started) >= now.as_millis(), "{stats}");
    }
}

/// A trace for which there is no memory reports that, and takes none from a program that has little
/// left.
#[test]
fn a_trace_is_refused_where_the_heap_is_full() {
    const SOURCE: &str = "
import java.util.*;
public class Server {
    static byte[] spare = new byte[300 << 10];
    public static void main(String[] args) throws Exception {
        System.out.println(\"ready\");
        while (System.in.read() >= 0) {
            List<byte[]> all = new ArrayList<>(10_000);
            try {
                while (true) { all.add(new byte[16 << 10]); }
            } catch (OutOfMemoryError e) {
                spare = null;
            }
            System.out.println(\"done\");
            System.in.read();
            all.clear();
        }
    }
}
";
    for jdk in jdks() {
        let workplace = Workplace::new("attach-full");
        let options = ["-XX:+UseSerialGC", "-Xmx24m"];
        let mut server = Server::of(SOURCE, jdk, &workplace, &options);
        server.ask(b'f');
        let out = format!("mode=trace,out={}", workplace.join("out").display());
        let refused = server.attach(&[&out]);
        // A recording that has ended cannot begin again, and there is nothing to be switched off.
        for late in ["record", "mode=off", "mode=crash"] {
            let said = server.attach(&[late]);
            assert_eq!(said.status.code(), Some(1), "{late}: {}", both(&said));
            assert!(
                stderr(&said).contains("could not start"),
                "{late}: {}",
                both(&said)
            );
        }
        let output = server.end();
        let label = format!("JDK {}: {}{}", jdk.version, both(&refused), both(&output));
        assert!(!refused.status.success(), "{label}");
        assert!(
            stderr(&refused).contains("the JVM is out of memory: class java/lang/HindsightTracer"),
            "{label}"
        );
        assert!(output.status.success(), "{label}");
        assert!(!workplace.join("out/trace").exists(), "{label}");
    }
}

/// The JDK's own command has the same effect. It needs quotes around options with `=`.
#[test]
fn jcmd_begins_a_trace_and_ends_it() {
    for jdk in jdks() {
        let workplace = Workplace::new("jcmd-trace");
        let mut server = Server::start(jdk, &workplace, &[]);
        let id = server.jvm.id().to_string();
        let load = |options: &str, code: &str| {
            let said = Command::new(jdk.tool("jcmd"))
                .args([&id, "JVMTI.agent_load"])
                .arg(agent())
                .arg(options)
                .output()
                .unwrap();
            let code = format!("return code: {code}");
            assert!(text(&said.stdout).contains(&code), "{}", both(&said));
        };
        let out = workplace.join("out");
        load(&format!("\"mode=trace,out={}\"", out.display()), "0");
        // It answers before the probes are there.
        let end = Instant::now() + Duration::from_secs(30);
        while !out.join("run.json").is_file() {
            assert!(Instant::now() < end, "JDK {}", jdk.version);
            thread::sleep(Duration::from_millis(20));
        }
        server.ask(b'w');
        load("\"mode=of\"", "-1");
        load("mode=off", "-1");
        load("\"mode=off\"", "0");
        server.ask(b'l');
        let output = server.end();
        let said = stderr(&output);
        assert!(said.contains("bad value \"of\""), "{}", both(&output));
        let how = "quotes within quotes: '\"mode=trace\"'";
        assert!(said.contains(how), "{}", both(&output));

        let events = Command::new(hindsight()).arg("events").arg(&out).output();
        let events = events.unwrap();
        let told = text(&events.stdout);
        assert!(events.status.success(), "{}", both(&events));
        assert!(told.contains("Server.work("), "JDK {}: {told}", jdk.version);
        assert!(!told.contains("Late"), "JDK {}: {told}", jdk.version);
    }
}

#[test]
fn who_forbids_attaching_is_told() {
    for jdk in jdks() {
        for (options, part) in [
            (
                "-XX:-EnableDynamicAgentLoading",
                "-XX:-EnableDynamicAgentLoading, which forbids it",
            ),
            (
                "-XX:+DisableAttachMechanism",
                "-XX:+DisableAttachMechanism, which forbids it",
            ),
        ] {
            let workplace = Workplace::new("forbidden");
            let server = Server::start(jdk, &workplace, &[options]);
            let attached = server.attach(&[]);
            assert_eq!(attached.status.code(), Some(1), "{}", both(&attached));
            assert!(
                stderr(&attached).contains(part),
                "JDK {} {options}: {}",
                jdk.version,
                both(&attached)
            );
            // It continues as if nothing had happened.
            let output = server.end();
            assert_eq!(output.status.code(), Some(1));
            assert!(stderr(&output).contains("Server.work"), "{}", both(&output));
            assert!(!stderr(&output).contains("hindsight"), "{}", both(&output));
        }
        // It takes no signals, and listens all the same.
        let workplace = Workplace::new("without-signals");
        let server = Server::start(jdk, &workplace, &["-Xrs"]);
        let attached = server.attach(&[]);
        assert!(attached.status.success(), "{}", both(&attached));
        server.end();
    }
}

#[test]
fn bad_requests_change_nothing() {
    let jdk = jdks().last().unwrap();
    let workplace = Workplace::new("bad-attach");
    let mut server = Server::start(jdk, &workplace, &[]);
    let long = format!("version={}", "x".repeat(1100));
    for (arguments, part) in [
        (
            &["colour=red"][..],
            "unknown option \"colour\"; the keys are",
        ),
        (&["copy=all"], "bad value \"all\" for option copy"),
        (&["mode=off"], "nothing to switch off"),
        (&[&long], "write the options into a file and give @FILE"),
        (&["out=/proc/nope"], "cannot make /proc/nope"),
        (&["mode=trace,out=/proc/nope"], "cannot make /proc/nope"),
        (&["--agent", "/no/such.so"], "no agent at /no/such.so"),
        (&["--agent", "/proc/self/exe"], "the JVM refuses"),
    ] {
        let attached = server.attach(arguments);
        assert_eq!(attached.status.code(), Some(1), "{}", both(&attached));
        let said = stderr(&attached);
        assert!(said.contains(part), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    server.ask(b'l');
    assert!(workplace.crash_files().is_empty());
    // A valid request still works afterwards.
    let out = format!("out={}", workplace.join("out").display());
    let attached = server.attach(&[&out]);
    assert!(attached.status.success(), "{}", both(&attached));
    server.ask(b'l');
    assert_eq!(workplace.crash_files().len(), 1);
    let output = server.end();
    assert!(!stderr(&output).contains("hindsight:"), "{}", both(&output));
}

/// A command with another copy of the agent beside it asks the loaded one.
#[test]
fn the_copy_that_is_loaded_is_asked() {
    let jdk = &jdks_in_turn()[0];
    let workplace = Workplace::new("attach-copy");
    let copy = workplace.join("their own/libhindsight.so");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::copy(agent(), &copy).unwrap();
    let out = workplace.join("out");
    let started = format!("-agentpath:{}=out={}", copy.display(), out.display());
    let server = Server::start(jdk, &workplace, &[&started]);
    let recorded = server.attach(&["record"]);
    assert!(recorded.status.success(), "{}", both(&recorded));
    let again = server.attach(&["out=elsewhere"]);
    assert!(
        stderr(&again).contains("is in this JVM already"),
        "{}",
        both(&again)
    );
    // The answer to a command that names another copy names the loaded one.
    let agent = agent();
    let other = server.attach(&["--agent", agent.to_str().unwrap(), "mode=off"]);
    let there = fs::canonicalize(&copy).unwrap();
    assert_eq!(other.status.code(), Some(1));
    let said = format!("{}, which it has loaded, may be", there.display());
    assert!(stderr(&other).contains(&said), "{}", both(&other));
    // That one is loaded now, too.
    let off = server.attach(&["mode=off"]);
    assert!(off.status.success(), "{}", both(&off));
    server.end();
}
