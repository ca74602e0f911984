//! What `hindsight instrument` refuses, and what it never destroys.

use crate::common::*;
use crate::instrument::instrumented;
use crate::support::Random;
use crate::zips::{Part, archive, part, stored};
use hindsight_analyzer::archive::read::{Directory, Source};
use hindsight_analyzer::instrument::listing::{Listing, Print};
use hindsight_analyzer::instrument::plan::Plan;
use hindsight_analyzer::instrument::run::{Options, instrument};
use hindsight_test_programs::is_full;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

#[track_caller]
fn refused<S: AsRef<OsStr>>(arguments: &[S], status: i32, parts: &[&str]) {
    let mut all = vec![OsStr::new("instrument")];
    all.extend(arguments.iter().map(AsRef::as_ref));
    let output = hindsight(&all);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{all:?}: {errors}");
    for part in parts {
        assert!(errors.contains(part), "no {part:?} in {errors}");
    }
}

fn class(dir: &Path) -> Vec<u8> {
    let source = "class A { static int m(String s) { return s.length(); } }";
    let classes = compile(dir, &[("A.java", source)]);
    fs::read(classes.join("A.class")).unwrap()
}

/// Of versions that no JVM loads nothing is known; what runs under the agent alone says so.
#[test]
fn what_the_output_is_good_for_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let file = |name: &str| dir.join(name).display().to_string();
    let mut class = class(dir);
    let name = file("A.class");
    let run = |class: &[u8], more: &[&str]| {
        fs::write(&name, class).unwrap();
        let out = file("new.class");
        let common = ["instrument", &name, "--out", &out, "--force"];
        let output = hindsight([&common, more].concat());
        let errors = text(&output.stderr).to_owned();
        assert_eq!(output.status.code(), Some(0), "{errors}");
        (errors, fs::read(out).unwrap() == class)
    };
    assert_eq!(run(&class, &[]), (String::new(), false));
    for more in [["--mode", "trace"], ["--copy", "deep"]] {
        let (errors, same) = run(&class, &more);
        let says = "runs only in a JVM with the agent, whose classes its code calls; nothing is recorded of it";
        assert!(!same && errors.contains(says), "{errors}");
    }
    // A typo leaves nothing else behind.
    let (errors, same) = run(&class, &["--include", "com.typo.**; A*"]);
    assert!(!same && errors.lines().count() == 1, "{errors}");
    assert!(
        errors.contains("--include com.typo.**: no class"),
        "{errors}"
    );
    let (errors, _) = run(
        &class,
        &["--report", "uncaught;escape:A.n;escape:A.m;caught:**"],
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(
        errors.contains("--report escape:A.n: no method"),
        "{errors}"
    );
    for (major, minor, is_known) in [
        (69_u16, 0_u16, true),
        (69, 65535, true),
        (70, 0, false),
        (61, 7, false),
    ] {
        class[4..6].copy_from_slice(&minor.to_be_bytes());
        class[6..8].copy_from_slice(&major.to_be_bytes());
        let (errors, same) = run(&class, &[]);
        assert_eq!(same, !is_known, "{major}.{minor}: {errors}");
        let says =
            format!("a version that no JVM up to Java 25 loads: {major}.{minor}; left as it was");
        assert_eq!(errors.contains(&says), !is_known, "{errors}");
    }
}

/// Where a method is so large that not all probes fit, some are left out.
#[test]
fn methods_that_have_less_than_was_asked_for_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let writes = "a[0] = 1;".repeat(7000);
    let source = format!("class A {{ static int m(int[] a) {{ {writes} return a[1]; }} }}");
    let class = compile(dir, &[("A.java", &source)]).join("A.class");
    let class = class.to_str().unwrap();
    for more in [["--copy", "deep"], ["--mode", "trace"]] {
        let report = instrumented([&[class, "--list"], &more[..]].concat());
        let counts = &report["counts"];
        let reasons = counts["methods_reduced"].as_object().unwrap();
        assert_eq!(reasons.values().collect::<Vec<_>>(), [1], "{counts:#}");
        let reduced = report["classes"][0]["reduced"].as_array().unwrap();
        assert_eq!((&reduced[0]["method"], reduced.len()), (&"m".into(), 1));
        let output = hindsight([&["instrument", class, "--list"], &more[..]].concat());
        let printed = text(&output.stdout);
        let reason = reasons.keys().next().unwrap();
        for line in [
            format!("  less than was asked for in m([I)I: {reason}"),
            format!("        1   rewritten to less than was asked for: {reason}"),
        ] {
            assert!(printed.lines().any(|one| one == line), "no {line}");
        }
    }
    let report = instrumented([class, "--list"]);
    assert_eq!(report["counts"]["methods_reduced"], serde_json::json!({}));
}

