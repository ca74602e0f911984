//! `hindsight crashes`: groups over runs and machines.

use crate::common::*;
use hindsight_tracelog::crash::*;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;

/// A crash of `exception` in the method that `frames` begins with.
fn crash(exception: &str, frames: &[&str], version: &str, minute: i64) -> Recording {
    let mut r = Recording::new();
    let stack: Vec<(&str, &str, i32)> = frames
        .iter()
        .map(|name| name.rsplit_once('.').expect("class.method"))
        .map(|(class, method)| (class, method, 7))
        .collect();
    r.exception(exception, Some("what happened"), &stack);
    for (class, method, line) in stack {
        r.failure.frames.push(Frame {
            class: class.into(),
            method: method.into(),
            line: Some(line),
            fidelity: if class.starts_with("java.") {
                Fidelity::None
            } else {
                Fidelity::Fields
            },
            ..Frame::default()
        });
    }
    r.meta.program_version = version.into();
    r.meta.time_ms = 1_700_000_000_000 + minute * 60_000;
    r
}

/// Three runs on two machines.
fn runs(dir: &Path) {
    let order = [
        "java.util.ArrayList.get",
        "shop.Order.line",
        "shop.Order.lambda$total$1",
    ];
    let later = [
        "java.util.ArrayList.get",
        "shop.Order.line",
        "shop.Order.lambda$total$2",
    ];
    let place = |name: &str| {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).unwrap();
        path
    };
    crash("java.lang.IndexOutOfBoundsException", &order, "1.2", 1)
        .write(&place("a/run-1/crash-0001.hsc"));
    crash("java.lang.Error", &["shop.Main.main"], "1.2", 2).write(&place("a/run-1/crash-0002.hsc"));
    let run =
        json!({"schema": "hindsight.run/1", "crashes": [{"file": "crash-0001.hsc", "count": 41}]});
    fs::write(place("a/run-1/run.json"), run.to_string()).unwrap();
    crash("java.lang.IndexOutOfBoundsException", &later, "1.3", 3)
        .write(&place("a/run-2/crash-0001.hsc"));
    crash("java.lang.IndexOutOfBoundsException", &later[..2], "1.3", 9)
        .write(&place("b/crash-0001.hsc"));
}

fn groups(arguments: &[&Path]) -> Json {
    let mut all: Vec<std::ffi::OsString> = vec!["crashes".into(), "--format".into(), "json".into()];
    all.extend(arguments.iter().map(|path| path.as_os_str().to_owned()));
    let output = hindsight(all);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["schema"], "hindsight.crashes/1");
    document["groups"].clone()
}

#[test]
fn crashes_are_grouped_over_machines_and_versions() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    let all = groups(&[dir]);
    assert_eq!(all.as_array().map(Vec::len), Some(3), "{all:#}");
    let first = &all[0];
    assert_eq!(first["exception"], "java.lang.IndexOutOfBoundsException");
    assert_eq!(
        first["frames"],
        json!(["shop.Order.line", "shop.Order.lambda$total"])
    );
    assert_eq!(first["count"], 42);
    assert_eq!(first["files"], 2);
    assert_eq!(first["versions"], json!({"1.2": 41, "1.3": 1}));
    assert_eq!(first["first_ms"], 1_700_000_060_000_i64);
    assert_eq!(first["last_ms"], 1_700_000_180_000_i64);
    // Equally good ones: the later.
    let best = first["best"]["file"].as_str().expect("a file");
    assert!(best.ends_with("a/run-2/crash-0001.hsc"), "{best}");
    assert_eq!(first["best"]["captured"], 2);

    // Fewer methods make fewer groups.
    let arguments = ["crashes", "--frames", "1", &dir.display().to_string()].map(str::to_owned);
    let shown = hindsight(arguments);
    let shown = text(&shown.stdout);
    assert!(
        shown.starts_with("2 groups of 44 crashes (4 files)"),
        "{shown}"
    );
    assert!(shown.contains("at shop.Order.line"), "{shown}");
    assert!(shown.contains("versions  1.2 (41), 1.3 (2)"), "{shown}");
}

