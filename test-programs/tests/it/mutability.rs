//! Compares verdicts of `hindsight mutability` with the truth: the programs of `mutability/` have
//! the expected verdicts about a method's parameters on its line (`// expect this: immutable, p:
//! mutable`). It prints recall and precision of each pipeline.
//!
//! What recorded runs show is compared with an interpreter of the formal semantics
//! (`mutability/oracle/`), which agrees with the comments.
//!
//! - [`apart`] has programs for one question each, [`runs`] what runs show.

mod apart;
mod runs;

use hindsight_test_programs::{Workplace, both, hindsight, jars, jdks, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A parameter, by class, method and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Parameter {
    class: String,
    method: String,
    /// All parameters on the line, which distinguish overloads.
    names: Vec<String>,
    name: String,
}

/// Parses the expectations of a source file.
fn expectations(source: &str, found: &mut BTreeMap<Parameter, bool>) {
    let mut depth = 0;
    let mut classes: Vec<(String, usize)> = Vec::new();
    let package = (source
        .lines()
        .find_map(|line| line.strip_prefix("package ")))
    .map_or(String::new(), |name| name.replace(';', "."));
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
                    class: package.clone() + &class.join("$"),
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

/// A confusion matrix of truth and verdict.
#[derive(Debug, Default)]
struct Matrix {
    /// The immutable parameters that were called immutable, mutable, unknown.
    immutable: [usize; 3],
    /// The mutable parameters, likewise.
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

/// The directory of the cached results about the JDK.
pub fn cache() -> PathBuf {
    workplace().join("cache")
}

pub fn verdicts<S: AsRef<std::ffi::OsStr>>(classes: &Path, arguments: &[S]) -> Value {
    // The JDK is analysed once for all tests, instead of by several at the same time.
    static FIRST: OnceLock<()> = OnceLock::new();
    let run = |classes: &Path, arguments: &mut dyn Iterator<Item = &std::ffi::OsStr>| {
        let output = Command::new(hindsight())
            .arg("mutability")
            .arg("--classpath")
            .arg(classes)
            .args(["--format", "json", "--quiet"])
            .args(arguments)
            .env("JAVA_HOME", &jdks()[0].home)
            .env("XDG_CACHE_HOME", cache())
            .output()
            .expect("hindsight runs");
        assert!(output.status.success(), "{}", both(&output));
        output
    };
    FIRST.get_or_init(|| {
        for sound in [&[][..], &["--sound"]] {
            let mut arguments = sound.iter().map(|text: &&str| std::ffi::OsStr::new(*text));
            run(classes, &mut arguments);
        }
    });
    let output = run(classes, &mut arguments.iter().map(AsRef::as_ref));
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

/// The annotated programs, compiled, with their expectations.
struct Annotated {
    classes: PathBuf,
    expected: BTreeMap<Parameter, bool>,
}

fn annotated() -> &'static Annotated {
    static ANNOTATED: OnceLock<Annotated> = OnceLock::new();
    ANNOTATED.get_or_init(|| {
        let dir = root().join("test-programs/mutability");
        let classes = workplace().join("classes");
        let _ = fs::remove_dir_all(&classes);
        fs::create_dir_all(&classes).unwrap();
        let mut expected = BTreeMap::new();
        let mut sources = Vec::new();
        for file in fs::read_dir(&dir).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                expectations(&fs::read_to_string(&path).unwrap(), &mut expected);
                sources.push(path);
            }
        }
        assert!(expected.len() >= 120, "{} parameters", expected.len());
        compile(&classes, &sources);
        Annotated { classes, expected }
    })
}

fn compile(classes: &Path, sources: &[PathBuf]) {
    let mut arguments: Vec<OsString> = ["-g", "-nowarn", "-d"].map(OsString::from).into();
    arguments.push(classes.into());
    arguments.extend(sources.iter().map(OsString::from));
    jdks()[0].compile(arguments);
}

/// The class, method, descriptor, and index of a parameter.
type Place = (String, String, String, u64);

/// The parameters that the formal semantics marks in a run of all programs.
fn marked() -> &'static BTreeSet<Place> {
    static MARKED: OnceLock<BTreeSet<Place>> = OnceLock::new();
    MARKED.get_or_init(|| oracle(&annotated().classes))
}

fn oracle(classes: &Path) -> BTreeSet<Place> {
    let workplace = Workplace::new("mutability-oracle");
    let asm = jars(&["org.ow2.asm:asm:9.9", "org.ow2.asm:asm-tree:9.9"]);
    let asm = std::env::join_paths(asm).unwrap();
    let sources = fs::read_dir(root().join("test-programs/mutability/oracle")).unwrap();
    let sources: Vec<PathBuf> = sources.map(|file| file.unwrap().path()).collect();
    let options = ["-cp", asm.to_str().unwrap()];
    let compiled = workplace.compile(&jdks()[0], &options, &sources);
    let mut path = compiled.into_os_string();
    path.push(":");
    path.push(&asm);
    let run = jdks()[0]
        .java()
        .arg("-cp")
        .arg(path)
        .arg("Oracle")
        .arg(classes)
        .arg("Driver")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", both(&run));
    let text = String::from_utf8(run.stdout).unwrap();
    let lines = text.lines().map(|line| {
        let mut parts = line.split('\t').map(str::to_owned);
        let mut next = || parts.next().unwrap();
        (next(), next(), next(), next().parse().unwrap())
    });
    lines.collect()
}

