//! `hindsight trim`: what is cut away is gone, and what is kept does the same.

use crate::common::*;
use hindsight_tracelog::crash::*;
use hindsight_tracelog::reader::Crash;
use serde_json::Value as Json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const PROGRAM: &str = "\
class Program {
    String text;
    static void inner(Program program, String key) {
        if (\"needed\".equals(program.text)) throw new IllegalStateException(key);
    }
    static void outer(StringBuilder dropped) { inner(null, null); }
    static void mode() {
        if (\"fast\".equals(System.getProperty(\"program.mode\"))) throw new IllegalStateException();
    }
}
";

/// Frame 0 needs two strings, frame 1 a third and passes alone, frame 2 a
/// system property.
fn recording() -> Recording {
    let mut r = Recording::new();
    r.meta.properties = vec![("program.mode".into(), "fast".into())];
    let inner = ("Program", "inner", line_of(PROGRAM, "needed"));
    r.exception("java.lang.IllegalStateException", Some("key"), &[inner]);
    let mode = ("Program", "mode", line_of(PROGRAM, "fast"));
    r.exception("java.lang.IllegalStateException", Some("other"), &[mode]);
    let dropped = r.string("dropped secret");
    let late = r.string("late");
    let needed = r.string("needed");
    let key = r.string("key");
    let program = r.instance("Program", &[("text", "Ljava/lang/String;", late)]);
    let Value::Ref(number) = program else {
        unreachable!()
    };
    let frame = r.frame(
        ("Program", "inner", "(LProgram;Ljava/lang/String;)V"),
        8,
        &[
            (1, "program", "LProgram;", program),
            (2, "key", "Ljava/lang/String;", key),
        ],
    );
    frame.patch.push(Patch {
        object: number,
        owner: "Program".into(),
        field: "text".into(),
        descriptor: "Ljava/lang/String;".into(),
        index: None,
        value: needed,
    });
    r.frame(
        ("Program", "outer", "(Ljava/lang/StringBuilder;)V"),
        8,
        &[(1, "dropped", "Ljava/lang/StringBuilder;", dropped)],
    );
    r.frame(("Program", "mode", "()V"), 8, &[]).exception = 1;
    r
}

fn trim(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let classes = compile(dir, &[("Program.java", PROGRAM)]);
    let file = dir.join("crash-0001.hsc");
    recording().write(&file);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mut all = vec![
        "trim".to_owned(),
        file.display().to_string(),
        "--classpath".to_owned(),
        classes.display().to_string(),
    ];
    all.extend(
        arguments
            .iter()
            .map(|argument| argument.replace("DIR", &dir.display().to_string())),
    );
    let output = hindsight(all);
    let told = |bytes: &[u8]| text(bytes).replace(&dir.display().to_string(), "DIR");
    (
        output.status.code().unwrap(),
        told(&output.stdout),
        told(&output.stderr),
    )
}

/// All that a file says of its strings and arguments.
fn content(path: &Path) -> (Crash, String) {
    let crash = Crash::read(&fs::read(path).unwrap()).unwrap();
    assert!(crash.is_whole());
    let told = format!("{crash:?}");
    (crash, told)
}

#[test]
fn one_frame_keeps_what_it_saw() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [
        "--frames",
        "0",
        "--out",
        "DIR/small.hsc",
        "--format",
        "json",
    ];
    let (status, told, errors) = trim(dir.path(), &arguments);
    assert_eq!(status, 0, "{told}{errors}");
    let json: Json = serde_json::from_str(&told).unwrap();
    assert_eq!(json["schema"], "hindsight.trim/1");
    assert_eq!(json["same"], true);
    assert_eq!(json["properties"], false);
    assert_eq!(json["frames"][0]["after"], "reproduces");
    assert_eq!(json["before"]["objects"], 5);
    assert_eq!(json["after"]["objects"], 3);
    let small = dir.path().join("small.hsc");
    let mode = fs::metadata(&small).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (crash, told) = content(&small);
    for gone in ["dropped", "late", "fast", "--password", "other"] {
        assert!(!told.contains(gone), "{gone} in {told}");
    }
    assert!(told.contains("needed") && told.contains("key"), "{told}");
    assert_eq!(crash.failure.frames.len(), 3);
}

/// Where nothing reproduces, that it does the same proves nothing.
#[test]
fn what_cannot_be_tried_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let file = dir.path().join("crash-0001.hsc");
    recording().write(&file);
    let small = dir.path().join("small.hsc");
    let output = hindsight([
        "trim".as_ref(),
        file.as_os_str(),
        "--frames".as_ref(),
        "0".as_ref(),
        "--classpath".as_ref(),
        empty.as_os_str(),
        "--out".as_ref(),
        small.as_os_str(),
    ]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("nothing would be proved"), "{errors}");
    let why = "frame 0: unsupported, its class is not on the class path";
    assert!(errors.contains(why), "{errors}");
    assert!(!small.exists());
}

