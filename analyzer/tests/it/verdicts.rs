//! One class with a method for each way a frame can be called and can end.
//!
//! The crash file holds unrelated frames, each left by an exception of its
//! own: that is what a frame's verdict is measured by.

use crate::common::*;
use hindsight_tracelog::crash::*;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const CASES: &str = r#"package shop;

import java.util.List;
import java.util.Map;

public class Cases extends Base {
    enum Color { RED, GREEN { @Override public String toString() { return "g"; } } }

    int count;
    String name;

    Cases() {}
    Cases(String name) { throw new IllegalStateException("constructor " + name); }

    static void fixed(int x) { throw new IllegalStateException("fixed " + x); }
    private void secret(long x) { throw new IllegalStateException("secret " + x); }
    void overloaded(String s) { throw new IllegalStateException("string"); }
    void overloaded(Object o) { throw new IllegalStateException("object"); }
    static void boxes(Object a, Integer b, char c, byte d, float e, double f, long g, boolean h) {
        if (!a.equals(7) || b != 8 || c != '\n' || d != -1 || e != 1.5f || !Double.isNaN(f)
                || g != Long.MIN_VALUE || !h) return;
        throw new IllegalStateException("boxes");
    }
    static void variable(String... parts) {
        if (parts == null) throw new IllegalStateException("null array");
        throw new IllegalStateException("array " + String.join(",", parts));
    }
    static void colour(Color color, Class<?> type) {
        if (color == Color.GREEN && type == int[].class) throw new IllegalStateException("colour");
    }
    void state(List<String> list, Map<String, Integer> map) throws Exception {
        if (count == 5 && name.equals("entry") && list.get(1).equals("b") && map.get("k") == 3)
            throw new Exception("state");
    }
    @Override void over() { throw new IllegalStateException("sub"); }
    void other() { throw new IllegalArgumentException("other"); }
    void line() { if (count >= 0) return; throw new IllegalStateException("line"); }
    void loop() { while (true) { } }
    void exit() { System.exit(3); }
    int deep(int x) { return deeper(x) + 1; }
    int deeper(int x) { return deep(x) + 1; }
    void frame(int frame, int dev, String receiver) { throw new IllegalStateException("names"); }
    static Runnable lambda(int x) { return () -> { throw new IllegalStateException("lambda " + x); }; }
    <T extends Comparable<T>> T generic(T x, List<? super T> sink) {
        throw new IllegalStateException("generic");
    }
    static void huge(String s) { throw new IllegalStateException("huge " + s.length()); }

    class Inner {
        Inner(int x) { throw new IllegalStateException("inner " + Cases.this.count + x); }
    }
    private static class Hidden {
        static void f(Hidden h) { throw new IllegalStateException("hidden"); }
    }
}

class Base {
    void over() { throw new IllegalStateException("super"); }
    static Object anonymous() {
        return new Object() {
            void run() { throw new IllegalStateException("anonymous"); }
        };
    }
}
"#;

/// Builds the recording case by case.
struct Cases {
    recording: Recording,
    names: Vec<&'static str>,
}

const STATE: &str = "java.lang.IllegalStateException";

