//! Crashes that are not as whole as one would like: damaged files, gaps,
//! causes, redacted values, endless recursion.

use crate::common::*;
use hindsight_tracelog::crash::*;
use hindsight_tracelog::reader::Crash;
use hindsight_tracelog::{record, writer};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

const PROGRAM: &str = "\
public class Program {
    int count;
    Object far;
    void near(String s) { throw new IllegalStateException(s + count); }
    void distant(Object o) { throw new IllegalStateException(far + \"\" + o); }
    static void wrap(int pin, Integer code) { throw new IllegalArgumentException(\"\" + pin + code); }
    void around(String s) { try { within(0, 0); } catch (RuntimeException e) { throw new IllegalStateException(s + count, e); } }
    static void within(int pin, Integer code) { try { hidden(pin); } catch (RuntimeException e) { throw new IllegalArgumentException(\"\" + pin + code, e); } }
    static void hidden(int pin) { throw new IllegalArgumentException(\"\" + pin); }
    static void again(int x) { if (x < 0) throw new IllegalStateException(); again(x - 1); }
}
";
const STATE: &str = "java.lang.IllegalStateException";
const BAD: &str = "java.lang.IllegalArgumentException";

struct Done {
    text: String,
    report: Json,
    source: String,
}

impl Done {
    fn frame(&self, index: usize) -> (&str, &str) {
        let frame = &self.report["crashes"][0]["frames"][index];
        let text = |name: &str| frame[name].as_str().unwrap();
        (text("verdict"), text("reason"))
    }
}

/// Runs `junit` twice: for people and for machines.
fn junit(dir: &Path, bytes: &[u8]) -> Done {
    let classes = compile(dir, &[("Program.java", PROGRAM)]);
    let file = dir.join("crash-0001.hsc");
    fs::write(&file, bytes).unwrap();
    let path = |path: &Path| path.display().to_string();
    let (file, classes, out) = (path(&file), path(&classes), path(&dir.join("out")));
    let arguments = ["junit", &file, "--classpath", &classes, "--out", &out];
    let told = hindsight(arguments);
    let json = hindsight(arguments.into_iter().chain(["--format", "json"]));
    let source = dir.join("out/src/test/java/ProgramCrash0001Test.java");
    Done {
        text: text(&told.stdout).replace(&path(dir), "DIR"),
        report: serde_json::from_slice(&json.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&json.stderr))),
        source: fs::read_to_string(source).unwrap_or_default(),
    }
}

#[test]
fn of_a_cut_file_the_rest_is_replayed() {
    let mut recording = Recording::new();
    let thrower = |method| {
        (
            "Program",
            method,
            line_of(PROGRAM, &format!("void {method}")),
        )
    };
    recording.exception(STATE, Some("?"), &[thrower("near")]);
    recording.exception(STATE, Some("?"), &[thrower("distant")]);
    let fields = [("count", "I"), ("far", "Ljava/lang/Object;")];
    let own = recording.class("Program", &fields);
    let string = recording.string(&"near".repeat(600));
    // The last object, which is lost, is number 3.
    let this = recording.object(own, Body::Instance(vec![Value::Int(4), Value::Ref(3)]));
    let other = recording.object(own, Body::Instance(vec![Value::Int(5), Value::Ref(3)]));
    recording.string("far");
    let lost = Value::Ref(3);
    recording.frame(
        ("Program", "near", "(Ljava/lang/String;)V"),
        0,
        &[
            (0, "", "LProgram;", this),
            (1, "s", "Ljava/lang/String;", string),
        ],
    );
    let arguments = [
        (0, "", "LProgram;", other),
        (1, "o", "Ljava/lang/Object;", lost),
    ];
    let distant = ("Program", "distant", "(Ljava/lang/Object;)V");
    recording.frame(distant, 0, &arguments).exception = 1;
    // A receiver that is lost.
    let arguments = [
        (0, "", "LProgram;", lost),
        (1, "o", "Ljava/lang/Object;", lost),
    ];
    recording.frame(distant, 0, &arguments).exception = 1;

    let mut bytes = record::file_header().to_vec();
    bytes.extend(writer::meta(&recording.meta));
    bytes.extend(writer::failure(&recording.failure));
    bytes.extend(writer::classes(&recording.classes));
    bytes.extend(writer::objects(0, recording.objects[..3].to_vec()));
    bytes.extend(writer::objects(3, recording.objects[3..].to_vec()));
    bytes.truncate(bytes.len() - 5);

    let dir = tempfile::tempdir().unwrap();
    let done = junit(dir.path(), &bytes);
    assert_eq!(done.frame(0).0, "reproduces", "{}", done.text);
    assert_eq!(done.frame(1).0, "reproduces", "{}", done.text);
    let lost = "lost: the crash file was damaged";
    assert_eq!(
        done.frame(2),
        (
            "unsupported",
            format!("its receiver was not stored: {lost}").as_str()
        )
    );
    let note = "the tests come with a repaired copy of the file (1 object lost)";
    assert!(done.text.contains(note), "{}", done.text);
    assert!(
        done.source.contains("this is a repaired copy"),
        "{}",
        done.source
    );
    let copy = fs::read(dir.path().join("out/src/test/resources/crash-0001.hsc")).unwrap();
    let copy = Crash::read(&copy).unwrap();
    assert!(copy.is_whole());
    assert_eq!(
        copy.objects[..3],
        recording
            .objects
            .iter()
            .cloned()
            .map(Some)
            .collect::<Vec<_>>()[..3]
    );
    assert_eq!(copy.object(3).unwrap().body, Body::Hole(lost.into()));
}

#[test]
fn causes_and_redacted_values() {
    let mut recording = Recording::new();
    let thrower = |method| {
        (
            "Program",
            method,
            line_of(PROGRAM, &format!("void {method}")),
        )
    };
    recording.exception(STATE, Some("outer"), &[thrower("around")]);
    recording.exception(BAD, Some("inner"), &[thrower("within")]);
    recording.exception(BAD, Some("innermost"), &[thrower("hidden")]);
    recording.failure.exceptions[0].cause = Some(1);
    recording.failure.exceptions[1].cause = Some(2);
    let own = recording.class("Program", &[("count", "I"), ("far", "Ljava/lang/Object;")]);
    let this = recording.object(own, Body::Instance(vec![Value::Null, Value::Null]));
    let code = recording.instance("java.lang.Integer", &[("value", "I", Value::Null)]);
    let around = ("Program", "around", "(Ljava/lang/String;)V");
    let string = "Ljava/lang/String;";
    let arguments = [(0, "", "LProgram;", this), (1, "s", string, Value::Null)];
    recording.frame(around, 0, &arguments);
    recording
        .frame(
            ("Program", "within", "(ILjava/lang/Integer;)V"),
            8,
            &[
                (1, "pin", "I", Value::Null),
                (2, "code", "Ljava/lang/Integer;", code),
            ],
        )
        .exception = 1;
    let pin = [(1, "pin", "I", Value::Null)];
    recording
        .frame(("Program", "hidden", "(I)V"), 8, &pin)
        .exception = 2;

    let dir = tempfile::tempdir().unwrap();
    let done = junit(dir.path(), &recording.bytes());
    for index in 0..3 {
        assert_eq!(done.frame(index).0, "reproduces", "{}", done.text);
        assert_eq!(
            done.report["crashes"][0]["frames"][index]["exception"],
            index
        );
    }
    let headings = [
        "  frames of cause 1: java.lang.IllegalArgumentException: inner\n  #1",
        "  frames of cause 2: java.lang.IllegalArgumentException: innermost\n  #2",
    ];
    let lines = [
        "        int pin = 0; // redacted\n        Integer code = 0; // redacted\n",
        "        Program.within(pin, code);\n",
        "    // It was left by cause 1 of the crash, which this test ends in:\n",
    ];
    for (part, of) in headings
        .iter()
        .map(|part| (part, &done.text))
        .chain(lines.iter().map(|part| (part, &done.source)))
    {
        assert!(of.contains(part), "no {part:?} in:\n{of}");
    }
    let shown = hindsight([
        "inspect".as_ref(),
        dir.path().join("crash-0001.hsc").as_os_str(),
    ]);
    let shown = text(&shown.stdout);
    let heading = "\nframes of cause 1: java.lang.IllegalArgumentException: inner\n#1 Program.within(Program.java)\n     pin = (not stored)\n";
    assert!(shown.contains(heading), "{shown}");
}

#[test]
fn of_a_recursion_the_ends_are_tried() {
    let mut recording = Recording::new();
    let line = line_of(PROGRAM, "void again");
    recording.exception(STATE, None, &[("Program", "again", line)]);
    for x in 0..20 {
        if x == 9 {
            let gap = recording.frame(("Program", "...", ""), 0, &[]);
            gap.fidelity = Fidelity::None;
            gap.reason = "5000 frames of a deep recursion were not kept".into();
            gap.file = None;
        }
        let argument = [(1, "x", "I", Value::Int(x - 1))];
        recording
            .frame(("Program", "again", "(I)V"), 8, &argument)
            .line = Some(line);
    }
    let dir = tempfile::tempdir().unwrap();
    let done = junit(dir.path(), &recording.bytes());
    let reason = "one of 20 frames of the same recursion; the first and last three are tried";
    for index in (0..3).chain(18..21) {
        assert_eq!(done.frame(index).0, "reproduces", "{}", done.text);
    }
    for index in (3..9).chain(10..18) {
        assert_eq!(done.frame(index), ("unsupported", reason));
    }
    let gap = "5000 frames of a deep recursion were not kept";
    assert_eq!(done.frame(9), ("unsupported", gap));
    assert_eq!(done.report["crashes"][0]["frames"][9]["gap"], true);
    assert!(
        done.text.contains("  6 of 20 frames reproduce"),
        "{}",
        done.text
    );
    let shown = hindsight([
        "inspect".as_ref(),
        dir.path().join("crash-0001.hsc").as_os_str(),
    ]);
    let shown = text(&shown.stdout);
    assert!(
        shown.contains(&format!("\n#9 ... ({gap})\n#10 ")),
        "{shown}"
    );
    assert!(shown.contains("20 frames, 20 captured"), "{shown}");
}
