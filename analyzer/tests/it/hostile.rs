//! Names and strings that try to get out of where they are put.

use crate::common::*;
use hindsight_tracelog::crash::*;
use serde_json::Value as Json;
use std::fs;

const EVIL: &str = "*/ \\u000a } class Evil {} /* \" \\\" \n\r\u{2028}\u{202e} // ${x} %s";

const PROGRAM: &str = "\
public class Program {
    static void fixed(String s) { throw new IllegalStateException(s); }
}
";

fn recording() -> Recording {
    let mut recording = Recording::new();
    recording.meta.program_version = EVIL.into();
    recording.meta.thread = EVIL.into();
    recording.meta.reason = EVIL.into();
    recording.exception(EVIL, Some(EVIL), &[(EVIL, EVIL, 1)]);
    recording.exception(
        "java.lang.IllegalStateException",
        Some(EVIL),
        &[("Program", "fi-ed", 2)],
    );
    recording.failure.exceptions[1].stack[0].file = Some(EVIL.into());
    let evil = recording.string(EVIL);
    let class = recording.class("java.lang.String", &[]);
    let lone = recording.object(
        class,
        Body::String(Text::from_utf16(&[0x22, 0xd800, 0x5c, 0x75])),
    );
    let strange = recording.instance(EVIL, &[(EVIL, "Ljava/lang/String;", evil)]);
    let kind = recording.class_below("Colour", &["java.lang.Enum"], ClassKind::Enum, &[]);
    let constant = recording.object(
        kind,
        Body::Enum {
            name: EVIL.into(),
            fields: Vec::new(),
        },
    );
    let class = recording.class("java.lang.Class", &[]);
    let named = recording.object(class, Body::Class(EVIL.into()));
    const STRING: &str = "Ljava/lang/String;";
    const OBJECT: &str = "Ljava/lang/Object;";
    let mut add =
        |class: &str, method: &str, descriptor: &str, arguments: &[(u16, &str, &str, Value)]| {
            let frame = recording.frame((class, method, descriptor), 8, arguments);
            frame.file = Some(EVIL.into());
            frame.line = Some(2);
            frame.exception = 1;
        };
    let one = "(Ljava/lang/String;)V";
    // A method whose name is legal in class files only; see the test.
    add("Program", "fi-ed", one, &[(1, "s", STRING, evil)]);
    add("Program", "fi-ed", one, &[(1, EVIL, STRING, lone)]);
    add(EVIL, EVIL, one, &[(1, "class", STRING, evil)]);
    add(
        "a.b;c/d",
        "<weird>",
        "(Ljava/lang/Object;)V",
        &[(1, "int", OBJECT, strange)],
    );
    add(
        "java.lang.Evil",
        "m",
        "(Ljava/lang/Object;)V",
        &[(1, "x", OBJECT, constant)],
    );
    add(
        "../../../etc.Passwd",
        "m",
        "(Ljava/lang/Object;)V",
        &[(1, "_", OBJECT, named)],
    );
    add("", "", "()V", &[]);
    add(
        "int",
        "new",
        "(L*/;)V",
        &[(1, "a\\u000ab", "L*/;", strange)],
    );
    // Tests that set static fields name them.
    recording.failure.statics.push(StaticField {
        owner: EVIL.into(),
        name: EVIL.into(),
        descriptor: STRING.into(),
        access: 8,
        value: evil,
    });
    recording
}

