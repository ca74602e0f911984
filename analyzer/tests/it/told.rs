//! What the report of `junit` tells people, and what javac tells of its tests.

use crate::common::*;
use hindsight_tracelog::crash::*;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

const PROGRAM: &str = "\
package shop;
public class Told {
    int[] left = {3};
    void use() { if (left[0] > 0) throw new IllegalStateException(); }
    @Deprecated static void old(int x) { throw new IllegalStateException(); }
    static <T> void all(Iterable<T> from, Comparable<? super T> to) { throw new IllegalStateException(); }
    static void plain(String s) { throw new IllegalStateException(); }
    static void lone() { throw new IllegalArgumentException(\"a\\ud800\\u0000b\"); }
}
";
const STUB: &str = "package org.junit.jupiter.api;\npublic @interface Test {}\n";

/// Frames of the JDK and of a library around those of the program.
fn recording() -> Recording {
    let mut r = Recording::new();
    let stack = ["old", "all", "use", "plain", "lone"].map(|method| {
        let line = line_of(PROGRAM, &format!(" {method}("));
        ("shop.Told", method, line)
    });
    let one = r.exception("java.lang.IllegalStateException", None, &stack[..1]);
    for place in &stack[1..] {
        r.exception("java.lang.IllegalStateException", None, &[*place]);
    }
    let own = r.class("shop.Told", &[("left", "[I")]);
    let ints = r.class_below("[I", &[], ClassKind::Array, &[]);
    let ints = r.object(ints, Body::Primitives(vec![0; 4]));
    let this = r.object(own, Body::Instance(vec![ints]));

    let uncaptured = |r: &mut Recording, class: &str, method: &str| {
        let frame = r.frame((class, method, "()V"), 9, &[]);
        frame.fidelity = Fidelity::None;
        frame.reason = "not instrumented: outside include/exclude".into();
    };
    for method in ["checkIndex", "outOfBounds"] {
        uncaptured(&mut r, "java.util.Objects", method);
    }
    let x = [(1, "x", "I", Value::Int(3))];
    r.frame(("shop.Told", "old", "(I)V"), 9, &x).exception = one;
    for (class, method) in [
        ("org.lib.io.Reader", "read"),
        ("org.lib.Loop", "next"),
        ("org.lib.Loop", "run"),
        ("org.lib.ui.Main", "main"),
        ("org.other.Main", "main"),
        ("org.other.Main", "main"),
    ] {
        uncaptured(&mut r, class, method);
    }
    let name = r.string("name");
    let text = "Ljava/lang/String;";
    let list = r.array("[Ljava.lang.Object;", &[]);
    let fields = [
        ("elementData", "[Ljava/lang/Object;", list),
        ("size", "I", Value::Int(0)),
        ("modCount", "I", Value::Int(7)),
    ];
    let list = r.instance("java.util.ArrayList", &fields);
    for (method, descriptor, access, exception, arguments) in [
        (
            "all",
            "(Ljava/lang/Iterable;Ljava/lang/Comparable;)V",
            8,
            1,
            vec![
                (1, "from", "Ljava/lang/Iterable;", list),
                (2, "to", "Ljava/lang/Comparable;", Value::Null),
            ],
        ),
        ("use", "()V", 0, 2, vec![(0, "", "Lshop/Told;", this)]),
        (
            "plain",
            "(Ljava/lang/String;)V",
            8,
            3,
            vec![(1, "s", text, name)],
        ),
        ("lone", "()V", 8, 4, vec![]),
    ] {
        r.frame(("shop.Told", method, descriptor), access, &arguments)
            .exception = exception;
    }
    r
}

/// What is told of a recording whose tests are all kept.
fn junit(dir: &Path, recording: &Recording, extra: &[&str]) -> String {
    junit_with(dir, recording, &[&["--keep-all"], extra].concat())
}

fn junit_with(dir: &Path, recording: &Recording, extra: &[&str]) -> String {
    let classes = compile(dir, &[("shop/Told.java", PROGRAM)]);
    let file = dir.join("crash-0001.hsc");
    recording.write(&file);
    let path = |path: &Path| path.display().to_string();
    let (file, classes, out) = (path(&file), path(&classes), path(&dir.join("out")));
    let arguments = ["junit", &file, "--classpath", &classes, "--out", &out];
    let output = hindsight(arguments.iter().chain(extra));
    text(&output.stdout).replace(&path(dir), "DIR")
}

#[test]
fn the_report_says_each_thing_once() {
    let dir = tempfile::tempdir().unwrap();
    let told = junit(dir.path(), &recording(), &[]);
    check_golden("told.txt", &told);
}

/// A weaver has added a method while the class was loaded.
#[test]
fn the_agent_that_may_have_added_a_method_is_named() {
    let mut r = Recording::new();
    let line = line_of(PROGRAM, " old(");
    let stack = [("shop.Told", "old_aroundBody0", line)];
    r.exception("java.lang.IllegalStateException", None, &stack);
    let x = [(1, "x", "I", Value::Int(3))];
    r.frame(("shop.Told", "old_aroundBody0", "(I)V"), 9, &x);
    r.frame(("shop.Told", "old", "(I)V"), 9, &x);
    let dir = tempfile::tempdir().unwrap();
    let told = junit(dir.path(), &r, &[]);
    assert!(!told.contains("is in no class file"), "{told}");
    r.meta.command = "java -javaagent:weaver.jar=x -cp shop.jar shop.Told".into();
    let told = junit(dir.path(), &r, &[]);
    let note = "! shop.Told.old_aroundBody0 is in no class file; weaver.jar may have added it: tests that run \
                with that agent have it";
    assert!(told.contains(note), "{told}");
}

/// The stack of a test of the program in its build: no part of what ran it is tried, nor is a class that is
/// not on the class path.
#[test]
fn what_ran_a_test_is_told_in_one_row() {
    let mut r = Recording::new();
    let line = line_of(PROGRAM, " old(");
    r.exception(
        "java.lang.IllegalStateException",
        None,
        &[("shop.Told", "old", line)],
    );
    let x = [(1, "x", "I", Value::Int(3))];
    for class in [
        "shop.Told",
        "gone.Missing",
        "java.lang.reflect.Method",
        "org.junit.platform.commons.util.ReflectionUtils",
        "java.util.ArrayList",
        "com.acme.Extension",
        "org.apache.maven.surefire.booter.ForkedBooter",
    ] {
        let method = match class {
            "java.lang.reflect.Method" => "invoke",
            _ => "old",
        };
        r.frame((class, method, "(I)V"), 9, &x);
    }
    let dir = tempfile::tempdir().unwrap();
    let told = junit_with(dir.path(), &r, &[]);
    let rows: Vec<&str> = told.lines().filter(|row| row.starts_with("  #")).collect();
    let begin = [
        "#0 shop.Told.old reproduces",
        "#1 gone.Missing.old unsupported its class is not on the class path",
        "#2-#6 5 frames of what ran the test unsupported",
    ];
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(rows.len(), begin.len(), "{told}");
    for (row, begin) in rows.iter().zip(begin) {
        assert!(squeezed(row).starts_with(begin), "{begin} in {told}");
    }
}

#[test]
fn a_deep_copy_needs_no_deeper_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = recording();
    let frames = &mut recording.failure.frames;
    frames.retain(|frame| frame.method == "use");
    frames[0].exception = 2;
    let hints = |recording: &Recording| {
        let told = junit(dir.path(), recording, &["--format", "json"]);
        let told: Json = serde_json::from_str(&told).unwrap();
        assert_eq!(told["crashes"][0]["frames"][0]["verdict"], "passes");
        told["hints"].to_string()
    };
    assert!(hints(&recording).contains("copy=deep"));
    recording.meta.copy = "deep".into();
    recording.failure.frames[0].fidelity = Fidelity::Deep;
    let hints = hints(&recording);
    assert!(
        !hints.contains("copy=deep") && hints.contains("plan="),
        "{hints}"
    );
}

#[test]
fn javac_warns_of_nothing_in_the_tests() {
    let dir = tempfile::tempdir().unwrap();
    junit(dir.path(), &recording(), &["--values", "loaded"]);
    let out = dir.path().join("out");
    let source = out.join("src/test/java/shop/ToldCrash0001Test.java");
    let written = fs::read_to_string(&source).unwrap();
    let stub = dir.path().join("stub/Test.java");
    fs::create_dir_all(stub.parent().unwrap()).unwrap();
    fs::write(&stub, STUB).unwrap();
    let path = [
        dir.path().join("classes"),
        out.join("lib/hindsight-replay.jar"),
    ];
    let output = java_tool("javac")
        .args(["-Xlint:all", "-proc:none", "-d"])
        .arg(dir.path().join("compiled"))
        .arg("-cp")
        .arg(std::env::join_paths(path).unwrap())
        .args([&stub, &source])
        .output()
        .unwrap();
    assert_eq!(text(&output.stderr), "", "{written}");
    // Only where they are needed.
    let annotated = |method: &str| {
        let (before, _) = written.split_once(&format!("void {method}_frame")).unwrap();
        let line = before.trim_end().lines().last().unwrap().trim();
        line.strip_prefix("@SuppressWarnings").map(str::to_owned)
    };
    assert_eq!(annotated("old").unwrap(), "(\"deprecation\")");
    assert_eq!(annotated("all").unwrap(), "({\"rawtypes\", \"unchecked\"})");
    assert_eq!(annotated("plain"), None);
}

#[test]
fn what_follows_a_recording_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    let mut bytes = recording().bytes();
    bytes.extend(b"more");
    fs::write(&file, bytes).unwrap();
    let output = hindsight(["inspect".as_ref(), file.as_path()]);
    let shown = text(&output.stdout);
    assert!(output.status.success());
    assert!(
        shown.contains("4 bytes after the file's end record"),
        "{shown}"
    );
}

