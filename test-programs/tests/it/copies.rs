//! The copy strategies: each yields tests that the cheaper ones do not.

use hindsight_test_programs::{
    Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, reported, root, text,
};
use hindsight_tracelog::crash::{Fidelity, Frame, Value};
use hindsight_tracelog::plan::Plan;
use hindsight_tracelog::reader::Crash;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Records a program of `copies/`.
fn record(jdk: &Jdk, program: &str, options: &str, arguments: &[&str]) -> Workplace {
    ran(jdk, program, options, &[], arguments).0
}

/// As `record`, with options for the JVM; returns the program's output.
fn ran(
    jdk: &Jdk,
    program: &str,
    options: &str,
    jvm: &[&str],
    arguments: &[&str],
) -> (Workplace, Output) {
    let workplace = Workplace::new(&format!("copies-{program}"));
    let source = root().join(format!("test-programs/copies/{program}.java"));
    // From Java 11 on, nested classes have no accessors.
    let release = if program == "Together" { "8" } else { "11" };
    let classes = workplace.compile(jdk, &["--release", release], &[source]);
    let run = workplace
        .java_with_agent(jdk, options)
        .args(jvm)
        .arg("-cp")
        .arg(&classes)
        .arg(program)
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(
        workplace.crash_files().len(),
        1,
        "{program} with {options} on JDK {}: {}",
        jdk.version,
        both(&run)
    );
    (workplace, run)
}

/// The verdicts on all frames, by method; recursive ones have the depth after their name.
fn verdicts(jdk: &Jdk, workplace: &Workplace) -> BTreeMap<String, String> {
    let (output, report) = reported(&mut workplace.junit(jdk, workplace.join("classes")));

    let frames = report["crashes"][0]["frames"]
        .as_array()
        .unwrap_or_else(|| panic!("{}", both(&output)));
    let mut verdicts = BTreeMap::new();
    for frame in frames {
        let method = frame["method"].as_str().unwrap().to_owned();
        let verdict = format!("{} {}", frame["verdict"], frame["reason"]);
        let times = verdicts
            .keys()
            .filter(|known: &&String| known.split('#').next() == Some(&method))
            .count();
        let name = match times {
            0 => method,
            times => format!("{method}#{times}"),
        };
        verdicts.insert(name, verdict);
    }
    verdicts
}

fn reproduces(verdict: &str) -> bool {
    verdict.starts_with("\"reproduces\"")
}

fn frame<'c>(frames: &'c [Frame], method: &str) -> &'c Frame {
    frames.iter().find(|frame| frame.method == method).unwrap()
}

#[test]
fn each_strategy_reproduces_what_the_cheaper_ones_do_not() {
    let all = ["reference", "fields", "depth", "deep"];
    for jdk in jdks() {
        for (strategy, most) in [("reference", 1), ("fields", 2), ("depth:2", 3), ("deep", 4)] {
            let workplace = record(jdk, "Strategies", &format!("copy={strategy}"), &[]);
            let verdicts = verdicts(jdk, &workplace);
            for (at, method) in all.iter().enumerate() {
                assert_eq!(
                    reproduces(&verdicts[*method]),
                    at < most,
                    "{method} with copy={strategy} on JDK {}: {verdicts:?}",
                    jdk.version
                );
            }
        }
    }
}