#[test]
fn sources_stay_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let classes = compile(dir.path(), &[("Program.java", PROGRAM)]);
    let class = classes.join("Program.class");
    let bytes = fs::read(&class).unwrap();
    let at = bytes
        .windows(5)
        .position(|window| window == b"fixed")
        .unwrap();
    let mut patched = bytes;
    patched[at + 2] = b'-';
    fs::write(&class, patched).unwrap();

    // Even the name of the file.
    let file = dir.path().join("crash \" } -0001.hsc");
    recording().write(&file);
    let path = |path: &std::path::Path| path.display().to_string();
    let (file, classes, out) = (path(&file), path(&classes), path(&dir.path().join("out")));
    let arguments = ["junit", &file, "--classpath", &classes, "--out", &out];
    let extra = ["--format", "json", "--keep-all", "--project"];
    let output = hindsight(arguments.iter().chain(&extra));
    let report: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let frames = report["crashes"][0]["frames"].as_array().unwrap();
    let verdicts: Vec<_> = frames
        .iter()
        .map(|frame| frame["verdict"].as_str().unwrap())
        .collect();
    // All compile; those of classes that exist reproduce.
    let expected = ["reproduces", "reproduces"]
        .into_iter()
        .chain(["differs"; 6]);
    assert_eq!(verdicts, expected.collect::<Vec<_>>(), "{report:#}");
    let written: Vec<_> = report["crashes"][0]["sources"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(written.len(), 1);
    let source = fs::read_to_string(written[0].as_str().unwrap()).unwrap();
    assert!(source.contains("fi_ed_frame0()"));
    assert!(!source.contains('\u{202e}') && !source.contains('\u{2028}'));
}

#[test]
fn the_terminal_is_safe() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    let mut recording = recording();
    recording.meta.command = "\u{1b}[2J".into();
    recording.failure.frames[0].reason = "\u{1b}]0;title\u{7}".into();
    recording.write(&file);
    let is_safe = |shown: &str| !shown.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']);
    let shown = text(&hindsight(["inspect".as_ref(), file.as_os_str()]).stdout);
    assert!(is_safe(&shown), "{shown:?}");
    // Files are named by who has made them, too.
    let named = dir.path().join("crash-\u{1b}]0;title\u{7}.hsc");
    fs::rename(&file, &named).unwrap();
    for arguments in [&["inspect"][..], &["inspect", "--review"], &["stats"]] {
        let arguments = arguments.iter().map(|argument| argument.as_ref());
        let output = hindsight(arguments.chain([named.as_os_str()]));
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(is_safe(&shown) && shown.contains("title"), "{shown:?}");
    }
}

/// A stranger's file names the methods that are called.
#[test]
fn what_of_the_jdk_reaches_out_is_called_if_asked_for_alone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let classes = compile(dir, &[("Program.java", PROGRAM)]);
    let (file, proof) = (dir.join("crash-0001.hsc"), dir.join("proof"));
    let mut recording = Recording::new();
    let stack = [("java.lang.Runtime", "exec", 1)];
    recording.exception("java.lang.IllegalStateException", None, &stack);
    let runtime = recording.instance("java.lang.Runtime", &[]);
    let command = recording.string(&format!("touch {}", proof.display()));
    recording.frame(
        (
            "java.lang.Runtime",
            "exec",
            "(Ljava/lang/String;)Ljava/lang/Process;",
        ),
        1,
        &[
            (0, "", "Ljava/lang/Runtime;", runtime),
            (1, "command", "Ljava/lang/String;", command),
        ],
    );
    recording.write(&file);
    let told = |extra: &[&str]| -> Json {
        let mut arguments = vec!["junit".as_ref(), file.as_os_str(), "--classpath".as_ref()];
        let out = dir.join("out");
        arguments.extend([classes.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        arguments.extend(
            ["--format", "json"]
                .iter()
                .chain(extra)
                .map(std::ffi::OsStr::new),
        );
        let output = hindsight(arguments);
        let report: Json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
        report["crashes"][0]["frames"][0].clone()
    };
    let frame = told(&[]);
    assert_eq!(frame["verdict"], "unsupported", "{frame}");
    let reason = frame["reason"].as_str().unwrap();
    assert!(reason.contains("--frames"), "{reason}");
    assert!(!proof.exists());
    let frame = told(&["--frames", "0"]);
    assert_eq!(frame["verdict"], "passes", "{frame}");
    // Nothing waits for the process.
    let mut tries = 0..100;
    while !proof.exists() {
        assert!(tries.next().is_some(), "{frame}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
