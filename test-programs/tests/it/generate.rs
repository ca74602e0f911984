//! `hindsight generate` end to end, on every JDK: tests of what a run did, tests along its models,
//! and a program that does all the harm it can.

mod harm;
mod models;
mod observed;
mod paths;

use hindsight_test_programs::{
    Jdk, Workplace, both, golden, hindsight, jars, jdks, jdks_in_turn, root, text,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|found| found == "java") {
            files.push(path);
        }
    }
}

/// A program of `palulu/`, compiled.
fn compile(jdk: &Jdk, name: &str) -> Workplace {
    let workplace = Workplace::new(&format!("generate-{name}"));
    let mut files = Vec::new();
    sources(&root().join("test-programs/palulu").join(name), &mut files);
    workplace.compile(jdk, &["-parameters"], &files);
    workplace
}

/// Compiles, records and models a program.
fn record(jdk: &Jdk, name: &str, main: &str) -> Workplace {
    record_with(jdk, name, main, "mode=trace")
}

fn record_with(jdk: &Jdk, name: &str, main: &str, options: &str) -> Workplace {
    let workplace = compile(jdk, name);
    let output = workplace
        .java_with_agent(jdk, options)
        .args(["-cp", "classes", main])
        .current_dir(&workplace.path)
        .output()
        .expect("java runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mutability = ["mutability", "--classpath", "classes", "--format", "json"];
    let mutability = ok(&run(jdk, &workplace, &mutability));
    fs::write(workplace.join("mutability.json"), mutability).expect("a file");
    let model = [
        "model",
        "out",
        "--mutability",
        "mutability.json",
        "--out",
        "model.json",
    ];
    ok(&run(jdk, &workplace, &model));
    workplace
}

fn run(jdk: &Jdk, workplace: &Workplace, arguments: &[&str]) -> Output {
    Command::new(hindsight())
        .env("JAVA_HOME", &jdk.home)
        .current_dir(&workplace.path)
        .args(arguments)
        .output()
        .expect("hindsight runs")
}

fn ok(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", text(&output.stdout), text(&output.stderr)))
}

/// The arguments for tests of a recorded run, in `tests`.
const OBSERVE: [&str; 10] = [
    "generate",
    "--observed",
    "--trace",
    "out",
    "--mutability",
    "mutability.json",
    "--classpath",
    "classes",
    "--out",
    "tests",
];

/// Generates tests below a directory for the compiled classes, and returns their sources.
fn generate(jdk: &Jdk, workplace: &Workplace, out: &str, how: &[&str]) -> String {
    let common = "generate --classpath classes --format json --out";
    let common: Vec<&str> = common.split(' ').chain([out]).collect();
    json(&run(jdk, workplace, &[&common, how].concat()));
    written(workplace, out)
}

/// All sources below a directory, one after another.
fn written(workplace: &Workplace, out: &str) -> String {
    let mut files = Vec::new();
    sources(&workplace.join(out), &mut files);
    let texts = files
        .iter()
        .map(|file| fs::read_to_string(file).expect("a source"));
    texts.collect()
}

/// For a next version, changes are reported, and not their consequences; what it lacks is reported
/// once.
#[test]
fn changes_are_told_where_they_begin() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "constrained", "shop.Main");
        let observed = "generate --observed --trace out --classpath classes --out tests --format";
        let against = |name: &str, format: &str| {
            let path = format!("{name}:classes");
            let more = [format, "--against", &path];
            let how: Vec<&str> = observed.split(' ').chain(more).collect();
            let output = run(jdk, &workplace, &how);
            assert_eq!(output.status.code(), Some(1), "{}", both(&output));
            text(&output.stdout)
        };
        let next = |name: &str, class: &str, old: &str, new: &str| {
            let dir = workplace.join(name);
            fs::create_dir_all(&dir).expect("a directory");
            let place = root().join("test-programs/palulu/constrained/shop");
            let source = fs::read_to_string(place.join(format!("{class}.java")));
            let source = source.expect("a source").replace(old, new);
            let file = dir.join(format!("{class}.java"));
            fs::write(&file, source).expect("a file");
            let classes = workplace.join("classes");
            jdk.compile(["-cp".into(), classes, "-d".into(), dir, file]);
        };
        // There is no office, no order, no ticket, and nobody enters.
        next("closed", "Office", "[A-Z]{3}-", "[A-Z]{4}-");
        let report: Value = serde_json::from_str(&against("closed", "json")).expect("JSON");
        let changes = report["changes"].as_array().expect("changes");
        assert!(changes.len() >= 4, "{report}");
        for change in changes {
            let calls = change["differences"].as_array().expect("calls");
            let [call] = calls.as_slice() else {
                panic!("{change}");
            };
            let new = "throws IllegalArgumentException: no office ZRH-8001";
            assert_eq!(call["new"], new, "{change}");
        }
        assert!(report["unloadable"].as_array().is_some_and(Vec::is_empty));
        // This version lacks what others call.
        next("less", "Ticket", "void punch()", "void mark()");
        let told = against("less", "text");
        let lacking = told
            .matches("      new: throws NoSuchMethodError: ")
            .count();
        assert_eq!(lacking, 1, "{told}");
        // What is not public any more is reported once, whether tests may still call it or not.
        for (name, sight) in [("hidden", "private"), ("own", "package-private")] {
            let modifier = sight.strip_prefix("package-").map_or("private ", |_| "");
            let changed = format!("{modifier}static Office in");
            next(name, "Office", "public static Office in", &changed);
            let told = against(name, "text");
            let line = format!("  shop.Office.in(String) was public and is {sight}\n");
            assert_eq!(told.matches(&line).count(), 1, "{told}");
            assert_eq!(told.matches("Office.in").count(), 1, "{told}");
            assert!(!told.contains(" access in Office"), "{told}");
        }
        // A call that does not end is reported with its earlier result, and so is one that javac
        // wants to be caught.
        let ends = "return visitors;";
        let endless = format!("while (visitors > 2) {{ }} {ends}");
        let close = "public void close()";
        let throws = format!("{close} throws java.io.IOException");
        let unreported =
            "unreported exception IOException; must be caught or declared to be thrown";
        for (name, old, changed, call, was, is) in [
            ("slow", ends, endless, "visitors", "3", "takes too long"),
            (
                "checked",
                close,
                throws,
                "close",
                "declares no exception",
                unreported,
            ),
        ] {
            next(name, "Door", old, &changed);
            let told = against(name, "text");
            let line = format!("    door.{call}()\n      old: {was}\n      new: {is}\n");
            assert!(told.contains(&line), "{told}");
        }
        // A test that ends the JVM is not blamed on the tests before it.
        let ends_the_jvm = r#"try {
            var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            ((sun.misc.Unsafe) field.get(null)).putAddress(0, 0);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        return visitors;"#;
        next("deadly", "Door", ends, ends_the_jvm);
        let told = against("deadly", "text");
        assert!(told.contains("the other version passes 4 of 5\n"), "{told}");
        // No JVM loads these classes.
        let class = fs::read(workplace.join("classes/shop/Ticket.class"));
        let mut newer = class.expect("a class");
        let mut bad = newer.clone();
        newer[6..8].copy_from_slice(&[0, 99]);
        bad[..4].fill(0);
        for (name, bytes, why) in [
            (
                "newer",
                newer,
                "shop.Ticket: UnsupportedClassVersionError: ",
            ),
            ("bad", bad, "shop.Ticket: "),
        ] {
            let dir = workplace.join(name).join("shop");
            fs::create_dir_all(&dir).expect("a directory");
            fs::write(dir.join("Ticket.class"), bytes).expect("a class");
            let told = against(name, "text");
            let once = "  the other class path cannot be loaded: ";
            assert_eq!(told.matches(once).count(), 1, "{told}");
            assert!(told.contains(&format!("{once}{why}")), "{told}");
            assert!(!told.contains("new: "), "{told}");
            if name == "newer" {
                continue;
            }
            let report: Value = serde_json::from_str(&against(name, "json")).expect("JSON");
            let unloadable = report["unloadable"].as_array().map(Vec::as_slice);
            let Some([Value::String(one)]) = unloadable else {
                panic!("{report}");
            };
            assert!(one.starts_with(why), "{report}");
        }
    }
}