/// Within a collection there are no steps: as a whole it is either as at entry or as at the
/// failure.
#[test]
fn collections_are_not_cut_in_halves() {
    for jdk in jdks() {
        for (strategy, is_exact) in [("depth:1", false), ("depth:2", true), ("deep", true)] {
            let workplace = record(jdk, "Halves", &format!("copy={strategy}"), &[]);
            let shown = Command::new(hindsight())
                .args(["inspect", "out"])
                .current_dir(&workplace.path)
                .output()
                .unwrap();
            let shown = text(&shown.stdout);
            let at_entry = shown.contains(r#""a", "b", "c""#) && shown.contains(r#""Ben""#);
            assert_eq!(
                at_entry, is_exact,
                "{strategy} on JDK {}: {shown}",
                jdk.version
            );
            assert!(!shown.contains("null, null"), "{strategy}: {shown}");
            let verdicts = verdicts(jdk, &workplace);
            assert_eq!(
                reproduces(&verdicts["work"]),
                is_exact,
                "{strategy}: {verdicts:?}"
            );
        }
    }
}

#[test]
fn receiver_and_arguments_may_differ() {
    let jdk = &jdks()[0];
    for (options, expected) in [
        ("copy=deep", [true, true]),
        ("copy=deep,copy.arguments=reference", [true, false]),
        ("copy.receiver=fields,copy.arguments=deep", [false, true]),
    ] {
        let workplace = record(jdk, "Sides", options, &[]);
        let verdicts = verdicts(jdk, &workplace);
        for (method, expected) in ["receiver", "argument"].into_iter().zip(expected) {
            // The frame below needs both.
            let expected = expected && (method == "argument" || options == "copy=deep");
            assert_eq!(
                reproduces(&verdicts[method]),
                expected,
                "{method} with {options}: {verdicts:?}"
            );
        }
    }
}

/// If the program goes on, its rules decide what a failure is: all of it is as at entry even so.
#[test]
fn deep_is_exact_of_failures_that_are_caught() {
    for jdk in jdks() {
        for (rule, copy, expected) in [
            ("caught:GoesOn.handle", "deep", true),
            ("escape:GoesOn.all", "deep", true),
            ("caught:GoesOn.handle", "fields", false),
        ] {
            let options = format!("copy={copy},report={rule}");
            let (workplace, run) = ran(jdk, "GoesOn", &options, &[], &[]);
            assert_eq!(text(&run.stdout), "false\n", "{}", both(&run));
            let verdicts = verdicts(jdk, &workplace);
            for method in ["take", "all"] {
                assert_eq!(
                    reproduces(&verdicts[method]),
                    expected,
                    "{method} with {options} on JDK {}: {verdicts:?}",
                    jdk.version
                );
            }
            if copy == "deep" {
                let crash = &workplace.crashes()[0];
                for method in ["take", "all", "handle"] {
                    let fidelity = frame(&crash.failure.frames, method).fidelity;
                    assert_eq!(fidelity, Fidelity::Deep, "{method} with {options}");
                }
            }
        }
    }
}

const BUSY: &str = "
import java.util.*;

public class Busy {
    static Map<Integer, int[]> cache = new HashMap<>();
    static volatile Object garbage;

    static void handle(int number, List<Integer> list) {
        list.add(number);
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        for (int i = 0; i < 40_000; i++) { cache.put(i, new int[1]); }
        Thread thread = new Thread(() -> { for (;;) { garbage = new byte[1 << 16]; } });
        thread.setDaemon(true);
        thread.start();
        for (int i = 0; i < 3; i++) {
            try { handle(i, new ArrayList<>()); } catch (IllegalStateException e) { }
        }
        System.out.println(\"goes on\");
    }
}
";

/// The tags that find the objects written to are gone when static fields are read, and the
/// collector runs.
#[test]
fn deep_copies_outlive_collections_of_garbage() {
    for jdk in jdks() {
        for (copy, fidelity) in [("deep", Fidelity::Deep), ("depth:2", Fidelity::Depth)] {
            for _ in 0..3 {
                let workplace = Workplace::new("busy");
                let classes = workplace.compile_text(jdk, &["--release", "11"], "Busy", BUSY);
                let options = format!("copy={copy},report=escape:Busy.handle");
                let run = workplace
                    .java_with_agent(jdk, &options)
                    .args(["-Xmx64m", "-cp"])
                    .arg(&classes)
                    .arg("Busy")
                    .output()
                    .expect("java runs");
                assert_eq!(text(&run.stdout), "goes on\n", "{}", both(&run));
                assert!(run.status.success(), "{}", both(&run));
                let crashes = workplace.crashes();
                assert_eq!(crashes.len(), 1, "{}", both(&run));
                let frame = &crashes[0].failure.frames[0];
                assert_eq!(
                    (frame.method.as_str(), frame.fidelity),
                    ("handle", fidelity)
                );
                // This is the list as it was before a number was added.
                let size = frame.patch.iter().find(|patch| patch.field == "size");
                let size = size.map(|patch| &patch.value);
                assert_eq!(size, Some(&Value::Int(0)), "{:?}", frame.patch);
            }
        }
    }
}

const HOGS: &str = "
import java.util.*;

public class Hogs {
    static List<byte[]> build(int count) {
        List<byte[]> list = new ArrayList<>();
        for (int i = 0; i < count; i++) { list.add(new byte[1 << 20]); }
        return list;
    }

    public static void main(String[] args) {
        List<byte[]> all = new ArrayList<>();
        try { for (;;) { all.add(new byte[1 << 20]); } } catch (OutOfMemoryError e) { all = null; }
        System.out.println(\"caught \" + build(8).size());
    }
}
";

/// The objects that have filled the heap are released, even if their last writes found no memory
/// for a log.
#[test]
fn memory_comes_back_after_it_was_short() {
    for jdk in jdks() {
        let workplace = Workplace::new("hogs");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Hogs", HOGS);
        for collector in ["-XX:+UseG1GC", "-XX:+UseZGC", "-XX:+UseSerialGC"] {
            let run = workplace
                .java_with_agent(jdk, "copy=deep")
                .args([collector, "-Xmx80m", "-cp"])
                .arg(&classes)
                .arg("Hogs")
                .output()
                .expect("java runs");
            assert_eq!(
                text(&run.stdout),
                "caught 8\n",
                "{collector}: {}",
                both(&run)
            );
            workplace.assert_instrumented(collector);
        }
    }
}

#[test]
fn writes_inside_collections_are_undone() {
    for jdk in jdks() {
        let workplace = record(jdk, "Collections", "copy=deep", &[]);
        let verdicts = verdicts(jdk, &workplace);
        assert!(
            reproduces(&verdicts["run"]),
            "on JDK {}: {verdicts:?}",
            jdk.version
        );
        let fields = record(jdk, "Collections", "copy=fields", &[]);
        assert!(!reproduces(&self::verdicts(jdk, &fields)["run"]));
    }
}

/// These are writes by variable handles, `Unsafe`, reflection and methods that fill an array, and
/// within the builders, buffers and streams of the JDK.
#[test]
fn writes_that_no_instruction_shows_are_undone() {
    for jdk in jdks() {
        let workplace = record(jdk, "Around", "copy=deep", &[]);
        let run_json = workplace.run_json();
        assert_eq!(run_json["counters"].get("fields_not_found"), None);
        let verdicts = verdicts(jdk, &workplace);
        assert!(
            reproduces(&verdicts["run"]),
            "on JDK {}: {verdicts:?}",
            jdk.version
        );
    }
}

#[test]
fn of_a_large_buffer_only_what_is_written_is_kept() {
    for jdk in jdks() {
        let (workplace, run) = ran(jdk, "Buffers", "copy=deep", &["-Xmx64m"], &[]);
        let said = both(&run);
        assert!(said.contains("IllegalStateException"), "{said}");
        assert!(!said.contains("OutOfMemoryError"), "{said}");
        let crash = &workplace.crashes()[0];
        let read = frame(&crash.failure.frames, "read");
        assert_eq!(read.fidelity, Fidelity::Deep, "{}", read.reason);
        let first: Vec<_> = (read.patch.iter())
            .map(|patch| (patch.index, patch.value))
            .collect();
        assert_eq!(first, [(Some(0), Value::Int(7))]);
    }
}

#[test]
fn what_is_too_large_to_be_kept_is_missed_and_said_so() {
    let jdk = &jdks()[0];
    let (workplace, _) = ran(jdk, "Buffers", "copy=deep", &["-Xmx200m"], &["large"]);
    let crash = &workplace.crashes()[0];
    let large = frame(&crash.failure.frames, "large");
    assert_eq!(large.fidelity, Fidelity::Deep, "{}", large.reason);
    assert!(large.reason.contains("an array ([B)"), "{}", large.reason);
    // All other places are known.
    let places: Vec<_> = (large.patch.iter())
        .map(|patch| (patch.index, patch.value))
        .collect();
    assert_eq!(places, [(Some(1), Value::Int(3))]);
}

#[test]
fn frames_say_what_changes_where_no_write_is_logged() {
    for jdk in jdks() {
        let workplace = record(jdk, "Beyond", "copy=deep,exclude=Beyond$Left", &[]);
        let frames = &workplace.crashes()[0].failure.frames;
        for (method, says) in [
            ("digests", "exact but for what code that logs no writes"),
            ("leaves", "has written to Beyond$Left"),
            ("draws", "has written to java.awt.geom.Path2D$Double"),
        ] {
            let frame = frame(frames, method);
            assert_eq!(frame.fidelity, Fidelity::Deep);
            assert!(frame.reason.contains(says), "{method}: {}", frame.reason);
        }
        for (method, places) in [
            ("starts", &["command", "directory"][..]),
            ("reads", &["index"]),
            ("knows", &[]),
        ] {
            let frame = frame(frames, method);
            assert_eq!(
                (frame.fidelity, frame.reason.as_str()),
                (Fidelity::Deep, ""),
                "{method}"
            );
            for place in places {
                let is_undone = frame.patch.iter().any(|patch| patch.field == *place);
                assert!(is_undone, "{method}: {place}: {:?}", frame.patch);
            }
        }
    }
}

#[test]
fn writes_of_other_threads_are_undone_in_order() {
    for jdk in jdks() {
        let kinds: &[&[&str]] = if jdk.version >= 21 {
            &[&[], &["virtual"]]
        } else {
            &[&[]]
        };
        for arguments in kinds {
            let workplace = record(jdk, "Threads", "copy=deep", arguments);
            let crash = &workplace.crashes()[0];
            // The values of `next.value` at the entry of each frame that has it as its argument.
            let mut seen = Vec::new();
            for frame in &crash.failure.frames {
                let shared = frame.arguments.iter().find(|argument| argument.index == 1);
                let Some(Value::Ref(shared)) = shared.map(|argument| argument.value) else {
                    continue;
                };
                if !["check", "main", "lambda$main$0"].contains(&frame.method.as_str()) {
                    assert_eq!(
                        frame.fidelity,
                        Fidelity::Deep,
                        "{}: {}",
                        frame.method,
                        frame.reason
                    );
                    assert_eq!(frame.reason, "", "{}", frame.method);
                    let next = at_entry(crash, frame, shared, "next");
                    let Value::Ref(next) = next else {
                        panic!("{next:?}");
                    };
                    let Value::Int(value) = at_entry(crash, frame, next, "value") else {
                        panic!("no value");
                    };
                    let Value::Ref(count) = at_entry(crash, frame, shared, "count") else {
                        panic!("no count");
                    };
                    let Value::Int(count) = at_entry(crash, frame, count, "value") else {
                        panic!("nothing counted");
                    };
                    seen.push((frame.method.as_str(), value, count));
                }
            }
            assert_eq!(
                seen,
                [
                    ("end", 7, 7),
                    ("raisedWithin", 6, 7),
                    ("raised", 6, 7),
                    ("flaggedWithin", 5, 7),
                    ("flagged", 5, 7),
                    ("lockedWithin", 4, 7),
                    ("locked", 4, 7),
                    ("handedOver", 4, 7),
                    ("handedOver", 3, 7),
                    ("handedOver", 2, 7),
                    ("handedOver", 1, 7),
                    ("handed", 1, 7),
                    ("queued", 0, 7),
                    ("initialized", 0, 7),
                    ("counted", 0, 0),
                    ("joined", 0, 0),
                ],
                "on JDK {} {arguments:?}",
                jdk.version
            );
        }
    }
}

/// A field as it was at a frame's entry.
fn at_entry(
    crash: &hindsight_tracelog::reader::Crash,
    frame: &Frame,
    object: u32,
    field: &str,
) -> Value {
    let mut patch = frame.patch.iter();
    if let Some(patch) = patch.find(|patch| patch.object == object && patch.field == field) {
        return patch.value;
    }
    let stored = crash.object(object).unwrap();
    let class = crash.class(stored.class).unwrap();
    let at = class.fields.iter().position(|known| known.name == field);
    let values = stored.body.fields();
    let values = values.unwrap_or_else(|| panic!("{:?}", stored.body));
    values[at.unwrap()].typed(&class.fields[at.unwrap()].descriptor)
}

#[test]
fn what_is_written_while_a_crash_is_recorded_is_undone() {
    for jdk in jdks() {
        let workplace = record(jdk, "Meanwhile", "copy=deep", &[]);
        let crash = &workplace.crashes()[0];
        let failed = frame(&crash.failure.frames, "fail");
        let label = format!("JDK {}", jdk.version);
        assert_eq!(
            (failed.fidelity, failed.reason.as_str()),
            (Fidelity::Deep, ""),
            "{label}"
        );
        let Value::Ref(holder) = failed.arguments[1].value else {
            panic!("{label}: no holder");
        };
        let Value::Ref(of) = at_entry(crash, failed, holder, "box") else {
            panic!("{label}: no box");
        };
        assert_eq!(
            at_entry(crash, failed, of, "number"),
            Value::Int(0),
            "{label}"
        );
        assert_eq!(at_entry(crash, failed, of, "next"), Value::Null, "{label}");
    }
}

#[test]
fn a_frame_older_than_the_log_says_so() {
    for jdk in jdks() {
        let workplace = record(jdk, "Overrun", "copy=deep,max-writes=1024", &[]);
        let crash = &workplace.crashes()[0];
        let frames = &crash.failure.frames;
        assert_eq!(frame(frames, "inner").fidelity, Fidelity::Deep);
        let outer = frame(frames, "outer");
        assert_eq!(outer.fidelity, Fidelity::Fields);
        assert!(outer.reason.contains("max-writes"), "{}", outer.reason);
        // It still has what it uses itself.
        assert!(outer.patch.iter().any(|patch| patch.field == "used"));
        let shown = Command::new(hindsight())
            .arg("inspect")
            .args(workplace.crash_files())
            .output()
            .unwrap();
        assert!(
            text(&shown.stdout).contains("! degraded to fields: "),
            "{}",
            both(&shown)
        );
        assert_eq!(workplace.run_json()["copy"]["max_writes"], 1024);
    }
}

#[test]
fn what_a_method_writes_again_and_again_takes_no_room() {
    for jdk in jdks() {
        let workplace = record(jdk, "Counted", "copy=deep,max-writes=1024", &[]);
        let crash = &workplace.crashes()[0];
        let frames = &crash.failure.frames;
        for (method, position) in [("inner", 5001), ("middle", 5000), ("outer", 0)] {
            let frame = frame(frames, method);
            assert_eq!(frame.fidelity, Fidelity::Deep, "{method}");
            let position_then = (frame.patch.iter()).find(|patch| patch.field == "position");
            assert_eq!(
                position_then.unwrap().value,
                Value::Int(position),
                "{method}"
            );
        }
    }
}

#[test]
fn what_random_writes_have_changed_is_undone() {
    const FIELDS: [&str; 6] = ["a", "b", "n", "l", "odd", "text"];
    for jdk in jdks() {
        for seed in ["1", "22", "333", "4444"] {
            let workplace = record(jdk, "Together", "copy=deep", &[seed]);
            let crash = &workplace.crashes()[0];
            let text_of = |value: Value| match value {
                Value::Ref(text) => format!("{:?}", crash.object(text).unwrap().body),
                other => format!("{other:?}"),
            };
            let mut runs = 0;
            for frame in crash
                .failure
                .frames
                .iter()
                .filter(|frame| frame.method == "run")
            {
                runs += 1;
                assert_eq!(frame.fidelity, Fidelity::Deep, "{}", frame.reason);
                let mut arguments = frame.arguments.iter();
                let Some(Value::Ref(object)) = arguments.next().map(|argument| argument.value)
                else {
                    panic!("no object");
                };
                let Value::Ref(sum) = at_entry(crash, frame, object, "sum") else {
                    panic!("no object in the object");
                };
                for (field, argument) in FIELDS.iter().zip(arguments.skip(1)) {
                    assert_eq!(
                        text_of(at_entry(crash, frame, sum, field)),
                        text_of(argument.value),
                        "{field} of frame {runs} with seed {seed} on JDK {}",
                        jdk.version
                    );
                }
            }
            assert!(runs > 10, "{runs} frames");
        }
    }
}

#[test]
fn a_write_that_no_probe_sees_is_noticed_where_a_copy_was_made() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "Unseen", "copy=deep", &[]);
    let crash = &workplace.crashes()[0];
    let run = frame(&crash.failure.frames, "run");
    let used: Vec<_> = run.patch.iter().map(|patch| patch.value).collect();
    assert_eq!(used, [Value::Int(1)]);
    assert_eq!(workplace.run_json()["counters"]["writes_not_logged"], 1);
}

/// Makes a plan of classes.
pub(crate) fn plan(workplace: &Workplace, jdk: &Jdk, classes: &Path) -> PathBuf {
    let file = workplace.join("a.plan");
    let made = Command::new(hindsight())
        .arg("plan")
        .arg("--classpath")
        .arg(classes)
        .arg("--out")
        .arg(&file)
        .arg("--jdk")
        .arg(&jdk.home)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", both(&made));
    file
}

#[test]
fn with_a_plan_less_is_copied_and_more_is_right() {
    for jdk in jdks_in_turn() {
        let without = record(jdk, "Planned", "", &[]);
        let verdicts_without = verdicts(jdk, &without);
        for method in ["order", "serve"] {
            assert!(
                !reproduces(&verdicts_without[method]),
                "{verdicts_without:?}"
            );
        }

        let file = plan(&without, jdk, &without.join("classes"));
        let with = record(jdk, "Planned", &format!("plan={}", file.display()), &[]);
        let verdicts_with = verdicts(jdk, &with);
        for method in ["deliver", "order", "serve"] {
            assert!(reproduces(&verdicts_with[method]), "{verdicts_with:?}");
        }
        let counter = |name: &str| with.run_json()["counters"][name].as_u64();
        assert_eq!(counter("classes_by_the_plan"), Some(2));
        assert_eq!(counter("classes_unlike_the_plan"), None);
        let patches = |workplace: &Workplace, method: &str| {
            let crash = workplace.crashes().remove(0);
            frame(&crash.failure.frames, method).patch.len()
        };
        for method in ["order", "serve"] {
            assert_eq!((patches(&without, method), patches(&with, method)), (0, 1));
        }
    }
}

/// A plan of another version of a class, or none, does no harm.
#[test]
fn a_plan_that_does_not_fit_is_left_alone() {
    let jdk = &jdks()[0];
    let other = record(jdk, "Planned", "", &[]);
    let file = plan(&other, jdk, &other.join("classes"));
    let option = format!("plan={}", file.display());
    let mut plan = Plan::decode(&fs::read(&file).unwrap()).unwrap();
    plan.classes[0].crc ^= 1;
    fs::write(&file, plan.encode()).unwrap();
    let unlike = record(jdk, "Planned", &option, &[]);
    assert_eq!(unlike.run_json()["counters"]["classes_unlike_the_plan"], 1);
    let stranger = record(jdk, "Sides", &option, &[]);
    assert!(stranger.run_json()["counters"]["classes_not_in_the_plan"].as_u64() > Some(0));

    let refused = |content: &[u8], what: &str| {
        fs::write(&file, content).unwrap();
        let workplace = Workplace::new("copies-refused");
        let run = workplace
            .java_with_agent(jdk, &option)
            .arg("-version")
            .output()
            .unwrap();
        assert!(!run.status.success());
        let errors = text(&run.stderr);
        assert!(
            errors.contains(what) && errors.contains("a.plan"),
            "{errors}"
        );
    };
    refused(b"something else", "not a Hindsight copy plan");
    refused(&plan.encode()[..40], "damaged");
}

/// What a plan says about a method depends on its callees: if only the callee is of another
/// version, and is hence loaded after its caller got its probes, the caller's frame is not
/// presented as exact.
#[test]
fn frames_by_a_plan_of_another_version_say_so() {
    const PROGRAM: &str = r#"
public class Stale {
    static class Order {
        int sum = 1;
    }
    static class Low {
        static void check(Order order) {
            /*CHANGED*/
            if (order.sum != 1) throw new IllegalStateException("sum");
        }
    }
    static class Later {
        static void run(Order order) {
            if (order.sum == 1) Low.check(order);
        }
    }
    static void begin(Order order) {
        if (order.sum == 1) book(order);
    }
    static void book(Order order) {
        if (order.sum == 1 && Low.class.getName().isEmpty()) return;
        new Low();
        Later.run(order);
    }
    static class Tally {
        int /*WIDER*/ one = 3;
        int two = 4;
    }
    static class Adds {
        static void add(Tally tally) {
            if (tally.one + tally.two > 100) throw new IllegalStateException("tally");
            tally.one++;
            tally.two++;
        }
    }
    static void hand(Tally tally) {
        Adds.add(tally);
        begin(new Order());
    }
    static void told(String text) {
        hand(new Tally());
    }
    public static void main(String[] args) {
        told("x");
    }
}
"#;
    let jdk = &jdks()[0];
    let workplace = Workplace::new("copies-stale");
    let old = workplace.compile_text(jdk, &["--release", "11"], "Stale", PROGRAM);
    let option = format!("plan={}", plan(&workplace, jdk, &old).display());
    let changed = PROGRAM.replace("/*CHANGED*/", "order.sum = 50;");
    let changed = changed.replace("int /*WIDER*/ one", "long one");
    let (_, run) = workplace.run_text(jdk, "11", &option, ("Stale", &changed));
    let crashes = workplace.crashes();
    assert_eq!(crashes.len(), 1, "{}", both(&run));
    let frames = &crashes[0].failure.frames;
    for (method, is_doubted) in [
        ("check", false),
        ("run", false),
        ("book", true),
        ("begin", true),
        ("hand", true),
        ("told", false),
    ] {
        let frame = frame(frames, method);
        let says = frame.reason.contains("plan is of another version");
        assert_eq!(says, is_doubted, "{method}: {}", frame.reason);
        assert_eq!(frame.fidelity == Fidelity::Reference, is_doubted);
    }
    // Its class came when the plan was known to be of another version.
    assert_eq!(frame(frames, "run").patch.len(), 1);
    // What is not there any more to be read takes nothing with it.
    let of_tally = (frame(frames, "hand").patch.iter()).map(|patch| (&*patch.field, patch.value));
    assert_eq!(of_tally.collect::<Vec<_>>(), [("two", Value::Int(4))]);
    let counters = &workplace.run_json()["counters"];
    assert_eq!(counters["classes_unlike_the_plan"], 3);
    assert_eq!(counters["classes_after_one_unlike_the_plan"], 2);
    assert_eq!(counters["frames_by_a_plan_of_another_version"], 3);
    let (_, report) = reported(&mut workplace.junit(jdk, workplace.join("classes")));
    let hints = report["hints"].to_string();
    assert!(hints.contains("hindsight plan"), "{report}");
}

/// The same class is loaded again by another loader, after the plan has turned out to be of another
/// version: its methods keep what their bodies need, which is not what those of the first one hand
/// over.
#[test]
fn a_second_loader_has_probes_without_the_plan_that_is_believed_no_more() {
    const PROGRAM: &str = r#"
import java.net.URL;
import java.net.URLClassLoader;
import java.util.function.IntUnaryOperator;

public class Twice {
    public static class Point implements IntUnaryOperator {
        int x = 1;
        int y = 1000;
        static void bump(Point point) {
            point.x += 1;
        }
        static int length(Point point, int more) {
            bump(point);
            point.y += more;
            if (point.y > 1005) throw new IllegalStateException("long");
            return point.y;
        }
        public int applyAsInt(int more) {
            return length(this, more);
        }
    }
    public static class Changed {
        int value = 1/*CHANGED*/;
    }
    static int run(int more) throws Exception {
        URL[] here = {Twice.class.getProtectionDomain().getCodeSource().getLocation()};
        Class<?> point = new URLClassLoader(here, null).loadClass("Twice$Point");
        return ((IntUnaryOperator) point.getDeclaredConstructor().newInstance()).applyAsInt(more);
    }
    public static void main(String[] args) throws Exception {
        run(0);
        new Changed();
        run(7);
    }
}
"#;
    let jdk = &jdks()[0];
    let workplace = Workplace::new("copies-twice");
    let old = workplace.compile_text(jdk, &["--release", "11"], "Twice", PROGRAM);
    let option = format!("plan={}", plan(&workplace, jdk, &old).display());
    let changed = PROGRAM.replace("/*CHANGED*/", "1");
    let (_, run) = workplace.run_text(jdk, "11", &option, ("Twice", &changed));
    let crashes = workplace.crashes();
    assert_eq!(crashes.len(), 1, "{}", both(&run));
    let frame = frame(&crashes[0].failure.frames, "length");
    let kept: Vec<_> = (frame.patch.iter())
        .map(|patch| (patch.field.as_str(), patch.value))
        .collect();
    assert_eq!(kept, [("y", Value::Int(1000))]);
    let counters = &workplace.run_json()["counters"];
    assert_eq!(counters["classes_after_one_unlike_the_plan"], 1);
}

/// The values of static fields at the failure are set before the call, and restored after it.
#[test]
fn static_state_is_recorded_and_set() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Settings", "", &[]);
        let found = verdicts(jdk, &workplace);
        assert!(reproduces(&found["check"]), "{found:?}");
        let tests = workplace.join("tests/src/test/java/SettingsCrash0001Test.java");
        let tests = fs::read_to_string(tests).unwrap();
        assert!(tests.contains("setStatics()"), "{tests}");
        let failure = &workplace.crashes()[0].failure;
        let names: Vec<_> = failure
            .statics
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        assert_eq!(names, ["last", "ALL"]);
    }
}

