//! Verdicts of `hindsight mutability` against the truth: the programs of
//! `mutability/` say on the line of each method what is to be expected of its
//! parameters (`// expect this: immutable, p: mutable`). Prints recall and
//! precision of each pipeline.

use hindsight_test_programs::{hindsight, jdks, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Class, method, parameter, and whether it is mutable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Parameter {
    class: String,
    method: String,
    /// All parameters that the line speaks of, to tell overloads apart.
    names: Vec<String>,
    name: String,
}

/// Reads the expectations of a source file.
fn expectations(source: &str, found: &mut BTreeMap<Parameter, bool>) {
    let mut depth = 0;
    let mut classes: Vec<(String, usize)> = Vec::new();
    for line in source.lines() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let words: Vec<&str> = code
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let declares = words
            .iter()
            .position(|word| matches!(*word, "class" | "record" | "interface"));
        let is_head = !code.contains(';') && code.trim_end().ends_with('{');
        if let (Some(at), true) = (declares, is_head) {
            classes.push((words[at + 1].to_owned(), depth));
        }
        if let Some(expected) = comment.trim().strip_prefix("expect ") {
            let class: Vec<&str> = classes.iter().map(|class| class.0.as_str()).collect();
            let open = code.find('(').expect("a method on the line");
            let name = code[..open]
                .rsplit(|c: char| !c.is_alphanumeric())
                .next()
                .unwrap();
            let method = if Some(&name) == class.last() {
                "<init>"
            } else {
                name
            };
            let pairs: Vec<(&str, &str)> = expected
                .split(", ")
                .map(|pair| pair.split_once(": ").unwrap())
                .collect();
            for (parameter, verdict) in &pairs {
                let parameter = Parameter {
                    class: class.join("$"),
                    method: method.to_owned(),
                    names: pairs.iter().map(|pair| pair.0.to_owned()).collect(),
                    name: (*parameter).to_owned(),
                };
                let mutable = match *verdict {
                    "mutable" => true,
                    "immutable" => false,
                    other => panic!("{other} in {line}"),
                };
                assert!(found.insert(parameter, mutable).is_none(), "twice: {line}");
            }
        }
        depth += code.matches('{').count();
        depth -= code.matches('}').count();
        classes.retain(|class| class.1 < depth);
    }
}