/// Whether a parameter's method has no body: its implementations decide, and no run shows it.
fn is_bodiless(parameter: &Value) -> bool {
    let reason = parameter["reason"].as_str().unwrap();
    reason.starts_with("the method has no body")
}

/// The parameters with this verdict.
fn places(document: &Value, verdict: &str) -> BTreeSet<Place> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found = BTreeSet::new();
    for method in document["methods"].as_array().unwrap() {
        for parameter in method["parameters"].as_array().unwrap() {
            if parameter["verdict"] == verdict && !is_bodiless(parameter) {
                found.insert((
                    text(&method["class"]),
                    text(&method["method"]),
                    text(&method["descriptor"]),
                    parameter["index"].as_u64().unwrap(),
                ));
            }
        }
    }
    found
}

/// Checks that what a pipeline has decided remains when more stages follow, and that they decide
/// more.
fn refines(shorter: &[&str], longer: &Value) {
    let first = verdicts(&annotated().classes, &[&["--pipeline"], shorter].concat());
    let decided = |document: &Value| {
        let of = |verdict: &'static str| {
            let places = places(document, verdict).into_iter();
            places.map(move |place| (place, verdict))
        };
        of("mutable").chain(of("immutable")).collect()
    };
    let (first, then): (BTreeSet<_>, BTreeSet<_>) = (decided(&first), decided(longer));
    let undone: Vec<_> = first.difference(&then).collect();
    assert!(undone.is_empty(), "after {shorter:?}: {undone:#?}");
    assert!(then.len() > first.len(), "nothing after {shorter:?}");
}

/// Checks a pipeline that is sound according to the thesis; here, with `--sound`.
fn finds_only_what_is_immutable(pipeline: &str, found: &Value) {
    let Annotated { classes, expected } = annotated();
    let called = places(found, "immutable");
    let wrong: Vec<_> = called.intersection(marked()).collect();
    assert!(wrong.is_empty(), "{pipeline}: {wrong:#?}");
    let before = verdicts(classes, &["--pipeline", "S-P", "--sound"]);
    let before = compare(&before, expected);
    let after = compare(found, expected);
    println!(
        "{pipeline:12} i-recall {:.3} (S-P {:.3}), m-recall {:.3} (S-P {:.3})",
        after.i_recall(),
        before.i_recall(),
        after.m_recall(),
        before.m_recall()
    );
    assert!(after.i_recall() >= before.i_recall(), "{:#?}", after.open);
    assert!(
        after.m_recall() >= before.m_recall() + 0.05,
        "{:#?}",
        after.open
    );
    refines(&["S-P", "--sound"], found);
}

/// Nothing is proved that a run disproves, or the command fails.
#[test]
fn what_others_reach_is_not_proved() {
    for (name, main) in [("kept", "Kept"), ("alike", "Alike")] {
        let Annotated { classes, expected } = apart(name);
        let runs: Vec<_> = (0..jdks().len())
            .map(|jdk| recorded(jdk, &classes, main))
            .collect();
        // P must not decide what S' has left open.
        for pipeline in ["S'-P", "S'", "S-P", "S-S'-P"] {
            let arguments = ["--sound", "--pipeline", pipeline];
            let matrix = compare(&verdicts(&classes, &arguments), &expected);
            assert_eq!(matrix.mutable[0], 0, "{pipeline}: {:#?}", matrix.wrong);
            if pipeline == "S'-P" {
                let open = matrix.open.iter().chain(&matrix.wrong);
                let open: Vec<_> = open.filter(|line| line.contains("is immutable")).collect();
                assert!(open.is_empty(), "{open:#?}");
            }
        }
        for (_, run) in &runs {
            for pipeline in ["S'-P-X-P", "S-P-X-P"] {
                let arguments = ["--sound", "--pipeline", pipeline, "--trace", run];
                let matrix = compare(&verdicts(&classes, &arguments), &expected);
                assert_eq!(matrix.mutable[0], 0, "{pipeline}: {:#?}", matrix.wrong);
            }
        }
    }
    // What may be the same object is taken to be so without proofs, too.
    let Annotated { classes, expected } = apart("alike");
    let matrix = compare(&verdicts(&classes, &[""; 0]), &expected);
    assert!(matrix.wrong.is_empty(), "{:#?}", matrix.wrong);
}