/// Fields of enum constants are as at entry, and tests restore the previous values.
#[test]
fn enum_constants_have_state() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Constants", "copy=deep", &[]);
        let crash = &workplace.crashes()[0];
        let frames = &crash.failure.frames;
        for method in ["add", "run"] {
            let frame = frame(frames, method);
            let whole = (Fidelity::Deep, "");
            assert_eq!((frame.fidelity, frame.reason.as_str()), whole, "{method}");
        }
        let run = frame(frames, "run");
        let object = |value: Value| match value {
            Value::Ref(object) => object,
            other => panic!("{other:?} in {crash:?}"),
        };
        let [job, registry] = [0, 1].map(|at| object(run.arguments[at].value));
        let level = object(at_entry(crash, run, job, "level"));
        let weight = at_entry(crash, run, level, "weight");
        let rounds = at_entry(crash, run, registry, "rounds");
        assert_eq!((weight, rounds), (Value::Int(3), Value::Int(2)));

        let found = verdicts(jdk, &workplace);
        assert!(reproduces(&found["add"]), "{found:?}");
        assert!(reproduces(&found["run"]), "{found:?}");
        let tests = workplace.join("tests/src/test/java/ConstantsCrash0001Test.java");
        let tests = fs::read_to_string(tests).unwrap();
        assert!(tests.contains("setStatics()"), "{tests}");
        assert!(tests.contains("weight (at entry) = 3"), "{tests}");

        let shown = Command::new(hindsight())
            .arg("inspect")
            .arg(&workplace.crash_files()[0])
            .output()
            .unwrap();
        let shown = text(&shown.stdout);
        assert!(shown.contains("weight (at entry)"), "{shown}");
    }
}

