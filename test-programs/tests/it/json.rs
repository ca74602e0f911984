//! Every command with results prints one JSON document with `--format json`, whose first key is its
//! schema.

use crate::mutability::cache;
use hindsight_test_programs::{Workplace, agent, both, hindsight, jdks, text};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "
public class Main {
    public int sum;
    public Main() { }
    public void add(int number) { sum += number; }
    public static int at(int[] numbers, int index) { return numbers[index]; }
    public static void main(String[] arguments) throws Exception {
        new Main().add(1);
        if (arguments.length > 0) { System.out.println(\"waits\"); System.in.read(); return; }
        at(new int[2], 2);
    }
}
";

/// The `NAME` of a document's schema, `hindsight.NAME/1`.
#[track_caller]
fn schema(output: &Output) -> String {
    assert!(output.status.success(), "{}", both(output));
    // Nothing may follow the document, or this fails.
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", both(output)));
    let told = text(&output.stdout);
    let start: String = told.split_whitespace().collect::<Vec<_>>().concat();
    let start = start.strip_prefix("{\"schema\":\"hindsight.");
    let start = start.unwrap_or_else(|| panic!("no schema first: {told}"));
    let (name, rest) = start.split_once('/').expect("a version");
    assert!(rest.starts_with("1\""), "{told}");
    assert!(document.as_object().is_some_and(|fields| fields.len() > 1));
    name.to_owned()
}

#[test]
fn each_command_prints_one_document_with_its_schema_first() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("json");
    let (classes, _) = workplace.run_text(jdk, "17", "", ("Main", PROGRAM));
    assert_eq!(workplace.crash_files().len(), 1);
    let traced = Workplace::new("json-trace");
    traced.run_text(jdk, "17", "mode=trace", ("Main", PROGRAM));
    let place = |name: &str| workplace.join(name).display().to_string();
    let (out, run) = (place("out"), traced.join("out").display().to_string());
    let file = workplace.crash_files()[0].display().to_string();
    let classes = classes.display().to_string();
    let command = |arguments: &[&str]| {
        Command::new(hindsight())
            .args(arguments)
            .args(["--format", "json", "--quiet"])
            .env("JAVA_HOME", &jdk.home)
            .env("XDG_CACHE_HOME", cache())
            .output()
            .expect("hindsight runs")
    };
    let with = ["--classpath", &classes, "--out"];
    let model = place("use.model");
    let made = command(&["model", &run, "--out", &model]);
    assert!(made.status.success(), "{}", both(&made));
    let table: &[(&str, &[&str], &[&str])] = &[
        ("crash", &["inspect", &file], &[]),
        ("review", &["inspect", "--review", &file], &[]),
        ("crashes", &["crashes", &out], &[]),
        ("junit", &["junit", &file], &[&place("tests")]),
        ("trim", &["trim", &file], &[&place("small.hsc")]),
        ("plan", &["plan"], &[&place("plan")]),
        ("mutability", &["mutability", "--classpath", &classes], &[]),
        ("model", &["model", &run], &[]),
        (
            "generate",
            &["generate", "--universal", "--sequences", "5"],
            &[&place("generated")],
        ),
        ("stats", &["stats", &run], &[]),
        (
            "export",
            &["export", "--parquet", &run, "--out", &place("tables")],
            &[],
        ),
        (
            "instrument",
            &["instrument", &classes, "--out", &place("rewritten")],
            &[],
        ),
        ("view", &["view", &out, "--out", &place("page.html")], &[]),
        ("api", &["api", "--out", &place("api.jar")], &[]),
    ];
    for (name, arguments, out) in table {
        let out = out.iter().flat_map(|out| with.iter().chain([out]));
        let all: Vec<&str> = arguments.iter().chain(out).copied().collect();
        assert_eq!(schema(&command(&all)), *name, "{all:?}");
    }
    attached(&workplace, Path::new(&classes), &command);
}

fn attached(workplace: &Workplace, classes: &Path, command: &dyn Fn(&[&str]) -> Output) {
    let mut waiting = jdks()[0]
        .java()
        .arg("-cp")
        .arg(classes)
        .args(["Main", "wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("java runs");
    let mut line = String::new();
    let told = waiting.stdout.as_mut().expect("a pipe");
    BufReader::new(told).read_line(&mut line).expect("a line");
    let id = waiting.id().to_string();
    let options = format!("out={}", workplace.join("attached").display());
    let agent = agent().display().to_string();
    let output = command(&["attach", &id, &options, "--agent", &agent]);
    drop(waiting.stdin.take());
    waiting.wait().expect("it ends");
    assert_eq!(schema(&output), "attach");
}