/// Rows of truth and verdict.
#[derive(Debug, Default)]
struct Matrix {
    /// Immutable: called immutable, mutable, unknown.
    immutable: [usize; 3],
    /// Mutable: likewise.
    mutable: [usize; 3],
    wrong: Vec<String>,
    open: Vec<String>,
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

impl Matrix {
    fn i_recall(&self) -> f64 {
        ratio(self.immutable[0], self.immutable.iter().sum())
    }
    fn i_precision(&self) -> f64 {
        ratio(self.immutable[0], self.immutable[0] + self.mutable[0])
    }
    fn m_recall(&self) -> f64 {
        ratio(self.mutable[1], self.mutable.iter().sum())
    }
    fn m_precision(&self) -> f64 {
        ratio(self.mutable[1], self.mutable[1] + self.immutable[1])
    }
}

fn workplace() -> PathBuf {
    root().join("target/mutability")
}

fn verdicts(classes: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(hindsight())
        .arg("mutability")
        .arg("--classpath")
        .arg(classes)
        .args(["--format", "json", "--quiet"])
        .args(arguments)
        .env("JAVA_HOME", &jdks()[0].home)
        // The JDK is analysed once for all runs of the tests.
        .env("XDG_CACHE_HOME", workplace().join("cache"))
        .output()
        .expect("hindsight runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "hindsight.mutability/1");
    document
}

fn compare(document: &Value, expected: &BTreeMap<Parameter, bool>) -> Matrix {
    let mut matrix = Matrix::default();
    for (parameter, &mutable) in expected {
        let methods = document["methods"].as_array().unwrap();
        let of = |method: &&Value| {
            let parameters = method["parameters"].as_array().unwrap();
            let has = |name: &String| {
                parameters
                    .iter()
                    .any(|found| found["name"] == name.as_str())
            };
            method["class"] == parameter.class.as_str()
                && method["method"] == parameter.method.as_str()
                && parameter.names.iter().all(has)
                && parameter.names.contains(&"this".to_owned()) == has(&"this".to_owned())
        };
        let method = methods
            .iter()
            .find(of)
            .unwrap_or_else(|| panic!("no method for {parameter:?}"));
        let parameters = method["parameters"].as_array().unwrap();
        let row = parameters
            .iter()
            .find(|found| found["name"] == parameter.name.as_str())
            .unwrap();
        let reason = row["reason"].as_str().unwrap();
        assert!(!reason.is_empty(), "{parameter:?} has no reason");
        let verdict = match row["verdict"].as_str().unwrap() {
            "immutable" => 0,
            "mutable" => 1,
            _ => 2,
        };
        let truth = if mutable { "mutable" } else { "immutable" };
        let line = format!(
            "{}.{}({}) {} is {truth}, called {} by {}: {reason}",
            parameter.class,
            parameter.method,
            parameter.names.join(","),
            parameter.name,
            row["verdict"],
            row["stage"]
        );
        match (mutable, verdict) {
            (true, 0) | (false, 1) => matrix.wrong.push(line),
            (_, 2) => matrix.open.push(line),
            _ => {}
        }
        if mutable {
            matrix.mutable[verdict] += 1;
        } else {
            matrix.immutable[verdict] += 1;
        }
    }
    matrix
}

#[test]
fn annotated_programs() {
    let dir = root().join("test-programs/mutability");
    let classes = workplace().join("classes");
    let _ = fs::remove_dir_all(&classes);
    fs::create_dir_all(&classes).unwrap();
    let mut expected = BTreeMap::new();
    let mut sources = Vec::new();
    for file in fs::read_dir(&dir).unwrap() {
        let path = file.unwrap().path();
        expectations(&fs::read_to_string(&path).unwrap(), &mut expected);
        sources.push(path);
    }
    assert!(expected.len() >= 120, "{} parameters", expected.len());
    let javac = Command::new(jdks()[0].tool("javac"))
        .args(["-g", "-nowarn", "-d"])
        .arg(&classes)
        .args(&sources)
        .status()
        .unwrap();
    assert!(javac.success());

    let mut results = BTreeMap::new();
    println!(
        "{} parameters; i-recall i-precision m-recall m-precision",
        expected.len()
    );
    let pipelines: [(&str, &[&str]); 5] = [
        ("S-P", &["--pipeline", "S-P"]),
        ("SH-P", &["--pipeline", "SH-P"]),
        ("S'-P", &["--pipeline", "S'-P"]),
        ("S-P sound", &["--pipeline", "S-P", "--sound"]),
        ("S'-P sound", &["--pipeline", "S'-P", "--sound"]),
    ];
    for (name, arguments) in pipelines {
        let matrix = compare(&verdicts(&classes, arguments), &expected);
        println!(
            "{name:12} {:.3} {:.3} {:.3} {:.3}",
            matrix.i_recall(),
            matrix.i_precision(),
            matrix.m_recall(),
            matrix.m_precision()
        );
        for line in matrix.wrong.iter().chain(&matrix.open) {
            println!("    {line}");
        }
        results.insert(name, matrix);
    }
    // What is called immutable with --sound is: no exceptions.
    for name in ["S-P sound", "S'-P sound"] {
        assert_eq!(
            results[name].mutable[0], 0,
            "{name}: {:#?}",
            results[name].wrong
        );
    }
    let best = &results["S'-P"];
    assert!(
        best.i_recall() >= 0.97 && best.i_precision() == 1.0,
        "{:#?}",
        best.wrong
    );
    assert!(
        best.m_recall() >= 0.97 && best.m_precision() >= 0.97,
        "{:#?}",
        best.open
    );
}