/// Tests that leave static state behind fail in one JVM, too.
#[test]
fn tests_of_one_suite_do_not_influence_each_other() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Once", "", &[]);
        let found = verdicts(jdk, &workplace);
        for method in ["start", "load", "boot", "main"] {
            assert!(reproduces(&found[method]), "{method}: {found:?}");
            assert!(!found[method].contains("in one JVM"), "{method}: {found:?}");
        }
        let tests = workplace.join("tests/src/test/java/OnceCrash0001Test.java");
        let tests = fs::read_to_string(tests).unwrap();
        let keeps = tests
            .matches("Statics.keep(OnceCrash0001Test.class, ")
            .count();
        assert_eq!(keeps, 4, "{tests}");
    }
}

/// In a run with several crashes, tests keep the state that others need, and no more: not those
/// that leave nothing, nor where it does not help, as with a class that could not be initialised.
#[test]
fn what_does_not_help_is_not_in_a_test() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("copies-Guarded");
    let source = root().join("test-programs/copies/Guarded.java");
    let classes = workplace.compile(jdk, &["--release", "11"], &[source]);
    let run = workplace
        .java_with_agent(jdk, "")
        .arg("-cp")
        .arg(&classes)
        .arg("Guarded")
        .output()
        .expect("java runs");
    assert_eq!(workplace.crash_files().len(), 4, "{}", both(&run));
    let output = workplace.junit(jdk, &classes).output().expect("junit runs");
    let told = text(&output.stdout);
    assert!(output.status.success(), "{}", both(&output));
    let alone: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("in one JVM"))
        .collect();
    assert!(!alone.is_empty(), "{told}");
    for line in alone {
        assert!(line.contains("ExceptionInInitializerError"), "{told}");
    }
    let test = |number: u32| {
        let file = format!("tests/src/test/java/GuardedCrash000{number}Test.java");
        fs::read_to_string(workplace.join(file)).expect("a test")
    };
    assert!(test(1).contains("\"Guarded$Guard\""), "{}", test(1));
    let remark = "// Reproduces in a JVM of its own:";
    assert!(test(3).contains(remark), "{}", test(3));
    assert!(!test(1).contains(remark), "{}", test(1));
    for unconcerned in [2, 3] {
        let source = test(unconcerned);
        assert!(!source.contains("Statics"), "{source}");
    }
    assert!(test(4).contains("\"Guarded$Guard\""), "{}", test(4));
}

