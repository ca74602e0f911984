//! Tests of lambdas and anonymous classes survive edits that give these other numbers.

use super::recrash::run_tests;
use hindsight_test_programs::{Jdk, Workplace, both, jdks, reported, text};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = r#"
import java.util.*;
import java.util.function.*;

public class Numbers {
    interface Rule { boolean ok(String s); }
    // BEFORE
    static boolean any(List<String> in, Predicate<String> p) {
        for (String s : in) if (p.test(s)) return true;
        return false;
    }
    static boolean keep(List<String> in) {
        // WITHIN
        return any(in, s -> s.length() > 3);
    }
    static boolean check(Rule rule, List<String> in) {
        for (String s : in) if (!rule.ok(s)) return false;
        return true;
    }
    static Rule max(int n) {
        return new Rule() { public boolean ok(String s) { return s.length() < n; } };
    }
    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> keep(Arrays.asList("a", null)));
        thread.start();
        thread.join();
        check(max(5), Arrays.asList("abc", null));
    }
}
"#;

/// Inserts something of each kind before what has failed, which does not fail itself.
const BEFORE: &str = r#"
    static final Rule NOT_NULL = new Rule() { public boolean ok(String s) { return s != null; } };
    static final Predicate<String> NULL = s -> s == null;
"#;
const WITHIN: &str = r#"if (any(in, s -> s == "skip")) return false;"#;

fn edited(edits: &[(&str, &str)]) -> String {
    let edit = |text: String, (from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    edits.iter().fold(PROGRAM.to_owned(), edit)
}

/// Compiles a version of the program into a directory of its own.
fn compile(jdk: &Jdk, name: &str, source: &str) -> (Workplace, PathBuf) {
    let place = Workplace::new("numbers");
    let classes = place.compile_text(jdk, &["--release", "11"], name, source);
    (place, classes)
}

/// Records the program's two crashes and emits tests with the classes that another javac has made
/// from it. Returns the frames of the program.
fn emit(recorded: &Jdk, jdk: &Jdk) -> (Workplace, Vec<Value>) {
    let workplace = Workplace::new("numbered");
    let (_, run) = workplace.run_text(recorded, "11", "", ("Numbers", PROGRAM));
    assert_eq!(workplace.crash_files().len(), 2, "{}", both(&run));
    let (_place, classes) = compile(jdk, "Numbers", PROGRAM);
    let (output, report) = reported(&mut workplace.junit(jdk, &classes));

    let crashes = report["crashes"].as_array();
    let crashes = crashes.unwrap_or_else(|| panic!("{}", both(&output)));
    let frames = crashes
        .iter()
        .flat_map(|crash| crash["frames"].as_array().unwrap())
        .filter(|frame| frame["class"].as_str().unwrap().starts_with("Numbers"));
    let frames: Vec<Value> = frames.cloned().collect();
    for frame in &frames {
        let place = format!("{} to {}", recorded.version, jdk.version);
        assert_eq!(frame["verdict"], "reproduces", "{place}: {frame}");
    }
    (workplace, frames)
}

#[test]
fn tests_are_red_until_what_they_show_is_fixed_whatever_the_numbers() {
    let jdk = &jdks()[0];
    let (workplace, frames) = emit(jdk, jdk);
    assert_eq!(frames.len(), 7);
    let passed = |source: &str| {
        let (_place, classes) = compile(jdk, "Numbers", source);
        let (passed, all) = run_tests(&workplace, jdk, &classes);
        assert_eq!(all, frames.len());
        passed
    };
    assert_eq!(passed(PROGRAM), [""; 0]);
    let unrelated = edited(&[("// BEFORE", BEFORE), ("// WITHIN", WITHIN)]);
    assert_eq!(passed(&unrelated), [""; 0]);
    let fixed = [
        ("// BEFORE", BEFORE),
        ("s.length() > 3", "s != null && s.length() > 3"),
        ("s.length() < n", "s == null || s.length() < n"),
    ];
    assert_eq!(passed(&edited(&fixed)).len(), frames.len());
    // It cannot be determined which of the two lambdas it is: the test that calls it reports that.
    let both = edited(&[&fixed[..], &[("// WITHIN", WITHIN)]].concat());
    let passed = passed(&both);
    let lambda = |line: &&String| line.contains("lambda_keep");
    assert!(!passed.iter().any(|line| lambda(&line)), "{passed:?}");
    let source = workplace.join("tests/src/test/java/NumbersCrash0001Test.java");
    let source = fs::read_to_string(source).unwrap();
    assert!(source.contains("lambda$keep$"), "{source}");
    assert!(source.contains("/static\""), "{source}");
}

#[test]
fn classes_of_another_javac_number_lambdas_otherwise() {
    for recorded in jdks() {
        for jdk in jdks() {
            let (_, frames) = emit(recorded, jdk);
            assert_eq!(frames.len(), 7, "{} to {}", recorded.version, jdk.version);
        }
    }
}

/// What these tests are about: compilers count the same lambdas in different ways.
#[test]
fn compilers_number_lambdas_in_their_ways() {
    let numbers = |jdk: &Jdk| {
        let (_place, classes) = compile(jdk, "Numbers", PROGRAM);
        let listed = Command::new(jdk.tool("javap"))
            .args(["-p", "-cp"])
            .arg(&classes)
            .arg("Numbers")
            .output()
            .unwrap();
        let listed = text(&listed.stdout);
        let lambdas = listed.lines().filter(|line| line.contains("lambda$"));
        lambdas
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let oldest = numbers(&jdks()[0]);
    assert!(oldest.len() > 1, "{oldest:?}");
    let Some(newest) = jdks().iter().rfind(|jdk| jdk.version >= 23) else {
        eprintln!("NOT RUN: no JDK that counts otherwise");
        return;
    };
    let newest = numbers(newest);
    assert_eq!(newest.len(), oldest.len());
    assert_ne!(newest, oldest);
}

/// Is loaded, for it refers to a thread; what its list holds is of a class that may get another name.
const RENAMED: &str = r#"
import java.util.*;

public class Cart {
    static final class Line {
        final String item; final Integer count;
        Line(String item, Integer count) { this.item = item; this.count = count; }
    }
    private final List<Line> lines = new ArrayList<>();
    private final Thread owner = Thread.currentThread();
    Cart add(String item, Integer count) { lines.add(new Line(item, count)); return this; }
    int total(List<String> only) {
        int sum = 0;
        for (Line line : lines) if (line != null && only.contains(line.item)) sum += line.count;
        return sum;
    }
    public static void main(String[] args) {
        new Cart().add("pen", 2).add("ink", null).total(Arrays.asList("ink", "pen"));
    }
}
"#;

#[test]
fn without_what_they_had_when_they_were_made_tests_do_not_pass() {
    for jdk in jdks() {
        let workplace = Workplace::new("renamed");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Cart", RENAMED));
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        let (output, _) = reported(&mut workplace.junit(jdk, &classes));
        let (_place, renamed) = compile(jdk, "Cart", &RENAMED.replace("Line", "Row"));
        let (passed, all) = run_tests(&workplace, jdk, &renamed);
        assert_eq!((passed.len(), all), (0, 2), "{}: {passed:?}", both(&output));
        let fixed = RENAMED.replace(
            "sum += line.count",
            "sum += line.count == null ? 0 : line.count",
        );
        let (_place, fixed) = compile(jdk, "Cart", &fixed);
        let (passed, all) = run_tests(&workplace, jdk, &fixed);
        assert_eq!((passed.len(), all), (2, 2), "{}", both(&output));
    }
}