impl Cases {
    /// Adds a frame of `class.method` whose exception is thrown at `mark`.
    fn add(
        &mut self,
        (class, method, descriptor): (&'static str, &'static str, &'static str),
        access: u16,
        mark: &str,
        arguments: &[(u16, &str, &str, Value)],
    ) -> &mut Frame {
        let line = line_of(CASES, mark);
        self.add_thrown(
            (class, method, descriptor),
            access,
            STATE,
            (class, method, line),
            arguments,
        )
    }

    fn add_thrown(
        &mut self,
        (class, method, descriptor): (&'static str, &'static str, &'static str),
        access: u16,
        exception: &str,
        thrower: (&str, &str, i32),
        arguments: &[(u16, &str, &str, Value)],
    ) -> &mut Frame {
        self.names.push(method);
        let exception = self.recording.exception(exception, Some("?"), &[thrower]);
        let frame = self
            .recording
            .frame((class, method, descriptor), access, arguments);
        frame.exception = exception;
        frame.line = Some(thrower.2);
        frame
    }
}

fn fill() -> Recording {
    const CASES_: &str = "shop.Cases";
    const OWN: &str = "Lshop/Cases;";
    const STRING: &str = "Ljava/lang/String;";
    const OBJECT: &str = "Ljava/lang/Object;";
    let mut recording = Recording::new();
    recording.class_below(
        CASES_,
        &["shop.Base"],
        ClassKind::Class,
        &[("count", "I"), ("name", STRING)],
    );
    let name = recording.string("failure");
    let entry = recording.string("entry");
    let own = recording.class(CASES_, &[]);
    let this = recording.object(own, Body::Instance(vec![Value::Int(1), name]));
    let Value::Ref(this_number) = this else {
        unreachable!()
    };
    let integer = |recording: &mut Recording, value| {
        recording.instance("java.lang.Integer", &[("value", "I", Value::Int(value))])
    };
    let seven = integer(&mut recording, 7);
    let eight = integer(&mut recording, 8);
    let three = integer(&mut recording, 3);
    let (a, b) = (recording.string("a"), recording.string("b"));
    let k = recording.string("k");
    let parts = recording.array("[Ljava.lang.String;", &[a, b]);
    let elements = recording.array("[Ljava.lang.Object;", &[a, b, Value::Null]);
    let list = recording.instance(
        "java.util.ArrayList",
        &[
            ("elementData", "[Ljava/lang/Object;", elements),
            ("size", "I", Value::Int(2)),
        ],
    );
    let node = recording.instance(
        "java.util.HashMap$Node",
        &[
            ("hash", "I", Value::Int(107)),
            ("key", OBJECT, k),
            ("value", OBJECT, three),
            ("next", "Ljava/util/HashMap$Node;", Value::Null),
        ],
    );
    let table = recording.array("[Ljava.util.HashMap$Node;", &[Value::Null, node]);
    let map = recording.instance(
        "java.util.HashMap",
        &[
            ("table", "[Ljava/util/HashMap$Node;", table),
            ("size", "I", Value::Int(1)),
            ("threshold", "I", Value::Int(2)),
            ("loadFactor", "F", Value::Float(0.75)),
        ],
    );
    let green = recording.class_below(
        "shop.Cases$Color$1",
        &["shop.Cases$Color", "java.lang.Enum"],
        ClassKind::Enum,
        &[],
    );
    let green = recording.object(
        green,
        Body::Enum {
            name: "GREEN".into(),
            fields: Vec::new(),
        },
    );
    let class_class = recording.class("java.lang.Class", &[]);
    let ints = recording.object(class_class, Body::Class("[I".into()));
    let hidden = recording.instance("shop.Cases$Hidden", &[]);
    let huge = recording.string(&"x".repeat(70_000));
    let anonymous = recording.instance("shop.Base$1", &[]);
    let thread = recording.class("java.lang.Thread", &[]);
    let thread = recording.object(thread, Body::Hole("thread".into()));

    let mut cases = Cases {
        recording,
        names: Vec::new(),
    };
    let c = &mut cases;
    let receiver = (0, "", OWN, this);
    c.add(
        (CASES_, "fixed", "(I)V"),
        8,
        "static void fixed",
        &[(1, "x", "I", Value::Int(-3))],
    );
    c.add(
        (CASES_, "secret", "(J)V"),
        2,
        "void secret",
        &[receiver, (1, "x", "J", Value::Int(4))],
    );
    let s = (1, "s", STRING, Value::Null);
    c.add(
        (CASES_, "overloaded", "(Ljava/lang/String;)V"),
        0,
        "(String s) { throw",
        &[receiver, s],
    );
    let o = (1, "o", OBJECT, Value::Null);
    c.add(
        (CASES_, "overloaded", "(Ljava/lang/Object;)V"),
        0,
        "(Object o) { throw",
        &[receiver, o],
    );
    c.add(
        (
            CASES_,
            "boxes",
            "(Ljava/lang/Object;Ljava/lang/Integer;CBFDJZ)V",
        ),
        8,
        "\"boxes\"",
        &[
            (1, "a", OBJECT, seven),
            (2, "b", "Ljava/lang/Integer;", eight),
            (3, "c", "C", Value::Int(10)),
            (4, "d", "B", Value::Int(-1)),
            (5, "e", "F", Value::Float(1.5)),
            (6, "f", "D", Value::Double(f64::NAN)),
            (7, "g", "J", Value::Int(i64::MIN)),
            (8, "h", "Z", Value::Bool(true)),
        ],
    );
    let of = "[Ljava/lang/String;";
    let variable = (CASES_, "variable", "([Ljava/lang/String;)V");
    c.add(
        variable,
        0x88,
        "null array",
        &[(1, "parts", of, Value::Null)],
    );
    c.add(variable, 0x88, "\"array \"", &[(1, "parts", of, parts)]);
    c.add(
        (CASES_, "colour", "(Lshop/Cases$Color;Ljava/lang/Class;)V"),
        8,
        "\"colour\"",
        &[
            (1, "color", "Lshop/Cases$Color;", green),
            (2, "type", "Ljava/lang/Class;", ints),
        ],
    );
    let line = line_of(CASES, "\"state\"");
    c.add_thrown(
        (CASES_, "state", "(Ljava/util/List;Ljava/util/Map;)V"),
        0,
        "java.lang.Exception",
        (CASES_, "state", line),
        &[
            receiver,
            (1, "list", "Ljava/util/List;", list),
            (2, "map", "Ljava/util/Map;", map),
        ],
    )
    .patch = vec![
        Patch {
            object: this_number,
            owner: CASES_.into(),
            field: "count".into(),
            descriptor: "I".into(),
            value: Value::Int(5),
            index: None,
        },
        Patch {
            object: this_number,
            owner: CASES_.into(),
            field: "name".into(),
            descriptor: STRING.into(),
            value: entry,
            index: None,
        },
    ];
    c.add(
        ("shop.Base", "over", "()V"),
        0,
        "\"super\"",
        &[(0, "", "Lshop/Base;", this)],
    );
    c.add(
        (CASES_, "<init>", "(Ljava/lang/String;)V"),
        0,
        "\"constructor \"",
        &[(1, "name", STRING, a)],
    );
    c.add(
        ("shop.Cases$Inner", "<init>", "(Lshop/Cases;I)V"),
        0,
        "\"inner \"",
        &[(1, "", OWN, this), (2, "x", "I", Value::Int(2))],
    );
    let of = "Lshop/Cases$Hidden;";
    c.add(
        ("shop.Cases$Hidden", "f", "(Lshop/Cases$Hidden;)V"),
        8,
        "\"hidden\"",
        &[(1, "h", of, hidden)],
    );
    c.add(
        ("shop.Base$1", "run", "()V"),
        0,
        "\"anonymous\"",
        &[(0, "", "Lshop/Base$1;", anonymous)],
    );
    c.add(
        (CASES_, "lambda$lambda$0", "(I)V"),
        0x100a,
        "\"lambda \"",
        &[(1, "x", "I", Value::Int(1))],
    );
    c.add(
        (CASES_, "frame", "(IILjava/lang/String;)V"),
        0,
        "\"names\"",
        &[
            receiver,
            (1, "frame", "I", Value::Int(1)),
            (2, "dev", "I", Value::Int(1)),
            (3, "receiver", STRING, huge),
        ],
    );
    c.add(
        (
            CASES_,
            "generic",
            "(Ljava/lang/Comparable;Ljava/util/List;)Ljava/lang/Comparable;",
        ),
        0,
        "\"generic\"",
        &[
            receiver,
            (1, "x", "Ljava/lang/Comparable;", a),
            (2, "sink", "Ljava/util/List;", list),
        ],
    );
    c.add(
        (CASES_, "huge", "(Ljava/lang/String;)V"),
        8,
        "\"huge \"",
        &[(1, "s", STRING, huge)],
    );
    let overflow = "java.lang.StackOverflowError";
    c.add_thrown(
        (CASES_, "deep", "(I)I"),
        0,
        overflow,
        (CASES_, "deeper", 1),
        &[receiver, (1, "x", "I", Value::Int(1))],
    );
    let last = c.recording.failure.exceptions.len() - 1;
    c.recording.failure.exceptions[last]
        .stack
        .push(StackElement {
            class: CASES_.into(),
            method: "deep".into(),
            file: None,
            line: 1,
        });

    // Those that must not be kept.
    c.add((CASES_, "other", "()V"), 0, "\"other\"", &[receiver]);
    c.add((CASES_, "line", "()V"), 0, "\"line\"", &[receiver]);
    c.add((CASES_, "loop", "()V"), 0, "void loop", &[receiver]);
    c.add((CASES_, "exit", "()V"), 0, "void exit", &[receiver]);
    c.add((CASES_, "<clinit>", "()V"), 8, "class Cases", &[]);
    c.add((CASES_, "uncaptured", "()V"), 0, "class Cases", &[])
        .fidelity = Fidelity::None;
    c.add(
        ("java.lang.Thread", "run", "()V"),
        1,
        "class Cases",
        &[(0, "", "Ljava/lang/Thread;", thread)],
    );
    let frame = c.add((CASES_, "no", "()V"), 8, "class Cases", &[]);
    frame.method = "m".repeat(3000);
    cases.recording
}

struct Run {
    status: Option<i32>,
    report: Json,
    frames: BTreeMap<String, Vec<(String, String)>>,
    source: String,
}

fn run(dir: &Path, recording: &Recording, extra: &[&str]) -> Run {
    let classes = compile(dir, &[("shop/Cases.java", CASES)]);
    let file = dir.join("crash-0007.hsc");
    recording.write(&file);
    let path = |path: PathBuf| path.display().to_string();
    let out = path(dir.join("out"));
    let (file, classes) = (path(file), path(classes));
    let mut arguments = vec!["junit", &file, "--classpath", &classes, "--out", &out];
    arguments.extend(["--format", "json", "--timeout", "5"]);
    arguments.extend(extra);
    let output = hindsight(&arguments);
    let report: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let mut frames: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for frame in report["crashes"][0]["frames"].as_array().unwrap() {
        let text = |name: &str| frame[name].as_str().unwrap().to_owned();
        let name = format!("{}.{}", text("class"), text("method"));
        frames
            .entry(name)
            .or_default()
            .push((text("verdict"), text("reason")));
    }
    let source = dir.join("out/src/test/java/shop/CasesCrash0007Test.java");
    Run {
        status: output.status.code(),
        report,
        frames,
        source: fs::read_to_string(source).unwrap_or_default(),
    }
}

/// A source without the digests of code in it, which is another one from each compiler.
fn without_digests(source: &str) -> String {
    let is_digest = |part: &str| {
        let mut digits = part.bytes();
        part.len() == 8 && digits.all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mask = |part| if is_digest(part) { "DIGEST" } else { part };
    let parts: Vec<&str> = source.split('/').map(mask).collect();
    parts.join("/")
}

#[test]
fn every_way_to_call_and_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), &fill(), &["--keep-all"]);
    assert_eq!(run.status, Some(0));
    let mut table = String::new();
    for (name, verdicts) in &run.frames {
        let name: String = name.chars().take(40).collect();
        for (verdict, reason) in verdicts {
            table.push_str(&format!("{name}  {verdict}  {reason}\n"));
        }
    }
    check_golden("verdicts.txt", &table);
    check_golden("CasesCrash0007Test.java", &without_digests(&run.source));
    for line in run.source.lines() {
        // But for what has no place to be broken at.
        let is_one = !line.contains(", ") || line.trim_start().starts_with('"');
        assert!(line.chars().count() <= 100 || is_one, "{line}");
    }
    let mut report = run.report.clone();
    // Whichever runs the tests.
    assert!(report["jdk"].is_u64());
    report["jdk"] = 0.into();
    let report = serde_json::to_string_pretty(&report).unwrap() + "\n";
    let here = dir.path().display().to_string();
    check_golden("junit.json", &report.replace(&here, "DIR"));
}

