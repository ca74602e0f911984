//! Programs under `mode=trace`: the log holds what happened, however the process ends.

use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{
    Jdk, Workplace, agent, both, hindsight, jdks, jdks_in_turn, render, root, text,
};
use hindsight_tracelog::crash::Value;
use hindsight_tracelog::trace::Log;
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::kind::Kind;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

fn source(name: &str) -> PathBuf {
    root().join("test-programs/trace").join(name)
}

fn run(workplace: &Workplace, jdk: &Jdk, options: &str, classes: &Path, args: &[&str]) {
    let ran = workplace
        .java_with_agent(jdk, options)
        .arg("-cp")
        .arg(classes)
        .args(args)
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
}

/// The program can still set what the JDK reads once, when its class is initialised.
#[test]
fn a_program_sets_what_its_pools_are_like() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-settings");
        let source = "import java.util.concurrent.ForkJoinPool;
            public class Settings {
                public static void main(String[] arguments) {
                    System.setProperty(\"java.util.concurrent.ForkJoinPool.common.parallelism\", \"7\");
                    System.out.println(ForkJoinPool.getCommonPoolParallelism());
                }
            }";
        let classes = workplace.compile_text(jdk, &[], "Settings", source);
        for mode in ["crash", "trace", "second-chance"] {
            let ran = workplace
                .java_with_agent(jdk, &format!("mode={mode}"))
                .arg("-cp")
                .arg(&classes)
                .arg("Settings")
                .output()
                .expect("java runs");
            assert_eq!(text(&ran.stdout), "7\n", "{mode}, {}", both(&ran));
        }
    }
}

/// Hazard: null results are recorded as missing. Null is a value like others, for arguments,
/// results, fields and elements, and in a crash.
#[test]
fn null_is_a_value() {
    const SOURCE: &str = "
public class Nothing {
    String kept = \"some\";
    static Object give(Object given, String text) { return given; }
    void set(String text) { kept = text; }
    String get() { return kept; }
    static int[] none(int[][] all) { all[1] = null; return all[1]; }
    static int fail(Object given, Nothing nothing, int[] none) { return none.length; }
    public static void main(String[] arguments) {
        Nothing nothing = new Nothing();
        nothing.set(null);
        fail(give(null, null), nothing, none(new int[2][2]));
    }
}";
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("trace-null");
        let options = "mode=trace,trace-what=calls;writes;reads;values";
        workplace.run_text(jdk, "17", options, ("Nothing", SOURCE));
        let lines = hindsight_test_programs::traces::lines(&workplace).join("\n");
        for told in [
            "Nothing.give(given = null, text = null)",
            "Nothing.give returns null",
            "Nothing.set(this = Nothing#",
            "text = null)",
            ".kept = null",
            "[1] = null",
            "Nothing.none returns null",
            "Nothing.fail(given = null, nothing = Nothing#",
            "none = null)",
        ] {
            assert!(lines.contains(told), "{told}: {lines}");
        }
        let workplace = Workplace::new("crash-null");
        workplace.run_text(jdk, "17", "", ("Nothing", SOURCE));
        let crash = &workplace.crashes()[0];
        let values = crash.failure.frames[0].arguments.iter();
        let are_null: Vec<bool> = values.map(|one| one.value == Value::Null).collect();
        let told = render(crash);
        assert_eq!(are_null, [true, false, true], "{told}");
        assert!(told.contains("nothing=Nothing{kept=null}"), "{told}");
    }
}