#[test]
fn results_merge_in_any_order_and_by_parts() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    let whole = groups(&[dir]);
    let part = |name: &str, of: &[&str]| {
        let paths: Vec<_> = of.iter().map(|of| dir.join(of)).collect();
        let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
        let document = json!({"schema": "hindsight.crashes/1", "groups": groups(&paths)});
        let path = dir.join(name);
        fs::write(&path, document.to_string()).unwrap();
        path
    };
    let one = part("1.json", &["a/run-1"]);
    let two = part("2.json", &["a/run-2"]);
    let three = part("3.json", &["b"]);
    assert_eq!(groups(&[&one, &two, &three]), whole);
    assert_eq!(groups(&[&three, &one, &two]), whole);
    let pair = part("pair.json", &["2.json", "3.json"]);
    assert_eq!(groups(&[&pair, &one]), whole);
    assert_eq!(groups(&[&dir.join("b"), &one, &two]), whole);
    // What is in a result, too, counts once; a result of before knows less.
    assert_eq!(groups(&[dir, &one]), whole);
    assert_eq!(groups(&[&pair, &dir.join("b"), &one, &three]), whole);
    let run = dir.join("a/run-1/run.json");
    let told = fs::read_to_string(&run).unwrap();
    fs::write(&run, told.replace("41", "44")).unwrap();
    let later = groups(&[dir]);
    assert_eq!(later[0]["count"], 45);
    assert_eq!(groups(&[&one, dir]), later);
    assert_eq!(groups(&[&dir.join("a"), &pair, &one]), later);
    fs::write(&run, told).unwrap();
    // A file that is named twice counts once, and so does a copy of it.
    let copy = dir.join("c/tests/crash-0001.hsc");
    fs::create_dir_all(dir.join("c/tests")).unwrap();
    fs::copy(dir.join("a/run-1/crash-0001.hsc"), &copy).unwrap();
    assert_eq!(groups(&[dir]), whole);
    fs::remove_file(copy).unwrap();
    assert_eq!(
        groups(&[dir, &dir.join("b/crash-0001.hsc"), &dir.join("b")]),
        whole
    );
}

/// What a run has not stored may be more of any group, and is told; in results, too.
#[test]
fn what_was_not_stored_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    let run = json!({
        "pid": 7,
        "crashes": [{"file": "crash-0001.hsc", "count": 41}],
        "counters": {"crashes_beyond_per_minute": 205, "crashes_beyond_max_crashes": 3, "crashes_repeated": 40},
        "cpu": {"failures_not_recorded": 2},
    });
    fs::write(dir.join("a/run-1/run.json"), run.to_string()).unwrap();
    let result = dir.join("r.json");
    let made = hindsight([
        "crashes".into(),
        "--format".into(),
        "json".into(),
        dir.join("a"),
    ]);
    fs::write(&result, &made.stdout).unwrap();
    let document: Json = serde_json::from_slice(&made.stdout).expect("JSON");
    assert_eq!(document["not_stored"], json!({"7/0": 210}));
    for inputs in [vec![dir], vec![&result, dir], vec![&dir.join("b"), &result]] {
        let inputs = inputs.into_iter().map(Path::as_os_str);
        let shown = hindsight(std::iter::once("crashes".as_ref()).chain(inputs));
        let shown = text(&shown.stdout);
        let told = "3 groups of 44 crashes (4 files)\nand 210 more that were not stored";
        assert!(shown.starts_with(told), "{shown}");
        assert!(
            shown.contains("at least 42 x java.lang.IndexOut"),
            "{shown}"
        );
        assert!(shown.contains("at least  1 x java.lang.Error"), "{shown}");
        assert!(shown.contains("\n\n 1 x java.lang.IndexOut"), "{shown}");
    }
}

/// With `mode=second-chance`, a crash is stored again when more of its frames are known; a dump of
/// all threads is another one each time.
#[test]
fn each_dump_of_a_second_chance_run_counts() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let files = [
        ("java.lang.Error", 1),
        ("java.lang.Error", 2),
        (THREAD_STATE, 3),
        (THREAD_STATE, 4),
    ];
    for (at, (exception, minute)) in files.into_iter().enumerate() {
        let mut r = crash(exception, &["shop.Main.main"], "", minute);
        r.meta.started_ms = 17;
        r.write(&dir.join(format!("crash-000{}.hsc", at + 1)));
    }
    let run = json!({
        "schema": "hindsight.run/1",
        "started_ms": 17,
        "options": {"mode": "second-chance"},
        "crashes": [{"file": "crash-0002.hsc", "count": 5}],
    });
    fs::write(dir.join("run.json"), run.to_string()).unwrap();
    let made = hindsight([
        "crashes".as_ref(),
        "--format=json".as_ref(),
        dir.as_os_str(),
    ]);
    let document: Json = serde_json::from_slice(&made.stdout).expect("JSON");
    let groups = document["groups"].as_array().unwrap();
    let counts: Vec<_> = groups
        .iter()
        .map(|group| (&group["exception"], &group["count"]))
        .collect();
    assert_eq!(
        counts,
        [
            (&json!("java.lang.Error"), &json!(5)),
            (&json!(THREAD_STATE), &json!(2))
        ]
    );
}