/// The caller is not asserted, because while tests are searched for it is reflection, with another
/// class in each JDK. What no source can name is compared all the same; constants have their
/// declared types; and elements take the place of an array where possible.
#[test]
fn tests_are_the_same_on_every_jdk() {
    for jdk in jdks() {
        let workplace = record(jdk, "bazaar", "bazaar.Main");
        let arguments = "generate --observed --trace out --classpath classes --out tests --format json \
                         --against classes";
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let output = run(jdk, &workplace, &arguments);
        let report: Value = serde_json::from_str(&ok(&output)).expect("JSON");
        assert_eq!(report["dropped"]["failed"], 0, "{report}");
        // Arguments must be named.
        assert_eq!(report["dropped"]["not_compiled"], 1, "{report}");
        let why = "a type that no source can name: bazaar.Vault$Key";
        assert_eq!(report["unwritten"], why, "{report}");
        golden(
            "palulu/expected/bazaar-observed.java",
            &written(&workplace, "tests"),
        );
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// What depends on where and when a test runs is not asserted; all else is, including the texts of
/// returned objects and exceptions.
#[test]
fn what_is_not_the_same_everywhere_is_not_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "elsewhere", "elsewhere.Place");
        let arguments = [
            "generate",
            "--model",
            "model.json",
            "--mutability",
            "mutability.json",
            "--classpath",
            "classes",
            "--sequences",
            "600",
            "--format",
            "json",
            "--out",
            "tests",
        ];
        let report = json(&run(jdk, &workplace, &arguments));
        assert_eq!(report["dropped"]["failed"], 0, "{report}");
        let sources = written(&workplace, "tests");
        for call in [
            "directory()",
            "age()",
            "year()",
            "today()",
            "zone()",
            "words()",
            "hour()",
            "bytes()",
            "password()",
            "path()",
            "colours()",
            "processors()",
            "coin()",
            "dice()",
            "vanish()",
            "width()",
            "eldest()",
            "elder()",
        ] {
            for asserted in [format!("place.{call})"), format!("new Place().{call})")] {
                let there = format!("assertNotNull({asserted}");
                let sources = sources.replace(&there, "");
                assert!(!sources.contains(&asserted), "{call}: {sources}");
            }
        }
        // Two of them suffice so that none is the first.
        assert!(!sources.contains("assertTrue(place.first())"), "{sources}");
        for text in [
            ".new Corner()",
            "assertEquals(\"nothing to note\", thrown.getMessage());",
            ".notes().toString());",
            "@SuppressWarnings(\"deprecation\")",
        ] {
            assert!(sources.contains(text), "{text}: {report} {sources}");
        }
    }
}

