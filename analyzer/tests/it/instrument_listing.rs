//! The listing against `javap`, which knows nothing of us.

use crate::common::{compile, text};
use crate::instrument::{instrumented, succeed};
use crate::support::{Jdk, jdks};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs with every shape that inserted code can take.
fn sources() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/instrument/tests/it/java");
    ["Listing.java", "Hazards.java", "Tables.java", "Modern.java"]
        .map(|name| dir.join(name))
        .to_vec()
}

/// A method as both see it.
#[derive(Debug, Default, PartialEq)]
struct Method {
    /// Offset, mnemonic, and what the instruction refers to in the probe class.
    code: Vec<(u64, String, String)>,
    /// From, to, handler, class.
    exceptions: Vec<(u64, u64, u64, String)>,
    /// Offsets of the frames.
    frames: Vec<u64>,
    stack: u64,
    locals: u64,
}

fn probe_of(operand: &str) -> String {
    let at = operand.find("java/lang/Hindsight");
    at.map_or(String::new(), |at| operand[at..].trim().to_owned())
}

fn ours(class: &Json) -> BTreeMap<String, Method> {
    let number = |value: &Json| value.as_u64().unwrap();
    let string = |value: &Json| value.as_str().unwrap().to_owned();
    let list = |value: &Json| value.as_array().unwrap().clone();
    let methods = list(&class["methods"]).into_iter().map(|method| {
        let code = list(&method["code"]);
        let code = code.iter().map(|line| {
            (
                number(&line["offset"]),
                string(&line["mnemonic"]),
                probe_of(line["operand"].as_str().unwrap()),
            )
        });
        let exceptions = list(&method["exceptions"]);
        let exceptions = exceptions.iter().map(|entry| {
            let class = entry["class"].as_str().unwrap_or("any").to_owned();
            let [from, to, target] = ["from", "to", "target"].map(|key| number(&entry[key]));
            (from, to, target, class)
        });
        let frames = list(&method["frames"]);
        let key = string(&method["method"]) + &string(&method["descriptor"]);
        let listed = Method {
            code: code.collect(),
            exceptions: exceptions.collect(),
            frames: frames
                .iter()
                .map(|frame| number(&frame["offset"]))
                .collect(),
            stack: number(&method["max_stack"]["new"]),
            locals: number(&method["max_locals"]["new"]),
        };
        (key, listed)
    });
    methods.collect()
}

/// Reads what `javap -v` prints.
fn theirs(printed: &str, simple_name: &str) -> BTreeMap<String, Method> {
    let mut methods: BTreeMap<String, Method> = BTreeMap::new();
    let (mut head, mut key) = (String::new(), None::<String>);
    let mut next_frame = 0;
    for line in printed.lines() {
        let trimmed = line.trim();
        if let Some(descriptor) = trimmed.strip_prefix("descriptor: ") {
            // A field's descriptor has no parenthesis.
            key = descriptor.starts_with('(').then(|| {
                let name = head.split('(').next().unwrap();
                let name = name.split_whitespace().last().unwrap_or_default();
                let name = match name {
                    "{}" | "{};" => "<clinit>",
                    name if name == simple_name => "<init>",
                    name => name,
                };
                let name = if head.contains("{}") {
                    "<clinit>"
                } else {
                    name
                };
                format!("{name}{descriptor}")
            });
            continue;
        }
        let Some(key) = &key else {
            head = trimmed.to_owned();
            continue;
        };
        if line.starts_with("  ") && !line.starts_with("   ") {
            head = trimmed.to_owned();
        }
        let words: Vec<&str> = trimmed.split_whitespace().collect();
        if let Some(rest) = trimmed.strip_prefix("stack=") {
            let numbers: Vec<u64> = rest
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|part| part.parse().ok())
                .collect();
            let method = methods.entry(key.clone()).or_default();
            (method.stack, method.locals) = (numbers[0], numbers[1]);
            next_frame = 0;
            continue;
        }
        let Some(method) = methods.get_mut(key) else {
            continue;
        };
        // An instruction: its offset stands right-aligned before a colon, deeper
        // than the rows of any table.
        if let [offset, mnemonic, ..] = words[..]
            && let Some(Ok(offset)) = offset.strip_suffix(':').map(str::parse)
            && mnemonic.starts_with(|c: char| c.is_ascii_lowercase())
            && method.exceptions.is_empty()
            && method.frames.is_empty()
            && line.starts_with("     ")
        {
            let named = trimmed.split("// ").nth(1).unwrap_or_default();
            method
                .code
                .push((offset, mnemonic.to_owned(), probe_of(named)));
        } else if let [from, to, target, rest @ ..] = &words[..]
            && let (Ok(from), Ok(to), Ok(target)) = (from.parse(), to.parse(), target.parse())
            && matches!(rest, ["any"] | ["Class", _])
        {
            let class = rest.last().unwrap().to_string();
            method.exceptions.push((from, to, target, class));
        } else if let ["frame_type", "=", kind, ..] = words[..] {
            let kind: u64 = kind.parse().unwrap();
            match kind {
                0..=63 => method.frames.push(next_frame + kind),
                64..=127 => method.frames.push(next_frame + kind - 64),
                // The line after tells.
                _ => continue,
            }
            next_frame = method.frames.last().unwrap() + 1;
        } else if let ["offset_delta", "=", delta] = words[..] {
            let at = next_frame + delta.parse::<u64>().unwrap();
            method.frames.push(at);
            next_frame = at + 1;
        }
    }
    methods
}

