//! The copy strategies: each yields tests that the cheaper ones do not.
//!
//! - [`memory`] is what copies take, [`plans`] says what need not be copied, and [`static_state`] is
//!   copied as well.

mod memory;
pub(crate) mod plans;
mod static_state;

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