/// Hazard: two JVMs with one output directory.
#[test]
fn two_jvms_at_once_have_a_trace_each() {
    const SOURCE: &str = "
public class Twin {
    static void own(int number, int i) { }
    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[0]);
        System.out.println();
        System.in.read();
        for (int i = 0; i < 5000; i++) {
            own(number, i);
            if (i % 500 == 0) Thread.sleep(5);
        }
    }
}";
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-twins");
    let classes = workplace.compile_text(jdk, &["--release", "17"], "Twin", SOURCE);
    let mut twins = ["1", "2"].map(|number| {
        workplace
            .java_with_agent(jdk, "mode=trace")
            .arg("-cp")
            .arg(&classes)
            .args(["Twin", number])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("java runs")
    });
    // Both are there before either goes on.
    for twin in &mut twins {
        let told = twin.stdout.as_mut().expect("a pipe");
        told.read_exact(&mut [0]).expect("a line");
    }
    for twin in &mut twins {
        drop(twin.stdin.take());
    }
    for twin in &mut twins {
        assert!(twin.wait().expect("it ends").success());
    }
    let files = fs::read_dir(workplace.join("out")).expect("a directory");
    let files = files.map(|file| file.expect("a file").path());
    let files = files.filter(|path| path.extension().is_some_and(|found| found == "json"));
    let run = |path: PathBuf| {
        let told = fs::read(path).expect("a file");
        let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
        told["run"].as_str().expect("an id").to_owned()
    };
    let runs: BTreeSet<String> = files.map(run).collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let mut seen = [""; 2];
    let mut ids = BTreeSet::new();
    for (place, seen) in ["trace", "trace-2"].iter().zip(&mut seen) {
        let directory = workplace.join("out").join(place);
        let command = |arguments: &[&str]| {
            let told = Command::new(hindsight())
                .args(arguments)
                .arg(&directory)
                .output()
                .expect("hindsight runs");
            assert!(
                told.status.success() && told.stderr.is_empty(),
                "{}",
                both(&told)
            );
            text(&told.stdout)
        };
        let events = command(&["events"]);
        let calls = |number: &str| {
            events
                .matches(&format!("Twin.own(number = {number}, "))
                .count()
        };
        *seen = match (calls("1"), calls("2")) {
            (5000, 0) => "1",
            (0, 5000) => "2",
            other => panic!("{place} has {other:?} calls"),
        };
        let dictionary = fs::read(directory.join("dictionary.hsd")).expect("a dictionary");
        let (dictionary, damage) = Dictionary::read(&dictionary).expect("a sound dictionary");
        assert!(damage.is_none(), "{damage:?}");
        ids.insert(dictionary.start.expect("its start").run);
    }
    seen.sort_unstable();
    assert_eq!(seen, ["1", "2"]);
    assert_eq!(ids, runs);
}

/// The writes to a shared object are in their order, among a thousand threads.
#[test]
fn a_thousand_threads() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-threads");
    let classes = workplace.compile(jdk, &[], &[source("Threads.java")]);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace")
        .args(["-Dthreads=1000", "-cp"])
        .arg(&classes)
        .arg("Threads")
        .output()
        .expect("java runs");
    assert_eq!(text(&ran.stdout), "50000 50000\n", "{}", both(&ran));
    let log = open(&workplace);
    assert!(log.damage.is_empty() && log.missing().is_empty());
    let field = |name: &str| {
        let classes = log.dictionary.traced.iter();
        let mut fields = classes.flat_map(|class| &class.fields);
        fields
            .find(|field| field.name == name)
            .map(|field| field.id)
    };
    let (count, total) = (field("count"), field("total"));
    let (mut counts, mut totals, mut ends) = (0, 0, 0);
    for_each(&log, |event| match event.kind() {
        Kind::Put if Some(event.id) == count => {
            counts += 1;
            assert_eq!(event.ints(), [counts]);
        }
        Kind::PutStatic if Some(event.id) == total => {
            totals += 1;
            assert_eq!(event.ints(), [totals]);
        }
        Kind::End => ends += 1,
        _ => {}
    });
    assert_eq!((counts, totals), (50_000, 50_000));
    assert!(ends >= 1000, "{ends} threads have ended");
}

/// A thread that is stopped between taking its stamp and noting its write does not hide what others
/// write meanwhile.
#[test]
fn threads_that_are_stopped_anywhere_tell_their_writes_in_order() {
    const TURNS: i32 = 100_000;
    for jdk in jdks() {
        let workplace = Workplace::new("trace-turns");
        let classes = workplace.compile(jdk, &[], &[source("Turns.java")]);
        run(
            &workplace,
            jdk,
            "mode=trace,trace-what=writes;values",
            &classes,
            &["Turns", &TURNS.to_string()],
        );
        let log = open(&workplace);
        let mut fields = log.dictionary.traced.iter().flat_map(|class| &class.fields);
        let shared = fields.find(|field| field.name == "shared");
        let shared = shared.expect("a traced field").id;
        let mut last = 0;
        for_each(&log, |event| {
            if event.kind() == Kind::PutStatic && event.id == shared {
                assert_eq!(event.ints(), [last + 1], "JDK {}", jdk.version);
                last += 1;
            }
        });
        assert_eq!(last, 8 * TURNS);
    }
}