/// Not all that stands beside signatures and begins like one is one.
#[test]
fn what_is_no_signature_stays() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let kept = ["META-INF/sig-policy.properties", "META-INF/SIG-notes.text"];
    let mut parts = vec![part("A.class", &class(dir)), part("META-INF/SIG-A", b"")];
    parts.extend(kept.iter().map(|name| part(name, b"x")));
    let (from, to) = (dir.join("a.jar"), dir.join("b.jar"));
    let run = |parts: &[Part]| {
        fs::write(&from, archive(b"", parts, b"")).unwrap();
        let all = [&from, Path::new("--out"), &to, Path::new("--force")];
        let output = hindsight([Path::new("instrument")].into_iter().chain(all));
        assert_eq!(output.status.code(), Some(0));
        let mut file = fs::File::open(&to).unwrap();
        let directory = Directory::read(&mut Source::new(&mut file).unwrap()).unwrap();
        let names: Vec<String> = directory.entries.iter().map(|it| it.text()).collect();
        (names, text(&output.stderr))
    };
    let left = ["A.class", kept[0], kept[1]];
    let (names, said) = run(&parts);
    assert_eq!(
        (&names[..], said.as_str()),
        (&left.map(String::from)[..], "")
    );
    parts.push(part("META-INF/A.SF", b""));
    let (names, said) = run(&parts);
    assert_eq!(names, left);
    assert!(said.contains("a.jar: was signed"), "{said}");
}

/// A JVM does not start with a module whose hash another one has and that has changed.
#[test]
fn a_rewritten_module_says_that_its_hash_changes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let source = "package p; class A { static int m(String s) { return s.length(); } }";
    let classes = compile(
        dir,
        &[("module-info.java", "module m {}"), ("p/A.java", source)],
    );
    let read = |name: &str| fs::read(classes.join(name)).unwrap();
    let (module, class) = (read("module-info.class"), read("p/A.class"));
    let from = dir.join("a.jar");
    let notes = |parts: &[Part]| {
        fs::write(&from, archive(b"", parts, b"")).unwrap();
        let output = hindsight(["instrument".as_ref(), from.as_os_str(), "--list".as_ref()]);
        text(&output.stderr).matches("a.jar: is a module").count()
    };
    let [class, info] = [
        part("p/A.class", &class),
        part("module-info.class", &module),
    ];
    let release = part("META-INF/versions/11/module-info.class", &module);
    assert_eq!(notes(&[class.clone(), info.clone()]), 1);
    assert_eq!(notes(&[release, class.clone()]), 1);
    assert_eq!(
        notes(std::slice::from_ref(&info)),
        0,
        "nothing is rewritten"
    );
    let nested = archive(b"", &[class.clone(), info], b"");
    assert_eq!(notes(&[class, stored("x.jar", &nested)]), 0);
}

