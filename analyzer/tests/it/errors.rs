//! What is wrong is named, and the exit status tells whose fault it is.

use crate::common::*;
use hindsight_tracelog::VERSION;
use hindsight_tracelog::crash::Value;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

fn sample(dir: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut recording = Recording::new();
    recording.exception("java.lang.Error", Some("m"), &[("A", "m", 1)]);
    let this = recording.instance("A", &[]);
    recording.frame(("A", "m", "()V"), 1, &[(0, "", "LA;", this)]);
    let mut bytes = recording.bytes();
    change(&mut bytes);
    let path = dir.join(name);
    fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

#[track_caller]
fn check<S: AsRef<std::ffi::OsStr>>(
    arguments: impl IntoIterator<Item = S>,
    status: i32,
    parts: &[&str],
) {
    let output = hindsight(arguments);
    let (told, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{told}{errors}");
    for part in parts {
        assert!(
            format!("{told}{errors}").contains(part),
            "no {part:?} in:\n{told}{errors}"
        );
    }
}

#[test]
fn usage() {
    check(["--version"], 0, &["hindsight 0."]);
    check(["--help"], 0, &["inspect", "junit", "Exit status"]);
    check(["trim", "x.hsc"], 2, &["--classpath", "--out"]);
    check(["instrument", "--help"], 0, &["HindsightProbe"]);
    check(["nonsense"], 2, &["nonsense"]);
    check(["inspect"], 2, &["<FILE>"]);
    check(["junit", "x.hsc"], 2, &["--classpath", "--out"]);
    check(["inspect", "--format", "xml", "x"], 2, &["text", "json"]);
}

#[test]
fn the_help_of_each_command_has_examples_and_the_exit_status() {
    let help = text(&hindsight(["--help"]).stdout);
    let commands = help.lines().skip_while(|line| *line != "Commands:");
    let commands = commands.skip(1).take_while(|line| line.starts_with("  "));
    let names: Vec<&str> = commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let example = format!("$ hindsight {name}");
        check([name, "--help"], 0, &["Examples:", &example]);
        let parts = [
            "Exit status:",
            "    0 ",
            "    1 ",
            "    2 if the arguments are wrong",
        ];
        check([name, "--help"], 0, &parts);
    }
}

#[test]
fn crash_files() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    check(
        ["inspect", "/nonexistent.hsc"],
        1,
        &["/nonexistent.hsc", "No such file"],
    );
    check(
        ["inspect".as_ref(), dir.as_os_str()],
        1,
        &["no crash files (crash-*.hsc) in"],
    );
    // Many give each process a directory of its own.
    let below = dir.join("123");
    fs::create_dir(&below).unwrap();
    sample(&below, "crash-0001.hsc", |_| {});
    check(
        ["inspect".as_ref(), dir.as_os_str()],
        0,
        &["123/crash-0001.hsc"],
    );
    fs::remove_dir_all(&below).unwrap();

    let other = dir.join("other.hsc");
    fs::write(&other, "PK...").unwrap();
    check(
        ["inspect".as_ref(), other.as_os_str()],
        1,
        &["other.hsc", "not a Hindsight crash file"],
    );

    let newer = sample(dir, "newer.hsc", |bytes| {
        bytes[8..12].copy_from_slice(&(VERSION + 1).to_le_bytes());
        let crc = crc32fast::hash(&bytes[..12]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    });
    check(
        ["inspect", &newer],
        1,
        &["newer.hsc", "format version 2", "reads up to version 1"],
    );

    let cut = sample(dir, "cut.hsc", |bytes| bytes.truncate(bytes.len() - 30));
    check(["inspect", &cut], 0, &["damaged", "at offset 0x", "A.m"]);
    check(
        ["inspect", "--format", "json", &cut],
        0,
        &["\"whole\": false"],
    );

    let flipped = sample(dir, "flipped.hsc", |bytes| bytes[40] ^= 4);
    check(
        ["inspect", &flipped],
        1,
        &["flipped.hsc", "checksum", "offset 0x10"],
    );

    let part = sample(dir, "crash-0001.hsc.part", |_| {});
    check(["inspect", &part], 0, &["half-written"]);
    // One bad file does not hide the others.
    let good = sample(dir, "crash-0002.hsc", |_| {});
    check(
        ["inspect", &newer, &good],
        1,
        &["format version", "java.lang.Error: m"],
    );
    check(
        ["inspect", &good, "/nope"],
        1,
        &["java.lang.Error: m", "failed to read /nope"],
    );
    check(
        ["inspect".as_ref(), dir.as_os_str()],
        0,
        &["crash-0001.hsc.part", "crash-0002.hsc"],
    );
    check(
        ["inspect", &good, "--frame", "99", "--frame", "0"],
        1,
        &["A.m", "crash-0002.hsc has no frame 99: it has frame 0 only"],
    );
    let both = ["inspect", "--format", "json", &dir.display().to_string()].map(str::to_owned);
    check(&both, 0, &["\"schema\": \"hindsight.crash_list/1\""]);

    // Machines are told of it where they read of the others.
    let none = dir.join("none").display().to_string();
    fs::create_dir(&none).unwrap();
    let document = |arguments: &[&str]| {
        let output = hindsight(arguments);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        told
    };
    let [list, reviews] = [&["inspect"][..], &["inspect", "--review"]].map(|command| {
        let files = [
            "--format",
            "json",
            good.as_str(),
            newer.as_str(),
            none.as_str(),
        ];
        document(&[command, &files].concat())
    });
    let out = dir.join("out").display().to_string();
    let junit = [
        "junit", "--format", "json", &good, &newer, &none, "--out", &out,
    ];
    let junit = document(
        &[
            &junit[..],
            &["--classpath", &none, "--no-run", "--jdk", &none],
        ]
        .concat(),
    );
    for (document, read) in [(list, "crashes"), (reviews, "files"), (junit, "crashes")] {
        assert_eq!(
            document[read].as_array().map(Vec::len),
            Some(1),
            "{document}"
        );
        let errors = document["errors"].as_array().unwrap();
        let [one, two] = [0, 1].map(|at| errors[at].as_str().unwrap_or_default());
        assert!(one.contains("newer.hsc"), "{errors:?}");
        assert!(two.contains("no crash files"), "{errors:?}");
    }
    let refused = document(&["attach", "--format", "json", "4294967295"]);
    assert_eq!(refused["status"], "refused");
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.starts_with("there is no process"), "{reason}");
}