/// What `javap` prints of each class; one run for all, for it starts slowly.
fn javap(jdk: &Jdk, classes: &[PathBuf]) -> Vec<String> {
    let printed = succeed(jdk.tool("javap").args(["-v", "-p"]).args(classes));
    let parts: Vec<String> = format!("\n{printed}")
        .split("\nClassfile ")
        .skip(1)
        .map(str::to_owned)
        .collect();
    assert_eq!(parts.len(), classes.len());
    parts
}

#[test]
fn javap_sees_the_same_code() {
    let dir = tempfile::tempdir().unwrap();
    // A jump that new code makes too long, and that goes by way of an island.
    let far = dir.path().join("Far.java");
    let writes = "a[0] = 1;".repeat(5000);
    let text = format!(
        "class Far {{ static int m(int[] a, int n) {{
             int i = 0; do {{ {writes} i++; }} while (i < n); return a[i]; }} }}"
    );
    fs::write(&far, text).unwrap();
    for jdk in jdks().iter().filter(|jdk| jdk.feature >= 17) {
        let classes = dir.path().join(jdk.feature.to_string());
        succeed(
            jdk.tool("javac")
                .args(["-g", "--release", "17", "-d"])
                .arg(&classes)
                .args(sources())
                .arg(&far),
        );
        for (probes, arguments) in [
            ("crash", "--report=escape:**Escape*;caught:**Caught*"),
            ("deep", "--copy=deep"),
            ("trace", "--trace-what=calls;writes;reads;values"),
        ] {
            let to = dir.path().join(format!("{}-{probes}", jdk.feature));
            let mode = if probes == "trace" { "trace" } else { "crash" };
            let report = instrumented([
                classes.as_os_str(),
                "--out".as_ref(),
                to.as_os_str(),
                "--list".as_ref(),
                "--mode".as_ref(),
                mode.as_ref(),
                arguments.as_ref(),
            ]);
            agree(jdk, &classes, &to, &report);
            let islands = report.to_string().matches(r#""part":"island""#).count();
            assert!(islands > 0 || probes != "deep");
        }
    }
}