/// The files of each JVM begin with crash-0001.hsc.
#[test]
fn tests_of_another_crash_keep_their_names() {
    let mut one = Recording::new();
    let stack = [("shop.Told", "use", line_of(PROGRAM, " use("))];
    one.exception("java.lang.IllegalStateException", None, &stack);
    let this = one.instance("shop.Told", &[]);
    let frame = ("shop.Told", "use", "()V");
    one.frame(frame, 0, &[(0, "", "Lshop/Told;", this)]);
    one.meta.thread = "Prüfung".into();
    let dir = tempfile::tempdir().unwrap();
    let names = || {
        let list = |of: &str, end: &str| {
            let files = fs::read_dir(dir.path().join("out/src/test").join(of)).unwrap();
            let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = files.filter(|name| name.ends_with(end)).collect();
            names.sort();
            names
        };
        [list("java/shop", ".java"), list("resources/shop", ".hsc")]
    };
    let options = ["--no-run", "--values", "loaded"];
    junit_with(dir.path(), &one, &options);
    let first = names();
    assert_eq!(first, [["ToldCrash0001Test.java"], ["crash-0001.hsc"]]);
    let mut other = one;
    other.meta.time_ms += 1;
    junit_with(dir.path(), &other, &options);
    let both = [
        ["ToldCrash0001No2Test.java", "ToldCrash0001Test.java"],
        ["crash-0001-2.hsc", "crash-0001.hsc"],
    ];
    assert_eq!(names(), both);
    // The same one again replaces its own, with state in its tests or without, and trimmed.
    junit_with(dir.path(), &other, &options);
    assert_eq!(names(), both);
    junit_with(dir.path(), &other, &["--no-run"]);
    other.meta.thread.clear();
    junit_with(dir.path(), &other, &["--no-run"]);
    let sources = names()[0].clone();
    assert_eq!(sources, both[0]);
}

/// Of a class whose tests do not reproduce, an earlier run has left files.
#[test]
fn a_class_without_tests_keeps_no_crash_file() {
    let mut r = Recording::new();
    let stack = [("shop.Told", "use", line_of(PROGRAM, " use("))];
    r.exception("java.lang.IllegalStateException", None, &stack);
    let ints = r.class_below("[I", &[], ClassKind::Array, &[]);
    // With these it does not fail.
    let ints = r.object(ints, Body::Primitives(vec![0; 4]));
    let this = r.instance("shop.Told", &[("left", "[I", ints)]);
    r.frame(
        ("shop.Told", "use", "()V"),
        0,
        &[(0, "", "Lshop/Told;", this)],
    );
    let dir = tempfile::tempdir().unwrap();
    let of_class = [
        "out/src/test/java/shop/ToldCrash0001Test.java",
        "out/src/test/resources/shop/crash-0001.hsc",
    ];
    let are_there = || of_class.map(|file| dir.path().join(file).exists());
    let told = junit_with(dir.path(), &r, &["--no-run"]);
    assert_eq!(are_there(), [true, true], "{told}");
    let told = junit_with(dir.path(), &r, &[]);
    assert_eq!(are_there(), [false, false], "{told}");
}
