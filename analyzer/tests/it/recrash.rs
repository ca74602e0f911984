//! The example of ReCrash: `hexAbs(0)` fails in `toUpperCase(null)`. Two tests
//! result, and only the one for `hexAbs` goes green when `hexAbs` is fixed.

use crate::common::*;
use hindsight_tracelog::crash::{THREAD_STATE, ThreadState, Value};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

pub const RANDOM_CRASH: &str = "\
public class RandomCrash {
    public String hexAbs(int x) {
        String result = null;
        if (x > 0) result = Integer.toHexString(x);
        else if (x < 0) result = Integer.toHexString(-x);
        return toUpperCase(result);
    }

    public String toUpperCase(String s) {
        return s.toUpperCase();
    }
}
";

pub fn recording() -> Recording {
    recording_of("RandomCrash")
}

/// The same of a class with another name.
pub fn recording_of(class: &str) -> Recording {
    let mut recording = Recording::new();
    recording.exception(
        "java.lang.NullPointerException",
        Some("Cannot invoke \"String.toUpperCase()\" because \"s\" is null"),
        &[(class, "toUpperCase", 10), (class, "hexAbs", 6)],
    );
    let this = recording.instance(class, &[]);
    let own = &format!("L{class};");
    recording
        .frame(
            (
                class,
                "toUpperCase",
                "(Ljava/lang/String;)Ljava/lang/String;",
            ),
            1,
            &[
                (0, "", own, this),
                (1, "s", "Ljava/lang/String;", Value::Null),
            ],
        )
        .line = Some(10);
    recording
        .frame(
            (class, "hexAbs", "(I)Ljava/lang/String;"),
            1,
            &[(0, "", own, this), (1, "x", "I", Value::Int(0))],
        )
        .line = Some(6);
    recording
}

fn emit(dir: &Path, framework: &str) -> (String, String) {
    let classes = compile(dir, &[("RandomCrash.java", RANDOM_CRASH)]);
    recording().write(&dir.join("crash-0001.hsc"));
    let output = hindsight([
        "junit".as_ref(),
        dir.join("crash-0001.hsc").as_os_str(),
        "--classpath".as_ref(),
        classes.as_os_str(),
        "--out".as_ref(),
        dir.join("out").as_os_str(),
        "--framework".as_ref(),
        framework.as_ref(),
    ]);
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}{}", text(&output.stderr));
    let source =
        fs::read_to_string(dir.join("out/src/test/java/RandomCrashCrash0001Test.java")).unwrap();
    (source, told.replace(&dir.display().to_string(), "DIR"))
}

#[test]
fn junit5() {
    let dir = tempfile::tempdir().unwrap();
    let (source, told) = emit(dir.path(), "junit5");
    check_golden("RandomCrashCrash0001Test.junit5.java", &source);
    check_golden("recrash.report.txt", &told);
    // What can be built needs neither the library nor the crash file.
    for file in ["lib", "src/test/resources"] {
        assert!(!dir.path().join("out").join(file).exists(), "{file}");
    }
}

#[test]
fn junit4() {
    let dir = tempfile::tempdir().unwrap();
    let (source, _) = emit(dir.path(), "junit4");
    check_golden("RandomCrashCrash0001Test.junit4.java", &source);
}

/// What threads were doing is no failure that a test could reproduce.
#[test]
fn a_dump_of_all_threads_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let classes = compile(dir, &[("RandomCrash.java", RANDOM_CRASH)]);
    recording().write(&dir.join("crash-0001.hsc"));
    let mut dump = Recording::new();
    dump.exception(THREAD_STATE, None, &[("RandomCrash", "main", 1)]);
    dump.failure.threads = vec![ThreadState::default()];
    dump.write(&dir.join("crash-0002.hsc"));
    let out = dir.join("out");
    let output = hindsight([
        "junit".as_ref(),
        dir.as_os_str(),
        "--classpath".as_ref(),
        classes.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
        "--format".as_ref(),
        "json".as_ref(),
    ]);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report["crashes"][0]["threads"], Json::Null);
    assert_eq!(report["crashes"][1]["threads"], 1);
}
