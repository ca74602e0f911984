//! Recording all threads of a program that hangs: by a signal, by `jcmd`, by `hindsight attach`;
//! with arguments, and with the deadlock named.

use hindsight_test_programs::{Jdk, Workplace, agent, both, hindsight, jdks, jdks_in_turn, text};
use hindsight_tracelog::crash::{Fidelity, Frame, Value};
use hindsight_tracelog::reader::Crash;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = "
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
public class Main {
    static final CountDownLatch both = new CountDownLatch(2);
    static final CountDownLatch locks = new CountDownLatch(2);
    static final ReentrantLock left = new ReentrantLock(), right = new ReentrantLock();
    static void transfer(List<String> from, List<String> to, int amount) throws Exception {
        synchronized (from) {
            both.countDown();
            both.await();
            add(to, amount, 2.5);
        }
    }
    static void add(List<String> to, int amount, double rate) {
        synchronized (to) { to.add(\"x\" + amount + rate); }
    }
    static void lock(Lock first, Lock second) throws Exception {
        first.lock();
        locks.countDown();
        locks.await();
        second.lock();
    }
    static void serve(BlockingQueue<String> queue, String name, long limit) throws Exception {
        // Its own parameter is written over; what it was at entry is kept.
        name = name.trim();
        while (true) queue.take();
    }
    static synchronized void guard(String what) { what.length(); }
    static synchronized void keep(CountDownLatch kept, Object forever) throws Exception {
        kept.countDown();
        new CountDownLatch(1).await();
    }
    static Object listen(String why, java.net.ServerSocket socket) throws Exception {
        return socket.accept();
    }
    interface Body { void run() throws Exception; }
    static void start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try { body.run(); } catch (Exception e) { throw new Error(e); }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }
    public static void main(String[] args) throws Exception {
        List<String> a = new ArrayList<>(List.of(\"a\")), b = new ArrayList<>(List.of(\"b\"));
        start(\"first\", () -> transfer(a, b, 7));
        start(\"second\", () -> transfer(b, a, 8));
        start(\"third\", () -> lock(left, right));
        start(\"fourth\", () -> lock(right, left));
        start(\"server\", () -> serve(new LinkedBlockingQueue<>(), \" orders \", 1L << 40));
        var socket = new java.net.ServerSocket(0);
        start(\"listener\", () -> listen(\"round\", socket));
        CountDownLatch kept = new CountDownLatch(1);
        start(\"keeper\", () -> keep(kept, 1));
        kept.await();
        start(\"guarded\", () -> guard(\"it\"));
        both.await();
        locks.await();
        while (!(blocked(\"first\") && blocked(\"second\") && blocked(\"third\") && blocked(\"fourth\") && blocked(\"guarded\") && blocked(\"server\"))) Thread.sleep(5);
        System.out.println(\"hangs\");
        System.in.read();
    }
    static boolean blocked(String name) {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().equals(name)
            && thread.getState() != Thread.State.RUNNABLE && thread.getState() != Thread.State.NEW);
    }
}
";

fn start(workplace: &Workplace, jdk: &Jdk, options: &str) -> Child {
    let classes = workplace.compile_text(jdk, &["--release", "17"], "Main", PROGRAM);
    started(workplace, jdk, options, &classes)
}

/// Starts a program, and waits until it has said that it hangs.
fn started(workplace: &Workplace, jdk: &Jdk, options: &str, classes: &Path) -> Child {
    hanging(workplace.java_with_agent(jdk, options), classes)
}

fn hanging(mut java: Command, classes: &Path) -> Child {
    let mut jvm = java
        .arg("-cp")
        .arg(classes)
        .arg("Main")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(1, jvm.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "hangs\n");
    jvm
}

/// Waits for this number of files.
fn files(workplace: &Workplace, count: usize) {
    let end = Instant::now() + Duration::from_secs(120);
    while workplace.crash_files().len() < count && Instant::now() < end {
        sleep(Duration::from_millis(20));
    }
    assert_eq!(workplace.crash_files().len(), count);
}

/// Ends the program, and returns its output.
fn end(mut jvm: Child) -> String {
    drop(jvm.stdin.take());
    let mut printed = String::new();
    jvm.stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    let output = jvm.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    printed
}

fn frame<'a>(crash: &'a Crash, thread: &str, method: &str) -> &'a Frame {
    let threads = &crash.failure.threads;
    let at = threads
        .iter()
        .position(|known| known.name == thread)
        .expect(thread);
    let mut frames = crash.failure.frames.iter();
    frames
        .find(|frame| frame.exception == at as u32 && frame.method == method)
        .unwrap_or_else(|| panic!("{thread} has no frame of {method}"))
}

fn argument(crash: &Crash, thread: &str, method: &str, index: u16) -> Option<String> {
    let frame = frame(crash, thread, method);
    assert_ne!(
        frame.fidelity,
        Fidelity::None,
        "{thread} {method}: {}",
        frame.reason
    );
    let argument = frame
        .arguments
        .iter()
        .find(|argument| argument.index == index)?;
    Some(hindsight_test_programs::value(
        crash,
        argument.value,
        &argument.descriptor,
        2,
    ))
}

/// Checks what holds however the recording was requested.
fn check(crash: &Crash, primitives: bool, label: &str) {
    assert_eq!(crash.meta.reason, "all threads, asked for from outside");
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        argument(crash, "first", "transfer", 1),
        some("ArrayList"),
        "{label}"
    );
    assert_eq!(
        argument(crash, "server", "serve", 2),
        some("\" orders \""),
        "{label}"
    );
    assert_eq!(
        argument(crash, "listener", "listen", 1),
        some("\"round\""),
        "{label}"
    );
    // Each holds what the other one wants.
    let list = |thread: &str, method: &str, index: usize| match frame(crash, thread, method)
        .arguments[index]
        .value
    {
        Value::Ref(number) => number,
        other => panic!("{label}: {other:?}"),
    };
    assert_eq!(
        list("first", "transfer", 0),
        list("second", "add", 0),
        "{label}"
    );
    assert_eq!(
        list("second", "transfer", 0),
        list("first", "add", 0),
        "{label}"
    );
    let known = |text: &str| primitives.then(|| text.to_owned());
    assert_eq!(
        argument(crash, "first", "transfer", 3),
        known("7"),
        "{label}"
    );
    assert_eq!(argument(crash, "second", "add", 2), known("8"), "{label}");
    assert_eq!(argument(crash, "second", "add", 3), known("2.5"), "{label}");
    assert_eq!(
        argument(crash, "server", "serve", 3),
        known("1099511627776"),
        "{label}"
    );
    let state = |name: &str| {
        let found = crash
            .failure
            .threads
            .iter()
            .find(|thread| thread.name == name);
        found.unwrap_or_else(|| panic!("{label}: no {name}"))
    };
    assert_eq!(state("first").state, "BLOCKED");
    assert_eq!(state("third").state, "WAITING");
    assert_eq!(state("first").owns[0].class, "java.util.ArrayList");
    assert!(state("main").wants.is_none());
    assert_eq!(state("listener").state, "RUNNABLE");
    let guarded = state("guarded").wants.as_ref().expect(label);
    assert_eq!(guarded.class, "java.lang.Class");
    let owner = &crash.failure.threads[guarded.owner.expect(label) as usize];
    assert_eq!(owner.name, "keeper");
    let ours = crash
        .failure
        .threads
        .iter()
        .any(|thread| thread.name.contains("Hindsight"));
    assert!(!ours, "{label}");
}

fn inspect(workplace: &Workplace) -> String {
    told_by(workplace, &["inspect"])
}

/// The output of a command about the first file.
fn told_by(workplace: &Workplace, command: &[&str]) -> String {
    let output = Command::new(hindsight())
        .args(command)
        .arg(&workplace.crash_files()[0])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", both(&output));
    text(&output.stdout)
}

fn kill(jvm: &Child, signal: &str) {
    // Every shell has this command; a small container may have no program of its name.
    let done = Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$1\"", signal])
        .arg(jvm.id().to_string())
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn signals_and_jcmd_record_all_threads() {
    for jdk in jdks() {
        let workplace = Workplace::new("hang");
        let jvm = start(&workplace, jdk, "dump-on=SIGQUIT;USR1");
        kill(&jvm, "USR1");
        files(&workplace, 1);
        kill(&jvm, "QUIT");
        files(&workplace, 2);
        let asked = Command::new(jdk.tool("jcmd"))
            .arg(jvm.id().to_string())
            .arg("JVMTI.data_dump")
            .output()
            .unwrap();
        assert!(asked.status.success(), "{}", both(&asked));
        files(&workplace, 3);
        let printed = end(jvm);
        // The JVM's own dump is still there.
        assert!(
            printed.contains("Full thread dump"),
            "JDK {}: {printed}",
            jdk.version
        );
        for crash in workplace.crashes() {
            check(&crash, true, &format!("JDK {}", jdk.version));
        }
        assert_eq!(workplace.run_json()["counters"]["threads_recorded"], 3);

        let told = inspect(&workplace);
        assert_eq!(
            told.matches("deadlock: 2 threads wait for each other")
                .count(),
            2,
            "{told}"
        );
        for part in [
            "  thread first: BLOCKED, waits for ArrayList #",
            ", which thread second has",
            "  thread third: WAITING, waits for ReentrantLock$NonfairSync #",
            ", which thread fourth has",
            "\nthread server: WAITING",
            "amount = 7",
        ] {
            assert!(told.contains(part), "JDK {} {part}: {told}", jdk.version);
        }
        let grouped = told_by(&workplace, &["crashes"]);
        for part in [
            "a dump of all threads",
            "deadlock: these wait for each other: first, second; fourth, third\n",
        ] {
            assert!(
                grouped.contains(part),
                "JDK {} {part}: {grouped}",
                jdk.version
            );
        }
        // The review also includes the states of threads and the classes of their locks.
        let reviewed = told_by(&workplace, &["inspect", "--review"]);
        for part in [
            "  thread: third (WAITING, daemon)\n",
            "wanted by third",
            "held by first",
        ] {
            assert!(reviewed.contains(part), "{part}: {reviewed}");
        }
    }
}

/// A user looks at what it does, and ends it at once.
#[test]
fn the_end_of_a_program_waits_for_what_is_being_recorded() {
    const SOURCE: &str = "
import java.util.*;
public class Main {
    static void hold(List<String> data) throws Exception {
        synchronized (data) { System.out.println(\"hangs\"); Thread.sleep(60_000); }
    }
    public static void main(String[] args) throws Exception {
        List<String> data = new ArrayList<>();
        for (int i = 0; i < 80_000; i++) data.add(\"text \" + i * 31);
        hold(data);
    }
}";
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("hang-end");
        let classes = workplace.compile_text(jdk, &["--release", "17"], "Main", SOURCE);
        let jvm = started(&workplace, jdk, "dump-on=USR1", &classes);
        kill(&jvm, "USR1");
        // It has begun to write its file; otherwise this would test nothing.
        let part = workplace.join("out/crash-0001.hsc.part");
        let limit = Instant::now() + Duration::from_secs(120);
        while !part.exists() && workplace.crash_files().is_empty() && Instant::now() < limit {
            sleep(Duration::from_millis(1));
        }
        kill(&jvm, "TERM");
        let ended = jvm.wait_with_output().unwrap();
        let label = format!("JDK {} {}", jdk.version, both(&ended));
        assert_eq!(workplace.crash_files().len(), 1, "{label}");
        let run = workplace.run_json();
        assert_eq!(run["counters"]["threads_recorded"], 1, "{label} {run}");
        assert!(run["ended_ms"].is_number(), "{label} {run}");
    }
}

const VIRTUAL: &str = "
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
public class Main {
    static final CountDownLatch all = new CountDownLatch(503);
    static volatile boolean stop;
    static void order(String customer, BlockingQueue<String> answers) throws Exception {
        all.countDown();
        answers.take();
    }
    static synchronized void pinned(StringBuilder text, CountDownLatch never) throws Exception {
        all.countDown();
        never.await();
    }
    static void locked(ReentrantLock lock, List<String> why) throws Exception {
        all.countDown();
        lock.lock();
    }
    static int spin(int[] numbers) {
        all.countDown();
        int sum = 0;
        while (!stop) for (int number : numbers) sum += number;
        return sum;
    }
    interface Body { void run() throws Exception; }
    static Runnable of(Body body) {
        return () -> { try { body.run(); } catch (Exception e) { throw new Error(e); } };
    }
    public static void main(String[] args) throws Exception {
        List<Thread> started = new ArrayList<>();
        var service = Executors.newThreadPerTaskExecutor(task -> {
            Thread thread = Thread.ofVirtual().unstarted(task);
            started.add(thread);
            return thread;
        });
        for (int i = 0; i < 500; i++) {
            String customer = \"customer \" + i;
            service.execute(of(() -> order(customer, new LinkedBlockingQueue<>())));
        }
        started.add(Thread.ofVirtual().name(\"pinned\").start(of(() -> pinned(new StringBuilder(\"sb\"), new CountDownLatch(1)))));
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        started.add(Thread.ofVirtual().name(\"waits\").start(of(() -> locked(lock, List.of(\"because\")))));
        Thread.ofVirtual().name(\"spins\").start(() -> spin(new int[] {1, 2}));
        Thread.ofVirtual().name(\"over\").start(() -> {}).join();
        all.await();
        for (Thread thread : started) while (thread.getState() != Thread.State.WAITING) Thread.sleep(5);
        System.out.println(\"hangs\");
        System.in.read();
        stop = true;
        System.exit(0);
    }
}
";

#[test]
fn virtual_threads_are_recorded_and_counted_by_what_they_do() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        let workplace = Workplace::new("hang-virtual");
        let release = jdk.version.to_string();
        let classes = workplace.compile_text(jdk, &["--release", &release], "Main", VIRTUAL);
        let jvm = started(&workplace, jdk, "dump-on=USR1", &classes);
        kill(&jvm, "USR1");
        files(&workplace, 1);
        kill(&jvm, "USR1");
        files(&workplace, 2);
        end(jvm);
        for crash in workplace.crashes() {
            let threads = &crash.failure.threads;
            let label = format!(
                "JDK {}: {:?}",
                jdk.version,
                threads
                    .iter()
                    .map(|t| (&t.name, &t.state, t.alike))
                    .collect::<Vec<_>>()
            );
            let named = |name: &str| threads.iter().find(|thread| thread.name == name);
            let virtuals = threads.iter().filter(|thread| thread.is_virtual);
            let all: u32 = virtuals.map(|thread| 1 + thread.alike).sum();
            assert_eq!(all, 503, "{label}");
            // Three of the 500 are recorded, and those of other kinds.
            assert_eq!(
                threads.iter().filter(|thread| thread.is_virtual).count(),
                6,
                "{label}"
            );
            assert!(
                named("over").is_none() && !named("main").expect("main").is_virtual,
                "{label}"
            );
            let text = |name: &str, method: &str, index| {
                argument(&crash, name, method, index).expect(&label)
            };
            let customers: Vec<&str> = threads
                .iter()
                .filter(|t| t.is_virtual && t.name.starts_with('#'))
                .map(|t| t.name.as_str())
                .collect();
            assert_eq!(customers.len(), 3, "{label}");
            for customer in customers {
                assert!(
                    text(customer, "order", 1).starts_with("\"customer "),
                    "{label}"
                );
                assert_eq!(text(customer, "order", 2), "LinkedBlockingQueue");
                assert_eq!(named(customer).unwrap().state, "WAITING");
            }
            assert_eq!(text("waits", "locked", 1), "ReentrantLock");
            assert_eq!(
                named("waits").unwrap().wants.as_ref().unwrap().class,
                "java.util.concurrent.locks.ReentrantLock$NonfairSync"
            );
            let owner = named("waits")
                .unwrap()
                .wants
                .as_ref()
                .unwrap()
                .owner
                .unwrap();
            assert_eq!(threads[owner as usize].name, "main");
            assert!(text("pinned", "pinned", 1).starts_with("StringBuilder"));
            assert_eq!(named("spins").unwrap().state, "RUNNABLE", "{label}");
        }
        let told = inspect(&workplace);
        assert!(told.contains("at the same place)"), "{told}");
        assert!(
            told.contains("virtual thread waits: WAITING, waits for ReentrantLock$NonfairSync #"),
            "{told}"
        );
    }
}

const VIRTUAL_LOCKS: &str = "
import java.util.concurrent.*;
public class Main {
    static void move(Object from, Object to, CountDownLatch both) {
        synchronized (from) {
            both.countDown();
            try { both.await(); } catch (InterruptedException e) { }
            synchronized (to) { }
        }
    }
    public static void main(String[] args) throws Exception {
        Object a = new StringBuilder(\"A\"), b = new StringBuilder(\"B\"), c = new Object(), d = new Object();
        CountDownLatch one = new CountDownLatch(2), other = new CountDownLatch(2);
        Thread[] all = {
            Thread.ofVirtual().name(\"v1\").start(() -> move(a, b, one)),
            Thread.ofVirtual().name(\"v2\").start(() -> move(b, a, one)),
            Thread.ofVirtual().name(\"v3\").start(() -> move(c, d, other)),
            Thread.ofPlatform().daemon().name(\"p4\").start(() -> move(d, c, other)),
        };
        for (Thread thread : all) while (thread.getState() != Thread.State.BLOCKED) Thread.sleep(5);
        System.out.println(\"hangs\");
        System.in.read();
        System.exit(0);
    }
}
";

/// For the monitor itself, the JVM only reports platform threads.
#[test]
fn virtual_threads_that_wait_for_each_other_are_named() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        for (options, is_told) in [("dump-on=USR1", true), ("", false)] {
            let workplace = Workplace::new("hang-virtual-locks");
            let release = jdk.version.to_string();
            let classes =
                workplace.compile_text(jdk, &["--release", &release], "Main", VIRTUAL_LOCKS);
            let jvm = started(&workplace, jdk, options, &classes);
            if is_told {
                kill(&jvm, "USR1");
                files(&workplace, 1);
            } else {
                let process = jvm.id().to_string();
                let record = ["attach", &process, "record"];
                let output = Command::new(hindsight()).args(record).output().unwrap();
                assert!(output.status.success(), "{}", both(&output));
            }
            end(jvm);
            let told = inspect(&workplace);
            let circles = told.matches("deadlock: 2 threads wait for each other");
            assert_eq!(circles.count(), if is_told { 2 } else { 0 }, "{told}");
            let untold = "virtual thread v1: BLOCKED, for a monitor that is told with dump-on";
            assert_eq!(told.contains(untold), !is_told, "{told}");
            let waits = "virtual thread v1: BLOCKED, waits for StringBuilder #";
            assert_eq!(told.contains(waits), is_told, "{told}");
        }
    }
}

#[test]
fn whoever_attaches_may_ask() {
    for jdk in jdks() {
        let workplace = Workplace::new("hang-attach");
        let jvm = start(&workplace, jdk, "");
        let output = Command::new(hindsight())
            .args(["attach", &jvm.id().to_string(), "record"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
        let file = workplace.crash_files()[0].display().to_string();
        assert!(
            text(&output.stdout).contains(&format!("are in {file}")),
            "{}",
            both(&output)
        );
        let crash = &workplace.crashes()[0];
        check(crash, false, &format!("JDK {}", jdk.version));
        let add = frame(crash, "first", "add");
        assert!(
            add.reason.contains("started with dump-on"),
            "{}",
            add.reason
        );
        end(jvm);

        // No test can show it, and each frame says why.
        let output = Command::new(hindsight())
            .arg("junit")
            .arg(&workplace.crash_files()[0])
            .args(["--format", "json", "--classpath"])
            .arg(workplace.join("classes"))
            .arg("--out")
            .arg(workplace.join("tests"))
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let frames = report["crashes"][0]["frames"].as_array().unwrap();
        assert!(!frames.is_empty());
        for frame in frames {
            assert_eq!(frame["verdict"], "unsupported", "{frame}");
            assert!(
                frame["reason"]
                    .as_str()
                    .is_some_and(|reason| !reason.is_empty())
            );
        }
    }
}

#[test]
fn signals_that_the_jvm_needs_are_refused() {
    for jdk in jdks() {
        for signal in ["USR2", "KILL", "", "SEGV;QUIT"] {
            let output = jdk
                .java()
                .arg(format!("-agentpath:{}=dump-on={signal}", agent().display()))
                .arg("-version")
                .output()
                .unwrap();
            assert!(!output.status.success());
            let said = text(&output.stderr);
            assert!(
                said.contains("for option dump-on; accepted: QUIT, USR1"),
                "{said}"
            );
        }
    }
}

/// Each overwrites what it was given: one where it sleeps, the others once they have the monitor.
const UNBEGUN: &str = "
import java.util.*;
public class Main {
    static class Queue {
        final List<String> all = new ArrayList<>();
        Map<String, Integer> counts = new HashMap<>(Map.of(\"k\", 1));
        int sleeps(String text, Object other, int kept) throws Exception {
            text = text.trim();
            all.add(text);
            Thread.sleep(100_000);
            counts = null;
            other = text;
            return kept;
        }
        synchronized String waits(String key, List<String> wanted, int number) {
            key = key.toLowerCase();
            wanted = new ArrayList<>(wanted);
            number++;
            counts = null;
            return key + wanted + number;
        }
        static synchronized int held(Object why) throws Exception {
            why = why.toString();
            Thread.sleep(100_000);
            return why.hashCode();
        }
    }
    interface Body { void run() throws Exception; }
    static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try { body.run(); } catch (Exception e) { throw new RuntimeException(e); }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
    public static void main(String[] args) throws Exception {
        Queue queue = new Queue();
        List<Thread> all = new ArrayList<>();
        synchronized (queue) {
            all.add(start(\"sleeper\", () -> queue.sleeps(\" item \", \"obj\", 5)));
            all.add(start(\"waiter\", () -> queue.waits(\"KEY\", List.of(\"a\"), 41)));
            for (int i = 0; i < 3; i++) all.add(start(\"held \" + i, () -> Queue.held(\"why\")));
            for (Thread thread : all) {
                while (thread.getState().ordinal() < Thread.State.BLOCKED.ordinal()) Thread.sleep(5);
            }
            System.out.println(\"hangs\");
            System.in.read();
        }
        System.exit(0);
    }
}
";

/// What a method that waits for its monitor was given is still in its parameters; for one that runs
/// since before it got probes, only what it does not overwrite is known.
#[test]
fn what_frames_were_given_before_their_probes_ran_is_told_or_said_not_to_be_known() {
    for jdk in jdks() {
        let workplace = Workplace::new("hang-entry");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Main", UNBEGUN);
        let jvm = started(&workplace, jdk, "dump-on=USR1", &classes);
        kill(&jvm, "USR1");
        files(&workplace, 1);
        end(jvm);
        let label = format!("JDK {}", jdk.version);
        let crash = &workplace.crashes()[0];
        let waits = frame(crash, "waiter", "waits");
        assert_eq!(waits.reason, "", "{label}");
        let given = |thread: &str, method: &str, index| argument(crash, thread, method, index);
        assert_eq!(
            given("waiter", "waits", 1).as_deref(),
            Some("\"KEY\""),
            "{label}"
        );
        assert_eq!(
            given("waiter", "waits", 3).as_deref(),
            Some("41"),
            "{label}"
        );
        assert!(
            waits
                .arguments
                .iter()
                .all(|argument| argument.value != Value::Null)
        );
        assert!(waits.patch.is_empty(), "{label}: {:?}", waits.patch);
        assert_eq!(
            given("sleeper", "sleeps", 1).as_deref(),
            Some("\" item \""),
            "{label}"
        );
        let told = inspect(&workplace);
        let class = told.lines().filter(|line| line.contains("has Class #"));
        assert_eq!(class.count(), 1, "{label}: {told}");

        let workplace = Workplace::new("hang-entry-attach");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Main", UNBEGUN);
        let jvm = hanging(jdk.verifying_java(), &classes);
        let pid = jvm.id().to_string();
        let out = format!("out={}", workplace.join("out").display());
        for request in [out.as_str(), "record"] {
            let mut command = Command::new(hindsight());
            let output = command.args(["attach", &pid, request]).output().unwrap();
            assert!(output.status.success(), "{}", both(&output));
        }
        end(jvm);
        let crash = &workplace.crashes()[0];
        let sleeps = frame(crash, "sleeper", "sleeps");
        assert!(
            sleeps
                .reason
                .starts_with("it was running when it got its probes"),
            "{label}: {}",
            sleeps.reason
        );
        assert!(sleeps.patch.is_empty(), "{label}: {:?}", sleeps.patch);
        let nulls = sleeps
            .arguments
            .iter()
            .filter(|argument| argument.value == Value::Null);
        assert_eq!(nulls.count(), 0, "{label}: {:?}", sleeps.arguments);
    }
}