/// Static state comes from the crash file although no argument does; if properties suffice, it is
/// left out. Another person's file is not overwritten.
#[test]
fn a_test_has_the_state_that_it_needs() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "Worn", "", &[]);
    let found = verdicts(jdk, &workplace);
    assert!(reproduces(&found["next"]), "{found:?}");
    let state = workplace.join("tests/src/test/resources/crash-0001.hsc");
    assert!(state.is_file());
    let test = workplace.join("tests/src/test/java/WornCrash0001Test.java");
    let text = fs::read_to_string(&test).expect("a test");
    assert!(text.contains(".withStatics()"), "{text}");
    fs::write(&test, "// mine\n").expect("a file");
    let refused = Command::new(hindsight())
        .arg("junit")
        .arg(&workplace.crash_files()[0])
        .arg("--classpath")
        .arg(workplace.join("classes"))
        .arg("--out")
        .arg(workplace.join("tests"))
        .output()
        .expect("hindsight runs");
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        told.contains("WornCrash0001Test.java is there and not ours"),
        "{told}"
    );
    let workplace = record(jdk, "Worn", "", &["x"]);
    let found = verdicts(jdk, &workplace);
    assert!(reproduces(&found["workers"]), "{found:?}");
    assert!(!workplace.join("tests/src/test/resources").exists());
}

