//! `hindsight model` for programs recorded under the agent, on every JDK: Palulu's example as text,
//! JSON and picture.

use hindsight_test_programs::{Jdk, Workplace, golden, hindsight, jdks, root, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn sources(name: &str) -> Vec<PathBuf> {
    let dir = root().join("test-programs/palulu").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|found| found == "java"))
        .collect();
    files.sort();
    files
}

/// Compiles and records a program.
fn record(jdk: &Jdk, name: &str, main: &str) -> Workplace {
    let workplace = Workplace::new(name);
    let classes = workplace.compile(jdk, &[], &sources(name));
    let output = workplace
        .java_with_agent(jdk, "mode=trace")
        .arg("-cp")
        .arg(&classes)
        .arg(main)
        .output()
        .expect("java runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    workplace
}

fn run(workplace: &Workplace, arguments: &[&str]) -> Output {
    Command::new(hindsight())
        .current_dir(&workplace.path)
        .args(arguments)
        .output()
        .expect("hindsight runs")
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Events have references first, then values that fit an `int`, then `long` and `double`: each
/// argument is shown in its place with its type.
#[test]
fn values_have_the_types_of_their_parameters() {
    const SOURCE: &str = "public class Line {
        public int open(long id, short port, boolean isSafe, double rate, char sign, float share) { return 1; }
        public static void main(String[] arguments) {
            new Line().open(77120, (short) 8443, true, 0.5, '\\\'', Float.NEGATIVE_INFINITY);
        }
    }";
    for jdk in jdks() {
        let workplace = Workplace::new("model-types");
        let classes = workplace.compile_text(jdk, &[], "Line", SOURCE);
        let output = workplace
            .java_with_agent(jdk, "mode=trace")
            .arg("-cp")
            .arg(&classes)
            .arg("Line")
            .output()
            .expect("java runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let model = ok(&run(&workplace, &["model", "out"]));
        let call = "*.open(77120 1x, 8443 1x, true 1x, 0.5 1x, '\\'' 1x, -Infinity 1x)";
        assert!(model.contains(call), "{model}");
    }
}

/// Replaces lists of lives by their number, because the numbers of lives differ between two runs.
fn count_lives(json: &mut Value) {
    match json {
        Value::Array(all) => all.iter_mut().for_each(count_lives),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_array() {
                    Some(lives) if name == "lives" => *value = lives.len().into(),
                    _ => count_lives(value),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn tiny_sql_gives_the_models_of_the_paper() {
    for jdk in jdks() {
        let workplace = record(jdk, "tinysql", "TinySql");
        let mutability = ["mutability", "--classpath", "classes", "--format", "json"];
        let mutability = ok(&run(&workplace, &mutability));
        fs::write(workplace.join("mutability.json"), mutability).expect("a file");
        let with = ["model", "out", "--mutability", "mutability.json"];
        let shown = |more: &[&str]| ok(&run(&workplace, &[&with[..], more].concat()));

        golden("palulu/expected/tinysql.txt", &shown(&[]));
        golden("palulu/expected/tinysql.dot", &shown(&["--dot"]));
        let mut json: Value = serde_json::from_str(&shown(&["--format", "json"])).expect("JSON");
        let told = fs::read(workplace.join("out/run.json")).expect("a file");
        let told: Value = serde_json::from_slice(&told).expect("JSON");
        assert!(told["run"].is_string());
        assert_eq!(json["runs"][0]["run"], told["run"]);
        json["runs"][0]["run"] = "1".into();
        count_lives(&mut json);
        let json = serde_json::to_string_pretty(&json).expect("JSON") + "\n";
        golden("palulu/expected/tinysql.json", &json);
        golden(
            "palulu/expected/tinysql-all.txt",
            &ok(&run(&workplace, &["model", "out"])),
        );

        let sizes = text(&run(&workplace, &with).stderr);
        assert!(sizes.contains("without mutability: "), "{sizes}");

        // The same run once more changes nothing; another one adds up.
        let write = |arguments: &[&str], file: &str| {
            ok(&run(&workplace, &[arguments, &["--out", file]].concat()));
            fs::read_to_string(workplace.join(file)).expect("a model")
        };
        let once = write(&with, "once.json");
        let again = write(
            &[
                "model",
                "out",
                "--merge",
                "once.json",
                "once.json",
                "--mutability",
                "mutability.json",
            ],
            "again.json",
        );
        assert_eq!(once, again);
        let other = record(jdk, "tinysql", "TinySql");
        let other_run = other.join("out");
        let other_run = other_run.to_str().expect("a name");
        let twice = write(&["model", "out", other_run], "twice.json");
        let turned = write(&["model", other_run, "out"], "turned.json");
        assert_eq!(twice, turned);
        // Sizes are only compared if both are known.
        let sizes = text(
            &run(
                &workplace,
                &[&with[..], &["--merge", "turned.json"]].concat(),
            )
            .stderr,
        );
        assert!(sizes.contains("its objects count twice"), "{sizes}");
        let alone = sizes.find("of the recorded runs alone: ");
        assert!(
            alone < sizes.find("without mutability: ") && alone.is_some(),
            "{sizes}"
        );
        let twice = ok(&run(&workplace, &["model", "--merge", "twice.json"]));
        assert!(
            twice.contains("TextFileDriver: 2 objects, 3 nodes"),
            "{twice}"
        );
    }
}

/// Many lives of three classes, each within a part of the recording; those of a hundred objects run
/// in parallel, so that whatever is lost, some are in the middle of it.
const LIVES: &str = "
public class Lives {
    public static class Life {
        int state;
        public void open(int to) { state = to; }
        public void use(int to) { state += to; }
        public int look() { return state; }
        public void close() { state = 0; }
    }
    public static class First extends Life { public First() { } }
    public static class Second extends Life { public Second() { } }
    public static class Third extends Life { public Third() { } }
    static void live(Life[] all) {
        for (Life one : all) one.open(1);
        for (Life one : all) one.use(2);
        for (Life one : all) one.look();
        for (Life one : all) one.close();
    }
    static Life of(int kind) { return kind == 0 ? new First() : kind == 1 ? new Second() : new Third(); }
    public static void main(String[] arguments) {
        for (int kind = 0; kind < 3; kind++) {
            for (int round = 0; round < 60; round++) {
                Life[] all = new Life[100];
                for (int i = 0; i < all.length; i++) all[i] = of(kind);
                live(all);
            }
        }
    }
}";

/// The possible first steps of objects in a model: each class with each edge from its first node.
fn ways(model: &Value) -> BTreeSet<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut found = BTreeSet::new();
    for class in model["classes"].as_array().expect("classes") {
        let edges = class["edges"].as_array().expect("edges");
        let mut due = vec![(0, Vec::new())];
        while let Some((node, way)) = due.pop() {
            assert!(way.len() < 20, "a circle: {class}");
            for edge in edges.iter().filter(|edge| edge["from"] == node) {
                let call = format!("{}.{}", text(&edge["class"]), text(&edge["method"]));
                let way = [way.as_slice(), &[call + &edge["positions"].to_string()]].concat();
                due.push((edge["to"].as_u64().expect("a node"), way.clone()));
                found.insert((text(&class["class"]), way));
            }
        }
    }
    found
}

#[test]
fn what_is_left_of_a_damaged_recording_gives_a_part_of_the_model() {
    let workplace = Workplace::new("model-damaged");
    let program = ("Lives", LIVES);
    let (_, ran) = workplace.run_text(&jdks()[0], "17", "mode=trace", program);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let model = |is_damaged: bool| {
        let output = run(&workplace, &["model", "out", "--format", "json"]);
        let told = text(&output.stderr);
        let status = output.status.code();
        assert_eq!(status, Some(i32::from(is_damaged)), "{told}");
        assert_eq!(told.contains(".hst: "), is_damaged, "{told}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let sizes = (found["classes"].as_array().expect("classes").iter())
            .map(|class| class["objects"].as_u64().expect("a count"))
            .sum::<u64>();
        (ways(&found), sizes)
    };
    let (whole, objects) = model(false);
    assert_eq!(objects, 3 * 60 * 100);
    assert!(whole.len() >= 3 * 5, "{whole:#?}");
    let segment = segment(&workplace);
    let bytes = fs::read(&segment).expect("a segment");
    let flipped = |place: usize| {
        let mut bytes = bytes.clone();
        bytes[place] ^= 0x10;
        bytes
    };
    let len = bytes.len();
    for damaged in [
        flipped(len / 4),
        flipped(len / 2),
        flipped(len - len / 8),
        bytes[..len * 2 / 3].to_vec(),
    ] {
        fs::write(&segment, damaged).expect("a segment");
        let (found, left) = model(true);
        let others: Vec<_> = found.difference(&whole).collect();
        assert!(others.is_empty(), "{others:#?}");
        assert!(0 < left && left < objects, "{left} objects");
    }
}

fn segment(workplace: &Workplace) -> PathBuf {
    let mut files = fs::read_dir(workplace.join("out/trace"))
        .expect("a trace")
        .map(|entry| entry.expect("a file").path());
    let segment = files.find(|path| path.extension().is_some_and(|found| found == "hst"));
    segment.expect("a segment")
}

#[test]
fn a_recording_of_which_nothing_is_left_gives_no_model() {
    let jdk = jdks().last().expect("a JDK");
    let workplace = record(jdk, "tinysql", "TinySql");
    let segment = segment(&workplace);
    let bytes = fs::read(&segment).expect("a segment");
    fs::write(&segment, &bytes[..bytes.len() - 40]).expect("a segment");
    let output = run(&workplace, &["model", "out"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("there is no object with calls"), "{told}");
    fs::remove_dir_all(workplace.join("out/trace")).expect("it was there");
    let output = run(&workplace, &["model", "out"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("its files are gone"), "{told}");
}