#[test]
fn nothing_reproduces() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = fill();
    recording
        .failure
        .frames
        .retain(|frame| frame.method == "line");
    let run = run(dir.path(), &recording, &[]);
    assert_eq!(run.status, Some(1));
    assert_eq!(run.report["crashes"][0]["reproduced"], 0);
    assert_eq!(run.source, "");
    assert!(!dir.path().join("out").exists());
}

#[test]
fn nothing_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = fill();
    recording
        .failure
        .frames
        .retain(|frame| frame.method == "loop");
    let run = run(dir.path(), &recording, &["--no-run"]);
    assert_eq!(run.status, Some(0));
    assert_eq!(run.frames["shop.Cases.loop"][0].0, "not_run");
    assert!(run.source.contains("void loop_frame0()"));
}

#[test]
fn changed_and_missing_classes_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = fill();
    recording
        .failure
        .frames
        .retain(|frame| frame.method == "fixed");
    recording.failure.frames[0].class_sha256 = Some("00".into());
    recording.class("gone.Class", &[]);
    recording.classes.last_mut().unwrap().sha256 = Some("11".into());
    // Its classes can be loaded all the same.
    recording.meta.java_version = "99.0.1".into();
    let run = run(dir.path(), &recording, &[]);
    let notes = run.report["crashes"][0]["notes"].to_string();
    assert!(!notes.contains("--jdk"), "{notes}");
    let differences = run.report["crashes"][0]["class_path_differences"]
        .as_array()
        .unwrap();
    let told: Vec<_> = differences
        .iter()
        .map(|d| (d["class"].as_str().unwrap(), d["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("gone.Class", "missing"), ("shop.Cases", "differs")]);
    assert!(
        differences[1]["path"]
            .as_str()
            .unwrap()
            .ends_with("classes")
    );
}