#[test]
fn nothing_is_destroyed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let class = class(dir);
    let file = |name: &str| dir.join(name).display().to_string();
    let (input, other) = (file("a.jar"), file("b.jar"));
    let jar = archive(b"", &[part("A.class", &class)], b"");
    fs::write(&input, &jar).unwrap();

    refused(&[&input], 2, &["--out"]);
    refused(&[&input, "--out", &input], 1, &["is the input itself"]);
    refused(
        &[&input, "--out", &input, "--force"],
        1,
        &["is the input itself"],
    );
    fs::hard_link(&input, file("hard.jar")).unwrap();
    refused(
        &[&input, "--out", &file("hard.jar"), "--force"],
        1,
        &["is the input itself"],
    );
    refused(&[&input, "--out", &file(".")], 1, &["is the input itself"]);
    fs::write(&other, "precious").unwrap();
    refused(
        &[&input, "--out", &other],
        1,
        &["b.jar exists: --force replaces it"],
    );
    assert_eq!(fs::read(&other).unwrap(), b"precious");
    refused(
        &[&input, "--out", "/dev/null", "--force"],
        1,
        &["is no file"],
    );
    refused(
        &[&input, "--out", "/proc/none/x.jar"],
        1,
        &["failed to write /proc/none/x.jar"],
    );
    instrumented([&input, "--out", &other, "--force"]);
    assert_eq!(&fs::read(&other).unwrap()[..4], b"PK\x03\x04");
    assert_eq!(fs::read(&input).unwrap(), jar);
    // Into a directory, under its own name.
    fs::create_dir(file("into")).unwrap();
    instrumented([&input, "--out", &file("into")]);
    assert!(dir.join("into/a.jar").is_file());

    let classes = file("classes");
    refused(
        &[&classes, "--out", &file("into"), "--force"],
        1,
        &["no empty directory"],
    );
    refused(
        &[&classes, "--out", &file("classes/out")],
        1,
        &["lies within"],
    );
    refused(
        &[&classes, "--out", &file("classes/new/out")],
        1,
        &["lies within"],
    );
    assert!(!dir.join("classes/new").exists());
    refused(&[&classes, "--out", &classes], 1, &["is the input itself"]);
    fs::create_dir(file("empty")).unwrap();
    instrumented([&classes, "--out", &file("empty")]);
    assert!(dir.join("empty/A.class").is_file());

    // A failure leaves nothing behind, and what was there as it was.
    fs::write(file("cut.jar"), &jar[..jar.len() - 30]).unwrap();
    refused(
        &[&file("cut.jar"), "--out", &other, "--force"],
        1,
        &["cut.jar"],
    );
    refused(
        &[&file("cut.jar"), "--out", &file("new.jar")],
        1,
        &["cut.jar"],
    );
    assert!(fs::read(&other).unwrap() != b"precious" && !dir.join("new.jar").exists());
    let hidden = fs::read_dir(dir).unwrap().flatten();
    let hidden = hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0);
}

#[test]
fn what_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let class = class(dir);
    let make = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let list = |path: &str, parts: &[&str]| refused(&[path, "--list"], 1, parts);
    list("/nonexistent.jar", &["/nonexistent.jar", "No such file"]);
    list("/dev/null", &["neither a file nor a directory"]);
    list(&make("x.jar", b""), &["x.jar", "not a zip archive"]);
    list(
        &make("x.class", b"text"),
        &["x.class", "not a class file (at offset 0x0)"],
    );
    list(
        &make("modules", b"\xda\xda\xfe\xca\0\0\0\0"),
        &["run-time image", "jimage extract"],
    );
    let cut = make("cut.class", &class[..class.len() - 1]);
    list(&cut, &["cut.class", "ends too early (at offset 0x"]);

    let jar = archive(b"", &[stored("a/A.class", &class), stored("b", b"")], b"");
    let mut bad = jar.clone();
    bad[0] = b'X';
    list(
        &make("header.jar", &bad),
        &["header.jar!/a/A.class", "no local header (at offset 0x0)"],
    );
    let mut bad = jar.clone();
    let directory = jar
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    bad[directory] = b'X';
    let offset = format!("(at offset {directory:#x})");
    list(
        &make("directory.jar", &bad),
        &["directory.jar", "no entry of a directory", &offset],
    );
    // Both entries have the same data: a bomb in its simplest form.
    let mut bad = jar.clone();
    let second = jar
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    bad[second + 42..second + 46].fill(0);
    list(&make("overlap.jar", &bad), &["entries share their data"]);
    // Data that would end behind the archive.
    let mut bad = jar;
    bad[directory + 20..directory + 24].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    list(&make("far.jar", &bad), &["outside of the archive"]);

    for (arguments, parts) in [
        (
            &["--mode", "second-chance"][..],
            &["possible values: crash, trace"][..],
        ),
        (
            &["--mode", "trace", "--trace-what", "values"],
            &["calls, writes, reads and coverage"],
        ),
        (
            &["--copy", "deeper"],
            &["it takes reference, fields, deep, and depth:N with N from 1 on"],
        ),
        (&["--report", "never"], &["\"never\" is none of uncaught"]),
        (&["--report", "escape:foo"], &["\"escape:foo\" is none of"]),
        (
            &["--mode", "trace", "--copy", "deep"],
            &["--copy is for --mode crash only"],
        ),
        (
            &["--mode", "trace", "--report", "escape:a.b"],
            &["--report is for --mode crash only"],
        ),
        (
            &["--trace-what", "reads"],
            &["--trace-what is for --mode trace only"],
        ),
        (&["--class", "A"], &["--list"]),
    ] {
        let mut all = vec![cut.as_str(), "--out", "x"];
        all.extend(arguments);
        refused(&all, 2, parts);
    }
}