#[test]
fn class_path_and_jdk() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let good = sample(dir, "crash-0001.hsc", |_| {});
    let out = dir.join("out").display().to_string();
    let junit = ["junit", good.as_str(), "--out", out.as_str()].map(str::to_owned);
    let with = |extra: &[&str]| -> Vec<String> {
        junit
            .iter()
            .cloned()
            .chain(extra.iter().map(|text| (*text).to_owned()))
            .collect()
    };
    check(
        with(&["--classpath", "/no/such.jar"]),
        1,
        &["class path entry /no/such.jar"],
    );
    let jar = dir.join("bad.jar").display().to_string();
    fs::write(&jar, "no jar").unwrap();
    check(with(&["--classpath", &jar]), 1, &["bad.jar as a jar"]);
    let empty = dir.display().to_string();
    check(
        with(&["--classpath", &empty, "--jdk", "/no/jdk"]),
        1,
        &["/no/jdk (--jdk) is not a JDK"],
    );

    let jre = dir.join("jre");
    fs::create_dir_all(jre.join("bin")).unwrap();
    fs::write(jre.join("bin/java"), "").unwrap();
    let jre = jre.display().to_string();
    check(
        with(&["--classpath", &empty, "--jdk", &jre]),
        1,
        &["no bin/javac", "not a JRE"],
    );
    fs::write(dir.join("jre/bin/javac"), "").unwrap();
    fs::write(dir.join("jre/release"), "JAVA_VERSION=\"1.8.0_452\"\n").unwrap();
    check(
        with(&["--classpath", &empty, "--jdk", &jre]),
        1,
        &["is a JDK 8", "11 or newer"],
    );
    check(
        with(&["--classpath", &empty, "--timeout", "0"]),
        2,
        &["--timeout"],
    );
    check(
        with(&["--classpath", &empty, "--framework", "testng"]),
        2,
        &["junit5", "junit4"],
    );
}

#[test]
fn a_blocked_output_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let good = sample(dir.path(), "crash-0001.hsc", |_| {});
    let blocked = dir.path().join("file");
    fs::write(&blocked, "").unwrap();
    let out = blocked.display().to_string();
    let classpath = dir.path().display().to_string();
    let arguments = [
        "junit",
        &good,
        "--classpath",
        &classpath,
        "--out",
        &out,
        "--keep-all",
    ];
    check(arguments, 1, &["failed to write", "file is no directory"]);
}

#[test]
fn crash_files_among_the_tests_stay_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let program = "class A { static void m(int n) { throw new Error(); } }\n";
    let classes = compile(dir.path(), &[("A.java", program)]);
    let mut recording = Recording::new();
    recording.exception("java.lang.Error", None, &[("A", "m", 1)]);
    recording.frame(("A", "m", "(I)V"), 8, &[(1, "n", "I", Value::Int(7))]);
    let tests = dir.path().join("tests");
    let among = tests.join("src/test/resources/crash-0001.hsc");
    recording.write(&among);
    let other = dir.path().join("other/crash-0001.hsc");
    recording.meta.pid += 1;
    recording.write(&other);
    let before = fs::read(&among).unwrap();
    let junit = |files: &[&Path]| -> Vec<OsString> {
        let mut arguments = vec![OsString::from("junit")];
        arguments.extend(files.iter().map(|file| file.into()));
        for argument in [
            "--no-run".as_ref(),
            "--classpath".as_ref(),
            classes.as_os_str(),
        ] {
            arguments.push(argument.to_owned());
        }
        arguments.extend(["--out".into(), tests.clone().into()]);
        arguments
    };
    // Its test needs nothing of it.
    check(junit(&[&among]), 0, &["ACrash0001Test"]);
    assert_eq!(fs::read(&among).unwrap(), before);
    // The copy of the other one would have its name, and has another.
    check(
        junit(&[&other, &among]),
        0,
        &["ACrash0001No2Test", "ACrash0001Test"],
    );
    assert_eq!(fs::read(&among).unwrap(), before);
}

#[test]
fn who_reads_no_errors_gets_the_results() {
    let dir = tempfile::tempdir().unwrap();
    let good = sample(dir.path(), "crash-0001.hsc", |_| {});
    sample(dir.path(), "crash-0002.hsc", |bytes| bytes.truncate(3));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_hindsight"))
        .arg("inspect")
        .arg(dir.path())
        .stderr(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains(&good));
}