/// Compares a listing with what `javap` prints of the old and the new classes.
fn agree(jdk: &Jdk, classes: &Path, to: &Path, report: &Json) {
    let listed = report["classes"].as_array().unwrap();
    let olds: Vec<PathBuf> = listed
        .iter()
        .map(|class| PathBuf::from(class["path"].as_str().unwrap()))
        .collect();
    let news: Vec<PathBuf> = olds
        .iter()
        .map(|path| to.join(path.strip_prefix(classes).unwrap()))
        .collect();
    let (olds, news) = (javap(jdk, &olds), javap(jdk, &news));
    let (mut compared, mut inserted, mut probes) = (0, 0, 0);
    for ((class, old), new) in listed.iter().zip(&olds).zip(&news) {
        let name = class["class"].as_str().unwrap();
        let theirs = theirs(new, name);
        for (key, listed) in ours(class) {
            let seen = theirs.get(&key);
            assert_eq!(Some(&listed), seen, "{name}.{key}, JDK {}", jdk.feature);
            compared += 1;
            probes += listed.code.iter().filter(|line| !line.2.is_empty()).count();
        }
        // New and old: without the new, it is what `javap` sees in the old.
        let before = self::theirs(old, name);
        for method in class["methods"].as_array().unwrap() {
            let key = format!(
                "{}{}",
                method["method"].as_str().unwrap(),
                method["descriptor"].as_str().unwrap()
            );
            let code = method["code"].as_array().unwrap();
            let old: Vec<_> = code
                .iter()
                .filter(|line| line.get("part").is_none())
                .map(|line| {
                    let mnemonic = line["mnemonic"].as_str().unwrap().to_owned();
                    (
                        line["old_offset"].as_u64().unwrap(),
                        mnemonic,
                        String::new(),
                    )
                })
                .collect();
            inserted += code.len() - old.len();
            assert_eq!(old, before[&key].code, "{name}.{key}");
            let kept = method["exceptions"].as_array().unwrap().iter();
            let kept = kept.filter(|entry| entry["inserted"] == false).count();
            assert_eq!(kept, before[&key].exceptions.len(), "{name}.{key}");
            let kept = method["frames"].as_array().unwrap().iter();
            let kept = kept.filter(|frame| frame["inserted"] == false).count();
            assert_eq!(kept, before[&key].frames.len(), "{name}.{key}");
        }
    }
    assert!(
        compared > 60 && inserted > 600 && probes > 90,
        "{compared} {inserted} {probes}"
    );
}

/// A variable that holds an exception in a handler and an argument around a call.
#[test]
fn a_variable_is_listed_with_all_that_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class A { static void m(int[] a, int[] b) {
        try { System.arraycopy(a, 0, b, 0, 1); } catch (RuntimeException e) { b[0] = 1; } } }";
    let class = compile(dir.path(), &[("A.java", source)]).join("A.class");
    let arguments = [class.to_str().unwrap(), "--mode", "trace", "--list"];
    let report = instrumented(arguments);
    let methods = report["classes"][0]["methods"].as_array().unwrap();
    let m = methods.iter().find(|one| one["method"] == "m").unwrap();
    let locals = m["locals"].as_array().unwrap().iter();
    let shared = locals.filter(|local| local["slot"] == m["max_locals"]["old"]);
    let told: Vec<&str> = shared.map(|it| it["holds"].as_str().unwrap()).collect();
    let [caught, call] = told[..] else {
        panic!("{told:?}")
    };
    assert!(caught.starts_with("the exception, "), "{caught}");
    assert!(call.starts_with("what a call "), "{call}");
}

#[test]
fn the_listing_for_people() {
    let jdk = jdks().remove(0);
    let dir = tempfile::tempdir().unwrap();
    succeed(
        jdk.tool("javac")
            .args(["-g", "--release", "8", "-Xlint:-options", "-d"])
            .arg(dir.path())
            .arg(&sources()[0]),
    );
    let list = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hindsight"))
            .args(["instrument", "Listing.class"])
            .args(arguments)
            .current_dir(dir.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (status, new, errors) = list(&["--list"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let (_, all, _) = list(&["--list=all", "--method", "caught", "--copy", "reference"]);
    crate::common::check_golden("instrument.txt", &format!("{new}\n{all}"));
    assert!(!new.contains('\x1b'));

    let (status, _, errors) = list(&["--list", "--method", "none"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("no method that was looked at"), "{errors}");
    let (status, _, errors) = list(&["--list", "--format", "json", "--class", "None"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("no class here matches --class"), "{errors}");
    let (status, _, errors) = list(&["--list", "--class", "Listing", "--method", "none"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("no class that matches"), "{errors}");

    // What stays as it is, is there all the same.
    let unlisted = |more: &[&str]| {
        let (status, told, errors) = list(&[&["--list", "--method", "getField"], more].concat());
        assert_eq!((status, errors.as_str()), (Some(0), ""));
        told
    };
    assert!(unlisted(&[]).contains("left getField()I: cannot throw"));
    let told = unlisted(&["--class", "Listing", "--exclude", "*"]);
    let left = "class Listing (Listing.class)\n  left as it was: not selected\n";
    assert!(told.starts_with(left), "{told}");
    let told = unlisted(&["--class", "Listing", "--exclude", "*", "--format", "json"]);
    assert!(told.contains("\"reason\":\"not selected\""), "{told}");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "nothing was written"
    );
}