/// A test that changes shared state does not cause others to be dropped; tests of both kinds run
/// together, and javac has no warnings.
#[test]
fn tests_get_along_with_each_other() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "shared", "shared.Main");
    let arguments = [
        "generate",
        "--observed",
        "--trace",
        "out",
        "--model",
        "model.json",
        "--mutability",
        "mutability.json",
        "--classpath",
        "classes",
        "--sequences",
        "120",
        "--format",
        "json",
        "--out",
        "tests",
    ];
    let report = json(&run(jdk, &workplace, &arguments));
    assert_eq!(report["dropped"]["not_compiled"], 0, "{report}");
    assert_eq!(report["dropped"]["flaky"], 0, "{report}");
    assert_ne!(report["dropped"]["spoiling"], 0, "{report}");
    let sources = written(&workplace, "tests");
    let color = "assertEquals(\"none\", rack.color());";
    assert!(sources.contains(color), "{sources}");
    // Other styles do not affect this one.
    let plain = "        IllegalArgumentException thrown =\n                \
                 assertThrows(IllegalArgumentException.class, () -> Style.PLAIN.line(\"plain\"));\n        \
                 assertEquals(\"wider than 4\", thrown.getMessage());\n    }\n";
    assert!(sources.contains(plain), "{sources}");
    assert!(
        !sources.contains("\n        Style.PLAIN.maker();"),
        "{sources}"
    );
    // What no caller with type arguments could pass is not tested.
    assert!(sources.contains("Rack<Object>.Slot slot = "), "{sources}");
    assert!(!sources.contains("rawtypes"), "{sources}");
    passes(jdk, &workplace, "tests", "classes");
}

/// Maven and Gradle run tests with assertions enabled, consoles without.
#[test]
fn tests_pass_with_and_without_assertions() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "halves", "halves.Halves");
    let generate = |out: &str, how: &[&str]| {
        let sources = generate(jdk, &workplace, out, how);
        assert!(!sources.contains("AssertionError"), "{sources}");
        let numbers = sources.split(".half(").skip(1);
        let numbers: Vec<_> = numbers.filter_map(|call| call.split(')').next()).collect();
        assert!(!numbers.is_empty(), "{sources}");
        for number in numbers {
            let even = number.ends_with(['0', '2', '4', '6', '8']);
            // As a constant, the least number is even and the greatest is not.
            assert!(even || number == "Integer.MIN_VALUE", "{sources}");
        }
    };
    let model = [
        "--model",
        "model.json",
        "--mutability",
        "mutability.json",
        "--sequences",
        "600",
    ];
    generate("new", &model);
    generate("observed", &["--observed", "--trace", "out"]);
}