/// Whichever thread sees an object first, it has one number, which no other object has.
#[test]
fn threads_that_see_an_object_together_agree() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-race");
        let classes = workplace.compile(jdk, &[], &[source("Race.java")]);
        run(
            &workplace,
            jdk,
            "mode=trace,trace-what=calls;values",
            &classes,
            &["Race"],
        );
        let log = open(&workplace);
        let traced = log.dictionary.traced.iter();
        let mut methods = traced.flat_map(|class| &class.methods);
        let look = methods.find(|method| method.name == "look");
        let look = look.expect("a traced method").id;
        let mut seen: HashMap<u64, Vec<u64>> = HashMap::new();
        for_each(&log, |event| {
            if event.kind() == Kind::Enter && event.id == look {
                let object = event.reference(0).expect("an object");
                seen.entry(event.thread).or_default().push(object.0);
            }
        });
        let all: Vec<_> = seen.values().collect();
        assert_eq!(all.len(), 2);
        for objects in &all {
            let mut distinct = objects.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 20_000);
            assert!(*objects == all[0], "each thread has seen the same objects");
        }
    }
}

/// Hundreds of thousands of virtual threads do not take a chunk each, and keep their order when
/// they move from carrier to carrier.
#[test]
fn virtual_threads() {
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 21) else {
        return;
    };
    const COUNT: usize = 200_000;
    let workplace = Workplace::new("trace-virtual");
    let classes = workplace.compile(jdk, &[], &[source("Virtual.java")]);
    let count = COUNT.to_string();
    run(
        &workplace,
        jdk,
        "mode=trace",
        &classes,
        &["Virtual", &count],
    );
    let log = open(&workplace);
    assert!(log.damage.is_empty() && log.missing().is_empty());
    let step = (log.dictionary.traced.iter())
        .flat_map(|class| &class.methods)
        .find(|method| method.name == "step")
        .map(|method| method.id);
    let mut steps: HashMap<u64, (i32, i32)> = HashMap::new();
    for_each(&log, |event| {
        if event.kind() == Kind::Enter && Some(event.id) == step {
            assert!(event.is_virtual);
            let [number, at] = *event.ints() else {
                panic!("two arguments");
            };
            let known = steps.entry(event.thread).or_insert((number, 0));
            assert_eq!(*known, (number, at), "thread {}", event.thread);
            known.1 += 1;
        }
    });
    assert_eq!(steps.len(), COUNT + 50);
    let complete =
        (steps.values()).all(|&(number, steps)| steps == if number < 0 { 20 } else { 1 });
    assert!(complete);
    let streams: Vec<u64> = log
        .blocks()
        .iter()
        .map(|block| block.header.stream)
        .collect();
    assert!(streams.iter().max() < Some(&100), "{streams:?}");
}

/// Checks what both threads of `Ends` have done, in order, up to the end.
fn check_ends(log: &Log<Vec<u8>>, at_least: i32) {
    let step = (log.dictionary.traced.iter())
        .flat_map(|class| &class.methods)
        .find(|method| method.name == "step")
        .map(|method| method.id);
    let mut steps: BTreeMap<u64, i32> = BTreeMap::new();
    for_each(log, |event| {
        if event.kind() == Kind::Enter && Some(event.id) == step {
            let next = steps.entry(event.thread).or_default();
            assert_eq!(event.ints(), [*next]);
            *next += 1;
        }
    });
    assert_eq!(steps.len(), 2);
    assert!(steps.values().all(|steps| *steps >= at_least), "{steps:?}");
}

