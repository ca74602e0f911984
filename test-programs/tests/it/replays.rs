//! What becomes of frames whose state is all there, and whose class, trace or
//! thread is out of the ordinary.

use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, root, text};
use serde_json::Value;
use std::process::Command;

/// Records a program of `programs/`, makes tests with these options, and hands
/// over their frames crash by crash.
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
    let output = workplace
        .junit(jdk, &classes)
        .args(["--format", "json"])
        .args(options)
        .output()
        .unwrap();
    let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap_or_default();
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
    for jdk in jdks() {
        for values in ["built", "loaded"] {
            let frames = frames(jdk, "Zones", &[], &["--values", values]);
            let reason = "ArrayIndexOutOfBoundsException in Zones.field:36";
            for method in ["field", "parse", "main"] {
                check(jdk, &frames, method, "reproduces", reason);
            }
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

/// The JVM writes a trace down when it is asked for, and nobody has asked for this one.
#[test]
fn exceptions_that_are_passed_have_their_stack_traces() {
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("replays-trace-{}", jdk.version));
        let source = root().join("test-programs/programs/Handled.java");
        let classes = workplace.compile(jdk, &["-g"], &[source]);
        let mut java = workplace.java_with_agent(jdk, "");
        let run = java.arg("-cp").arg(&classes).arg("Handled").output();
        assert_eq!(run.expect("java runs").status.code(), Some(1));
        let inspected = Command::new(hindsight())
            .arg("inspect")
            .arg(&workplace.crash_files()[0])
            .output()
            .expect("hindsight runs");
        let told = text(&inspected.stdout);
        let (_, argument) = told.split_once("failure = ").expect(&told);
        for element in [
            "depth(Handled.java:5)",
            "depth(Handled.java:7)",
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