/// A key that has changed since it was put into a table is in its old place, and not found by its
/// present hash code.
#[test]
fn keys_that_have_changed_stay_where_they_were() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Changed", "", &[]);
        let found = verdicts(jdk, &workplace);
        assert!(reproduces(&found["length"]), "{found:?}");
    }
}

#[test]
fn a_plan_says_which_static_fields_matter() {
    let jdk = &jdks()[0];
    let without = record(jdk, "Settings", "", &["compute"]);
    assert!(!reproduces(&verdicts(jdk, &without)["compute"]));
    let file = plan(&without, jdk, &without.join("classes"));
    let option = format!("plan={}", file.display());
    let with = record(jdk, "Settings", &option, &["compute"]);
    let found = verdicts(jdk, &with);
    assert!(reproduces(&found["compute"]), "{found:?}");
    let failure = &with.crashes()[0].failure;
    let mut names: Vec<_> = failure
        .statics
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    names.sort_unstable();
    // These are the fields that `main` and its callees may read, without constants.
    assert_eq!(names, ["ALL", "LIMITS", "last", "rounds"]);
    let file = fs::read(&with.crash_files()[0]).unwrap();
    let whole = format!("{:?}", Crash::read(&file).unwrap());
    assert!(!whole.contains("hunter2"));
}