/// Some of a package's classes are rewritten and others are not, but the JVM requires the same
/// signers for all.
#[test]
fn a_signed_jar_is_as_good_as_another() {
    let jdk = &jdks()[0];
    let workplace = compile(jdk, "depot");
    let tool = |name: &str, arguments: &[&str]| {
        let output = Command::new(jdk.home.join("bin").join(name))
            .args(arguments)
            .current_dir(&workplace.path)
            .output()
            .expect("a tool runs");
        ok(&output)
    };
    tool(
        "jar",
        &["--create", "--file", "app.jar", "-C", "classes", "."],
    );
    let keys = ["-storepass", "secret", "-keystore", "keys"];
    let key = [
        "-genkeypair",
        "-alias",
        "me",
        "-keyalg",
        "EC",
        "-dname",
        "CN=me",
    ];
    tool("keytool", &[&key[..], &keys].concat());
    tool("jarsigner", &[&keys[..], &["app.jar", "me"]].concat());
    let arguments =
        "generate --universal --sequences 300 --classpath app.jar --out random --format json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    json(&run(jdk, &workplace, &arguments));
    let random = written(&workplace, "random");
    assert!(random.contains("Depot.open(\"depot:"), "{random}");
    assert!(random.contains("store.add("), "{random}");
    // The JVM does not accept another class in a signed package.
    assert!(random.contains("package tests.depot;"), "{random}");
    passes(jdk, &workplace, "random", "app.jar");
}

/// Compiles the tests below a directory, for which javac must have no warnings, and has JUnit run
/// them.
fn passes(jdk: &Jdk, workplace: &Workplace, out: &str, classpath: &str) {
    let mut files = Vec::new();
    sources(&workplace.join(out), &mut files);
    let junit = &jars(&["org.junit.platform:junit-platform-console-standalone:1.11.4"])[0];
    let lint = "-Xlint:all,-processing,-classfile,-path";
    let mut javac = Command::new(jdk.tool("javac"));
    javac
        .args([lint, "-Werror", "-proc:none", "-d", "compiled", "-cp"])
        .arg(format!("{classpath}:{}", junit.display()))
        .args(&files);
    let mut run = Command::new(jdk.tool("java"));
    run.arg("-jar")
        .arg(junit)
        .args(["execute", "--scan-classpath", "compiled", "-cp"])
        .arg(format!("compiled:{classpath}"));
    for mut command in [javac, run] {
        let output = command
            .current_dir(&workplace.path)
            .output()
            .expect("a tool runs");
        ok(&output);
    }
}

#[test]
fn bad_input_is_named() {
    let jdk = jdks().last().expect("a JDK");
    let workplace = Workplace::new("generate-bad");
    workplace.compile_text(
        jdk,
        &[],
        "A",
        "public class A { public int one() { return 1; } }",
    );
    let check = |arguments: &[&str], expected: &str| {
        let output = run(jdk, &workplace, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let told = text(&output.stderr);
        assert!(told.contains(expected), "{told}");
    };
    let rest = ["--classpath", "classes", "--out", "tests"];
    check(
        &[&["generate", "--model", "/nowhere"], &rest[..]].concat(),
        "failed to read model /nowhere",
    );
    check(
        &[&["generate", "--observed", "--trace", "classes"], &rest[..]].concat(),
        "was it recorded with mode=trace?",
    );
    check(
        &[&["generate", "--universal", "--classes", "x.**"], &rest[..]].concat(),
        "matches --classes",
    );
    check(
        &[&["generate", "--universal", "--time", "0"], &rest[..]].concat(),
        "no tests: there was no time to try anything",
    );
    check(
        &[
            "generate",
            "--universal",
            "--classpath",
            "classes",
            "--out",
            "classes/A.class/tests",
        ],
        "classes/A.class is no directory",
    );
    let usage = run(jdk, &workplace, &[&["generate"], &rest[..]].concat());
    assert_eq!(usage.status.code(), Some(2));
    let told = text(&usage.stderr);
    assert!(
        told.contains("--observed|--model <FILE>|--universal"),
        "{told}"
    );
    // A file of the user stays.
    fs::create_dir_all(workplace.join("tests/src/test/java")).expect("a directory");
    fs::write(
        workplace.join("tests/src/test/java/AGeneratedTest.java"),
        "mine",
    )
    .expect("a file");
    check(
        &[&["generate", "--universal", "--sequences", "50"], &rest[..]].concat(),
        "not overwritten",
    );
}