#[test]
fn what_is_made_to_hurt_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let class = class(dir);
    // Deeper than anybody nests.
    let mut jar = archive(b"", &[part("A.class", &class)], b"");
    for _ in 0..40 {
        jar = archive(b"", &[part("A.class", &class), part("x.jar", &jar)], b"");
    }
    // Sizes and checksums that do not hold.
    let mut lying = archive(b"", &[part("A.class", &class)], b"");
    let at = lying
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    lying[at + 24..at + 28].copy_from_slice(&0x0300_0000u32.to_le_bytes());
    let mut huge = lying.clone();
    huge[at + 24..at + 28].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    let mut encrypted = lying.clone();
    encrypted[at + 8] |= 1;
    let mut packed = lying.clone();
    packed[at + 10] = 93;
    // Little is left of it, packed, and much is said in its directory.
    let names = (0..200).map(|at| format!("{at}{}", "x".repeat(60_000)));
    let told: Vec<Part> = names.map(|name| stored(&name, b"")).collect();
    let told = archive(b"", &told, b"");
    let all = archive(
        b"",
        &[
            part("deep.jar", &jar),
            part("lying.jar", &lying),
            stored("huge.jar", &huge),
            part("encrypted.jar", &encrypted),
            part("packed.jar", &packed),
            part("told.jar", &told),
        ],
        b"",
    );
    let (from, to) = (dir.join("all.jar"), dir.join("out.jar"));
    fs::write(&from, &all).unwrap();
    let report = instrumented([&from, Path::new("--out"), &to]);
    let counts = &report["counts"];
    assert_eq!(counts["classes"]["rewritten"], 16, "{counts:#}");
    let left = &counts["classes"]["left"];
    for reason in [
        "cannot be unpacked",
        "too large",
        "encrypted",
        "unknown packing",
    ] {
        assert_eq!(left[reason], 1, "{reason}: {left:#}");
    }
    let failures = counts["failures"].as_array().unwrap();
    assert!(
        failures
            .iter()
            .any(|failure| failure["reason"] == "nested too deeply")
    );
    let detail = "the directory is too large";
    let is_it = |one: &serde_json::Value| one["detail"].as_str().unwrap_or("").contains(detail);
    let large = failures.iter().find(|one| is_it(one)).expect(detail);
    assert!(large["path"].as_str().unwrap().ends_with("!/told.jar"));
}

#[test]
fn no_bytes_make_it_panic() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let class = class(dir);
    let inner = archive(b"", &[part("A.class", &class)], b"");
    let manifest = b"Manifest-Version: 1.0\n\nName: A.class\nSHA1-Digest: x\n\n";
    let jar = |class: &[u8]| {
        let parts = [
            part("META-INF/MANIFEST.MF", manifest),
            part("META-INF/A.SF", b""),
            part("A.class", class),
            stored("a.jar", &inner),
            part("b.jar", &inner),
        ];
        archive(b"#!", &parts, b"comment")
    };
    let (from, to) = (dir.join("from.jar"), dir.join("to.jar"));
    let plan = Plan::default();
    let listing = Listing {
        print: Print::Json { code: true },
        ..Listing::default()
    };
    let rounds = if is_full() { 100_000 } else { 600 };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut written, mut refused) = (0, 0);
    for round in 0..rounds {
        // The container in one round, a class in it in the next.
        let bytes = if round % 2 == 0 {
            let mut bytes = jar(&class);
            random.mutate(&mut bytes);
            bytes
        } else {
            let mut class = class.clone();
            random.mutate(&mut class);
            jar(&class)
        };
        fs::write(&from, &bytes).unwrap();
        let done = instrument(&Options {
            input: &from,
            out: Some(&to),
            force: true,
            plan: &plan,
            listing: &listing,
            progress: false,
        });
        match done {
            Ok(_) => {
                written += 1;
                // What was written is an archive as sound as the input.
                let mut file = fs::File::open(&to).unwrap();
                let mut source = Source::new(&mut file).unwrap();
                let directory = Directory::read(&mut source).unwrap();
                for entry in &directory.entries {
                    entry.locate(&mut source).unwrap();
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        written > rounds / 2 && refused > rounds / 20,
        "{written} {refused}"
    );
}