#[test]
fn what_reproduces_is_kept_unless_told() {
    let dir = tempfile::tempdir().unwrap();
    let (status, told, errors) = trim(dir.path(), &["--out", "DIR/small.hsc"]);
    assert_eq!(status, 0, "{told}{errors}");
    let line = |start: &str| told.lines().find(|line| line.trim().starts_with(start));
    assert!(
        line("#0").unwrap().ends_with("reproduces as before"),
        "{told}"
    );
    assert!(line("#1").is_none(), "{told}");
    assert!(
        line("#2").unwrap().ends_with("reproduces as before"),
        "{told}"
    );
    assert!(told.contains("system properties are kept"), "{told}");
    assert!(told.contains("DIR/small.hsc: "), "{told}");
    let (crash, _) = content(&dir.path().join("small.hsc"));
    assert_eq!(crash.meta.properties.len(), 1);
}

#[test]
fn tests_are_chosen_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let name = "ProgramCrash0001Test#mode_frame2";
    // A name that directories of ours have, too.
    let (status, told, errors) = trim(dir.path(), &["--tests", name, "--out", "DIR/tests"]);
    assert_eq!(status, 0, "{told}{errors}");
    let (crash, _) = content(&dir.path().join("tests"));
    assert!(crash.objects.is_empty() && crash.classes.is_empty());
}

#[test]
fn what_cannot_be_is_said() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (
            ["--frames", "7", "--out", "DIR/a"],
            "has no frame 7: it has 3 frames",
        ),
        (
            ["--tests", "m_frame0", "--out", "DIR/a"],
            "no frame for the test m_frame0",
        ),
        (
            ["--frames", "0", "--out", "DIR/crash-0001.hsc"],
            "would replace",
        ),
        (["--frames", "0", "--out", "DIR"], "it is a directory"),
    ] {
        let (status, told, errors) = trim(dir.path(), &arguments);
        assert_eq!(status, 1, "{told}");
        assert!(errors.contains(expected), "{errors}");
    }
    assert!(!dir.path().join("a").exists());
}

/// Throws so often, and never again.
const LIMITED: &str = "\
import java.nio.file.*;
class Limited {
    static void run() throws Exception {
        int left = Integer.parseInt(Files.readString(Path.of(\"FILE\")).trim());
        Files.writeString(Path.of(\"FILE\"), String.valueOf(left - 1));
        if (left > 0) throw new IllegalStateException(\"left\");
    }
}
";

#[test]
fn what_ends_otherwise_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let program = LIMITED.replace("FILE", at("left").to_str().unwrap());
    let classes = compile(dir.path(), &[("Limited.java", &program)]);
    let mut r = Recording::new();
    let thrown = ("Limited", "run", line_of(&program, "left > 0"));
    r.exception("java.lang.IllegalStateException", Some("left"), &[thrown]);
    r.frame(("Limited", "run", "()V"), 8, &[]);
    r.write(&at("crash-0001.hsc"));
    let run = |left: u32, command: &str, out: &str| {
        fs::write(at("left"), left.to_string()).unwrap();
        let mut arguments = [command, "FILE", "--classpath", "CP", "--out", "OUT"]
            .map(str::to_owned)
            .to_vec();
        arguments[1] = at("crash-0001.hsc").display().to_string();
        arguments[3] = classes.display().to_string();
        arguments[5] = at(out).display().to_string();
        if command == "trim" {
            arguments.extend(["--frames", "0", "--format", "json"].map(str::to_owned));
        } else {
            arguments.extend(["--values", "loaded"].map(str::to_owned));
        }
        let output = hindsight(arguments);
        let left: i32 = fs::read_to_string(at("left"))
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        (output, left)
    };
    // How often its test is run before it is said to reproduce.
    let (_, left) = run(1000, "junit", "tests");
    let runs = 1000 - left as u32;
    assert!(runs > 0 && left > 0);
    // So it does from the whole file, and not from the trimmed one.
    let (output, _) = run(runs, "trim", "small.hsc");
    let told = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{told}{}",
        text(&output.stderr)
    );
    let json: Json = serde_json::from_str(&told).unwrap();
    assert_eq!(json["same"], false);
    assert_eq!(json["frames"][0]["before"], "reproduces");
    assert_eq!(json["frames"][0]["after"], "passes");
    for name in ["small.hsc", "small.hsc.part"] {
        assert!(!at(name).exists(), "{name} is written");
    }
    let (output, _) = run(1000, "trim", "small.hsc");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(at("small.hsc").exists());
}