/// The fields that an initialiser reads are stored with all methods that may run it: a later use of
/// a class that has failed only says that it has.
#[test]
fn a_plan_has_what_initialisers_read() {
    const PROGRAM: &str = r#"
public class Started {
    static String text = "1";
    static class Lazy {
        static final int NUMBER = Integer.parseInt(Started.text);
        int divided(int by) {
            return 1 / by;
        }
    }
    static class Service {
        int use(int by) {
            return new Lazy().divided(by);
        }
    }
    public static void main(String[] args) throws Exception {
        text = "x";
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> new Service().use(1));
            thread.start();
            thread.join();
        }
    }
}
"#;
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("copies-started");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Started", PROGRAM);
        let file = plan(&workplace, jdk, &classes);
        let option = format!("plan={}", file.display());
        let (_, run) = workplace.run_text(jdk, "11", &option, ("Started", PROGRAM));
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 2, "{}", both(&run));
        for crash in &crashes {
            let names: Vec<_> = (crash.failure.statics.iter())
                .map(|field| field.name.as_str())
                .collect();
            assert_eq!(names, ["text"]);
        }
        let (output, report) = reported(&mut workplace.junit(jdk, &classes));
        for crash in report["crashes"].as_array().expect("crashes") {
            let mut frames = crash["frames"].as_array().expect("frames").iter();
            let used = frames.find(|frame| frame["method"] == "use");
            let verdict = used.map(|frame| &frame["verdict"]);
            assert_eq!(verdict, Some(&"reproduces".into()), "{}", both(&output));
        }
    }
}