#[test]
fn ends_of_every_kind() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-ends");
        let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
        for (end, in_order) in [
            ("return", true),
            ("exit", true),
            ("halt", true),
            ("segv", false),
            ("kill", false),
            // Both threads are storing events.
            ("busy", false),
        ] {
            let _ = fs::remove_dir_all(workplace.join("out"));
            let mut child = workplace
                .java_with_agent(jdk, "mode=trace")
                .args([
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:ErrorFile=/dev/null",
                    "-cp",
                ])
                .arg(&classes)
                .args(["Ends", end, "20000"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("java runs");
            let mut worked = [0; 7];
            let stdout = child.stdout.as_mut().expect("a pipe");
            stdout.read_exact(&mut worked).expect("it has worked");
            if matches!(end, "kill" | "busy") {
                child.kill().expect("it is killed");
            }
            let status = child.wait().expect("it ends");
            match end {
                "return" => assert_eq!(status.code(), Some(0)),
                "exit" => assert_eq!(status.code(), Some(3)),
                "halt" => assert_eq!(status.code(), Some(4)),
                // Without a core dump the JVM exits after its report.
                "segv" => assert_eq!(status.code(), Some(1)),
                _ => assert_eq!(status.signal(), Some(9)),
            }
            let log = open(&workplace);
            let label = format!("JDK {} {end}", jdk.version);
            assert!(log.damage.is_empty(), "{label}: {:?}", log.damage);
            assert!(log.missing().is_empty(), "{label}: {:?}", log.missing());
            assert_eq!(log.dictionary.stop.is_some(), in_order, "{end}");
            check_ends(&log, 20_000);
            let live = log.blocks().iter().filter(|block| block.live).count();
            assert_eq!(live > 0, !in_order, "{end}");
            // The end is reported to people.
            let stats = Command::new(hindsight())
                .arg("stats")
                .arg(workplace.join("out"))
                .output()
                .expect("hindsight runs");
            assert!(stats.status.success());
            let told = text(&stats.stdout).contains("did not end in good order");
            assert_eq!(told, !in_order, "{}", both(&stats));
        }
    }
}

/// The oldest events are dropped; the rest is complete, and says what is missing.
#[test]
fn a_bounded_trace_keeps_the_latest_events() {
    for jdk in jdks() {
        keeps_the_latest_events(jdk);
    }
}