/// In containers, most processes have one number, and replicas may start in one millisecond.
#[test]
fn runs_are_told_apart_by_what_they_call_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    for run in ["run-1", "run-2"] {
        let told = json!({
            "run": run,
            "pid": 1,
            "started_ms": 17,
            "counters": {"crashes_beyond_per_minute": 5},
        });
        fs::write(dir.join("a").join(run).join("run.json"), told.to_string()).unwrap();
    }
    let made = hindsight([
        "crashes".as_ref(),
        "--format=json".as_ref(),
        dir.as_os_str(),
    ]);
    let document: Json = serde_json::from_slice(&made.stdout).expect("JSON");
    assert_eq!(document["not_stored"], json!({"run-1": 5, "run-2": 5}));
}

#[test]
fn what_cannot_be_read_is_named_and_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    fs::write(dir.join("a/crash-0009.hsc"), "PK...").unwrap();
    let output = hindsight(["crashes".as_ref(), dir.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("crash-0009.hsc"),
        "{}",
        text(&output.stderr)
    );
    assert!(
        text(&output.stdout).starts_with("3 groups"),
        "{}",
        text(&output.stdout)
    );

    let other = dir.join("other.json");
    fs::write(&other, r#"{"schema": "other/1", "groups": []}"#).unwrap();
    let output = hindsight(["crashes".as_ref(), other.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("other/1"),
        "{}",
        text(&output.stderr)
    );

    let empty = dir.join("empty");
    fs::create_dir(&empty).unwrap();
    // Where nothing has failed there is nothing wrong; a directory that is not there is.
    for (other, code) in [(&empty, 0), (&dir.join("nowhere"), 1)] {
        let whole = dir.join("b");
        let output = hindsight(["crashes".as_ref(), other.as_os_str(), whole.as_os_str()]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(&other.display().to_string()));
        assert!(
            text(&output.stdout).contains("group"),
            "{}",
            text(&output.stdout)
        );
    }
    // What the run says of why there are none.
    let run = |options: &str, counters: &str| {
        let run = format!(r#"{{"options": {{{options}}}, "counters": {{{counters}}}}}"#);
        fs::write(empty.join("run.json"), run).unwrap();
        let output = hindsight(["crashes".as_ref(), empty.as_os_str()]);
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let told = run("", "");
    assert!(told.contains("no crash files"), "{told}");
    assert!(!told.contains("run.json"), "{told}");
    let told = run(r#""include": "com.nope.**""#, r#""classes_loaded": 7"#);
    let why = "by its run.json, no class that was loaded matches include=com.nope.**";
    assert!(told.contains(why), "{told}");
    let early = r#""classes_left_alone:loaded before the agent": 2"#;
    let told = run(r#""include": "java.util.*""#, early);
    assert!(told.contains("was loaded before the agent"), "{told}");
    let told = run(
        r#""report": "exception:a.Failure""#,
        r#""classes_instrumented": 7, "exceptions_narrowed_away": 2"#,
    );
    let why = "2 failures were of no class that the exception: of report=exception:a.Failure names";
    assert!(told.contains(why), "{told}");
    let rules = |rules: &str| {
        let run = format!(r#"{{"options": {{}}, "rules": [{rules}], "counters": {{}}}}"#);
        fs::write(empty.join("run.json"), run).unwrap();
        text(&hindsight(["crashes".as_ref(), empty.as_os_str()]).stderr)
    };
    let good = r#"{"rule": "caught:a.B.handle", "methods": 1}"#;
    let typo = r#"{"rule": "caught:a.B.handl", "methods": 0}"#;
    assert!(!rules(good).contains("run.json"));
    let told = rules(&format!("{good}, {typo}"));
    let why =
        "by its run.json, no method of a class that was loaded matches report=caught:a.B.handl\n";
    assert!(told.ends_with(why), "{told}");
    // Also where other rules have named what failed.
    let recorded = dir.join("b");
    let run = format!(r#"{{"rules": [{good}, {typo}], "crashes": []}}"#);
    fs::write(recorded.join("run.json"), run).unwrap();
    for (quiet, lines) in [(None, 1), (Some("--quiet"), 0)] {
        let arguments = [Some("crashes"), quiet, recorded.to_str()];
        let output = hindsight(arguments.into_iter().flatten());
        let told = text(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert_eq!(told.lines().count(), lines, "{told}");
        assert_eq!(
            told.contains("matches report=caught:a.B.handl\n"),
            lines == 1,
            "{told}"
        );
    }
    // One that goes on, or was killed, has not counted.
    let begun = r#"{"ended_ms": null, "options": {"report": "caught:a.B.handle"}, "rules": [{"rule": "caught:a.B.handle", "methods": 0}], "counters": {}}"#;
    fs::write(empty.join("run.json"), begun).unwrap();
    let output = hindsight(["crashes".as_ref(), empty.as_os_str()]);
    let told = text(&output.stderr);
    assert!(told.contains("still runs or was killed"), "{told}");
    assert!(!told.contains("matches"), "{told}");
}

#[test]
fn a_link_that_leads_nowhere_is_named_and_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    let link = dir.join("c/crash-0001.hsc");
    fs::create_dir(dir.join("c")).unwrap();
    std::os::unix::fs::symlink(dir.join("nowhere"), &link).unwrap();
    for command in ["crashes", "inspect", "view"] {
        let output = hindsight([command.as_ref(), dir.as_os_str()]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        let error = text(&output.stderr);
        assert!(error.contains(&link.display().to_string()), "{error}");
        assert!(!output.stdout.is_empty(), "{command}");
    }
}

#[test]
fn runs_that_cannot_be_read_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    runs(dir);
    let run = dir.join("a/run-1/run.json");
    let told = fs::read_to_string(&run).unwrap();
    for (told, why) in [
        (&told[..told.len() / 2], "EOF"),
        (
            r#"{"schema": "hindsight.run/9", "crashes": []}"#,
            "hindsight.run/9",
        ),
    ] {
        fs::write(&run, told).unwrap();
        let output = hindsight(["crashes".as_ref(), dir.as_os_str()]);
        assert_eq!(output.status.code(), Some(1));
        let error = text(&output.stderr);
        let is_named = error.contains(why) && error.contains(&run.display().to_string());
        assert!(is_named, "{error}");
        assert!(
            text(&output.stdout).contains("at least "),
            "{}",
            text(&output.stdout)
        );
    }
}

/// Of two files that have captured as much, the one with static fields is the better, or with less left out.
#[test]
fn the_best_file_has_most_of_the_state() {
    let dir = tempfile::tempdir().unwrap();
    let recording = || {
        let mut r = crash("java.lang.Error", &["shop.Main.main"], "", 1);
        let text = r.string("a text that has its room in the file");
        (r, text)
    };
    let (mut with_statics, value) = recording();
    with_statics.failure.statics.push(StaticField {
        owner: "shop.Main".into(),
        name: "text".into(),
        descriptor: "Ljava/lang/String;".into(),
        access: 8,
        value,
    });
    with_statics.write(&dir.path().join("with-statics.hsc"));
    let (plain, _) = recording();
    plain.write(&dir.path().join("plain.hsc"));
    let (mut redacted, _) = recording();
    let class = redacted.class("java.lang.String", &[]);
    redacted.object(class, Body::Hole("redacted, empty".into()));
    redacted.meta.time_ms += 1;
    redacted.write(&dir.path().join("redacted.hsc"));
    for (names, expected) in [
        (["plain.hsc", "with-statics.hsc"], "with-statics.hsc"),
        (["redacted.hsc", "plain.hsc"], "plain.hsc"),
    ] {
        let paths = names.map(|name| dir.path().join(name));
        let found = groups(&[&paths[0], &paths[1]]);
        let best = found[0]["best"]["file"].as_str().expect("a file");
        assert!(best.ends_with(expected), "{best}");
    }
}