#[test]
fn annotated_programs() {
    let Annotated { classes, expected } = annotated();
    let mut results = BTreeMap::new();
    println!(
        "{} parameters; i-recall i-precision m-recall m-precision",
        expected.len()
    );
    let pipelines: [(&str, &[&str]); 5] = [
        ("S-P", &["--pipeline", "S-P"]),
        ("SH-P", &["--pipeline", "SH-P"]),
        // This is the default.
        ("S'-P", &[]),
        ("S-P sound", &["--pipeline", "S-P", "--sound"]),
        ("S'-P sound", &["--pipeline", "S'-P", "--sound"]),
    ];
    for (name, arguments) in pipelines {
        let matrix = compare(&verdicts(classes, arguments), expected);
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
    // What is called immutable with --sound is immutable without exception.
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

const MONEY: &str = "
import java.math.*;
import java.time.*;
import java.time.temporal.ChronoUnit;

public class Money {
    enum Unit { CENT, EURO }
    final BigDecimal amount;
    final LocalDate due;
    Money(BigDecimal amount, LocalDate due) { this.amount = amount; this.due = due; }
    Money plus(Money other) { return new Money(amount.add(other.amount), due); }
    Money minus(Money other) { return new Money(amount.subtract(other.amount), due); }
    int compare(Money other) { return amount.compareTo(other.amount); }
    String text() { return amount.setScale(2, RoundingMode.HALF_UP).toPlainString() + due; }
    boolean before(LocalDate day) { return due.isBefore(day); }
    long days(LocalDate day) { return ChronoUnit.DAYS.between(due, day); }
    Duration until(Instant one, Instant two) { return Duration.between(one, two); }
    int code(Unit unit) { return unit.hashCode(); }
    java.nio.file.Path file(java.nio.file.Path dir) { return dir.resolve(\"m\").toAbsolutePath(); }
}
";

/// What values of the JDK cache can always be computed again, so nobody sees it.
#[test]
fn values_of_the_jdk_do_not_change() {
    let workplace = Workplace::new("mutability-values");
    let classes = workplace.compile_text(&jdks()[0], &["--release", "17", "-g"], "Money", MONEY);
    let found = verdicts::<&str>(&classes, &[]);
    let (mut methods, mut parameters) = (0, 0);
    for method in found["methods"].as_array().expect("methods") {
        if method["class"] != "Money" || method["method"] == "<init>" {
            continue;
        }
        assert_eq!(method["pure"], true, "{method}");
        methods += 1;
        for parameter in method["parameters"].as_array().expect("parameters") {
            assert_eq!(parameter["verdict"], "immutable", "{method}");
            parameters += 1;
        }
    }
    assert_eq!((methods, parameters), (9, 18));
}

/// That a map caches the view of its values does not count as a change of the map.
#[test]
fn views_that_collections_keep_are_no_change() {
    const SOURCE: &str = "
import java.util.*;
public class Shelf {
    private final Map<String, int[]> slots = new LinkedHashMap<>();
    public void put(String name) { slots.put(name, new int[] {1}); }
    public int[][] all() { return slots.values().toArray(new int[0][]); }
    public Set<String> names() { return new TreeSet<>(slots.keySet()); }
    public static void main(String[] arguments) {
        Shelf shelf = new Shelf();
        shelf.put(\"a\");
        System.out.println(shelf.all().length + shelf.names().size());
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("mutability-views");
        let options = "mode=trace,trace-what=calls;writes;reads;values,include=Shelf;java.util.*";
        let (classes, run) = workplace.run_text(jdk, "11", options, ("Shelf", SOURCE));
        assert!(run.status.success(), "{}", both(&run));
        let out = workplace.join("out").display().to_string();
        let document = verdicts(&classes, &["--trace", &out]);
        let mutable = places(&document, "mutable");
        let told = format!("JDK {}: {mutable:?}", jdk.version);
        assert!(told.contains("put"), "{told}");
        assert!(!told.contains("all") && !told.contains("names"), "{told}");
    }
}

/// The programs of a directory that no driver runs, with their expectations.
fn apart(name: &str) -> Annotated {
    let dir = workplace().join(name);
    fs::create_dir_all(&dir).unwrap();
    let mut expected = BTreeMap::new();
    let mut sources = Vec::new();
    for file in fs::read_dir(root().join("test-programs/mutability").join(name)).unwrap() {
        let path = file.unwrap().path();
        expectations(&fs::read_to_string(&path).unwrap(), &mut expected);
        sources.push(path);
    }
    compile(&dir, &sources);
    Annotated {
        classes: dir,
        expected,
    }
}

/// The place of the classes that were recorded with full traces while their `main` ran.
fn recorded(jdk: usize, classes: &Path, main: &str) -> (Workplace, String) {
    let jdk = &jdks()[jdk];
    let workplace = Workplace::new(&format!("mutability-{main}-{}", jdk.version));
    let out = workplace.join("run").display().to_string();
    let options = format!("mode=trace,trace-what=calls;writes;reads;values,out={out}");
    let agent = hindsight_test_programs::agent();
    let run = jdk
        .java()
        .arg(format!("-agentpath:{}={options}", agent.display()))
        .arg("-cp")
        .arg(classes)
        .arg(main)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", both(&run));
    (workplace, out)
}