fn keeps_the_latest_events(jdk: &Jdk) {
    let workplace = Workplace::new(&format!("trace-bounded-{}", jdk.version));
    let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
    let mut running = workplace
        .java_with_agent(jdk, "mode=trace,max-trace=1M")
        .arg("-cp")
        .arg(&classes)
        .args(["Ends", "return", "6000000"])
        .stdout(Stdio::null())
        .spawn()
        .expect("java runs");
    // A reader sees it meanwhile as far as it goes, although the oldest events are dropped.
    let stats = || {
        let mut stats = Command::new(hindsight());
        stats.arg("stats").arg(workplace.join("out"));
        stats.args(["--quiet", "--format", "json"]);
        let said = stats.output().expect("hindsight runs");
        assert!(said.status.success(), "{}", both(&said));
        serde_json::from_slice::<serde_json::Value>(&said.stdout).expect("JSON")
    };
    let mut looked = 0;
    while running.try_wait().expect("it is a child").is_none() {
        if workplace.join("out/trace/segment-000040.hst").exists() {
            stats();
            looked += 1;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(looked > 0, "it was over too soon");
    assert!(running.wait().expect("it ended").success());
    let log = open(&workplace);
    let stop = log.dictionary.stop.clone().expect("it ended in good order");
    assert!(stop.segments_deleted > 0 && stop.lost == 0);
    assert!(log.damage.is_empty() && !log.missing().is_empty());
    let directory = fs::read_dir(workplace.join("out/trace")).expect("a directory");
    let segments = directory.map(|entry| entry.expect("an entry"));
    let segments = segments.filter(|entry| entry.path().extension().is_some_and(|of| of == "hst"));
    let sizes = segments.map(|entry| entry.metadata().expect("it is there").len());
    let size: u64 = sizes.sum();
    assert!(
        (700_000..=(1 << 20) + (128 << 10)).contains(&size),
        "{size}"
    );
    assert!(log.missing().iter().all(|missing| missing.is_told));
    // Each call that ends has begun, or was running.
    let mut calls: HashMap<u64, Vec<u32>> = HashMap::new();
    let (mut last, mut running) = (0, 0);
    for_each(&log, |event| {
        let calls = calls.entry(event.thread).or_default();
        match event.kind() {
            Kind::Enter => {
                last = last.max(event.ints().first().copied().unwrap_or(0));
                calls.push(event.id);
            }
            Kind::Going => {
                running += 1;
                calls.push(event.id);
            }
            Kind::Exit => assert_eq!(calls.pop(), Some(event.id)),
            _ => {}
        }
    });
    assert!(last >= 5_999_999, "{last}");
    assert!(running >= 2, "{running}");
    assert!(calls.values().all(Vec::is_empty), "{calls:?}");
    let said = Command::new(hindsight())
        .arg("events")
        .arg(workplace.join("out"))
        .args(["--limit", "20"])
        .output()
        .expect("hindsight runs");
    assert!(said.status.success(), "{}", both(&said));
    assert!(
        text(&said.stdout).contains("Ends.work is running"),
        "{}",
        both(&said)
    );
    let told = text(&said.stderr);
    let note = format!(
        "the oldest {} segments are deleted to keep to max-trace",
        stop.segments_deleted
    );
    assert!(told.contains(&note), "{told}");
    assert!(told.contains("what was running is told"), "{told}");
    assert_eq!(stats()["segments_deleted"], stop.segments_deleted);
}

/// When the stack overflows, what probes could not record is counted, and calls stay nested.
#[test]
fn the_end_of_the_stack() {
    for jdk in jdks() {
        for mode in [&["-Xint"][..], &[]] {
            let workplace = Workplace::new(&format!("trace-deep-{}", jdk.version));
            let classes = workplace.compile(jdk, &[], &[source("Deep.java")]);
            let ran = workplace
                .java_with_agent(jdk, "mode=trace")
                .args(mode)
                .args(["-Xss400k", "-cp"])
                .arg(&classes)
                .arg("Deep")
                .output()
                .expect("java runs");
            let label = format!("JDK {} {mode:?}", jdk.version);
            assert!(ran.status.success(), "{label}: {}", both(&ran));
            let log = open(&workplace);
            let stop = log.dictionary.stop.clone().expect("it ended in good order");
            assert!(stop.stack_ends >= 60, "{label}: {}", stop.stack_ends);
            let method = |id| {
                let (_, method) = log.dictionary.method(id).expect("a method");
                method.name.as_str()
            };
            let mut calls: Vec<u32> = Vec::new();
            let (mut marks, mut lost) = (Vec::new(), 0);
            for_each(&log, |event| match event.kind() {
                Kind::Enter => {
                    if method(event.id) == "mark" {
                        marks.push(event.ints()[0]);
                        // A call that catches the error and ends by it again may seem to run until
                        // the next one.
                        let mut outer = calls.iter().map(|&id| method(id));
                        let is_over = |name: &str| name == "main" || name == "careful";
                        assert!(outer.all(is_over), "{label}: mark {marks:?}");
                    }
                    calls.push(event.id);
                }
                Kind::Exit | Kind::Unwind => {
                    if let Some(at) = calls.iter().rposition(|&call| call == event.id) {
                        calls.truncate(at);
                    }
                }
                Kind::Caught => {
                    if let Some(at) = calls.iter().rposition(|&call| call == event.id) {
                        calls.truncate(at + 1);
                    }
                }
                Kind::Lost => {
                    lost += event.longs()[0] as u64;
                    calls.clear();
                }
                _ => {}
            });
            let all: Vec<i32> = marks.iter().copied().filter(|&mark| mark >= 0).collect();
            assert_eq!(all, (0..=60).collect::<Vec<_>>(), "{label}");
            assert!(lost <= stop.lost, "{label}: {lost} of {}", stop.lost);
            eprintln!(
                "{label}: {} ends, {lost} of {} lost told",
                stop.stack_ends, stop.lost
            );
        }
    }
}

/// A full disk costs events, and does not affect the program.
#[test]
fn a_full_disk() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-full-disk");
    let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
    let disk = workplace.join("disk");
    fs::create_dir_all(&disk).expect("a directory");
    let script = format!(
        "mount -t tmpfs -o size=5500k tmpfs '{disk}' || exit 77
         '{java}' '-agentpath:{agent}=mode=trace,out={disk}' -cp '{classes}' Ends exit 6000000
         echo status $?
         '{hindsight}' stats '{disk}' || exit 1
         '{hindsight}' events '{disk}' --limit 100000 --quiet | tail -1
         umount '{disk}'; mount -t tmpfs -o size=100k tmpfs '{disk}' || exit 77
         '{java}' '-agentpath:{agent}=mode=trace,out={disk}' -cp '{classes}' Ends exit 10
         echo status $? with $(ls '{disk}')
         grep -e not_started -e ended_ms '{disk}/run.json'
         rm '{disk}'/*; cat /dev/zero >'{disk}/full'
         '{java}' '-agentpath:{agent}=mode=trace,out={disk}' -cp '{classes}' Ends exit 10
         echo status $? with $(ls '{disk}')",
        disk = disk.display(),
        java = jdk.tool("java").display(),
        agent = agent().display(),
        classes = classes.display(),
        hindsight = hindsight().display(),
    );
    let ran = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .output();
    let Ok(ran) = ran else { return };
    if ran.status.code() == Some(77) || text(&ran.stderr).contains("unshare:") {
        eprintln!(
            "the full disk is not tested: no rights to mount one ({})",
            text(&ran.stderr).trim()
        );
        return;
    }
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    assert!(ran.status.success(), "{}", both(&ran));
    assert!(stdout.starts_with("worked\nstatus 3\n"), "{}", both(&ran));
    assert_eq!(
        stderr.matches("events are lost").count(),
        1,
        "{}",
        both(&ran)
    );
    assert!(!stdout.contains("damaged"), "{}", both(&ran));
    // The end has found room: it says whose events they were.
    assert!(
        stdout.contains(" events were lost while recording, texts of objects included\n"),
        "{}",
        both(&ran)
    );
    for of in [" (main): ", " (other): "] {
        let mut lines = stdout.lines().filter(|line| line.starts_with("lost: "));
        let is_told = lines.any(|line| {
            line.contains(of)
                && (line.contains("its end, behind stamp") || line.contains("from its block"))
        });
        assert!(is_told, "{of}: {}", both(&ran));
    }
    assert!(stdout.contains("Ends.step"), "{}", both(&ran));
    // Of a recording that could not begin, only the reason is left, if there is room.
    let (_, second) = stdout
        .split_once("status 3 with run.json\n")
        .expect(&stdout);
    let none = "cannot make room for events";
    assert!(second.contains(none), "{}", both(&ran));
    assert!(!second.contains("null"), "{}", both(&ran));
    assert!(
        second.ends_with("worked\nstatus 3 with full\n"),
        "{}",
        both(&ran)
    );
    let told: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("this agent records nothing"))
        .collect();
    assert_eq!(told.len(), 2, "{}", both(&ran));
    for line in told {
        assert!(line.contains("No space left on device"), "{}", both(&ran));
        // Nothing was recorded.
        assert!(line.ends_with(" (the program goes on)"), "{}", both(&ran));
    }
}

/// A heap without room for the probes is left to the program, and the reason is reported.
#[test]
fn a_heap_without_room_for_a_trace() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-small-heap");
        let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
        let ran = workplace
            .java_with_agent(jdk, "mode=trace")
            .arg("-Xmx4m")
            .arg("-cp")
            .arg(&classes)
            .args(["Ends", "exit", "10"])
            .output()
            .expect("java runs");
        let label = format!("JDK {}: {}", jdk.version, both(&ran));
        assert_eq!(ran.status.code(), Some(3), "{label}");
        assert_eq!(text(&ran.stdout), "worked\n", "{label}");
        let why = "the heap is too small: it has ";
        assert!(text(&ran.stderr).contains(why), "{label}");
        let run = workplace.run_json();
        assert_eq!(run["counters"]["agent_not_started"], 1, "{label}: {run}");
        assert!(
            run["not_started"].to_string().contains(why),
            "{label}: {run}"
        );
        assert!(run["ended_ms"].is_number(), "{label}: {run}");
        assert!(!workplace.join("out/trace").exists(), "{label}");
    }
}
