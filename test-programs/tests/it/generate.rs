//! `hindsight generate` end to end, on every JDK: tests of what a run did, tests
//! along its models, and a program that does all the harm it can.

use hindsight_test_programs::{
    Jdk, Workplace, both, golden, hindsight, jars, jdks, jdks_in_turn, root, text,
};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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

/// The same, recorded and modelled.
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

/// The sources that are generated below a directory for the compiled classes.
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

#[test]
fn a_run_becomes_tests() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "constrained", "shop.Main");
        let observed = [
            "generate",
            "--observed",
            "--trace",
            "out",
            "--classpath",
            "classes",
            "--mutability",
            "mutability.json",
        ];
        let with = |more: &[&str]| run(jdk, &workplace, &[&observed[..], more].concat());
        ok(&with(&["--out", "five"]));
        golden(
            "palulu/expected/constrained-observed.java",
            &written(&workplace, "five"),
        );
        let report = json(&with(&[
            "--out",
            "four",
            "--framework",
            "junit4",
            "--format",
            "json",
        ]));
        assert_eq!(report["schema"], "hindsight.generate/1");
        assert!(report["tests"].as_u64() >= Some(5), "{report}");
        assert_eq!(report["dropped"]["not_compiled"], 0, "{report}");
        assert_eq!(report["dropped"]["flaky"], 0, "{report}");
        golden(
            "palulu/expected/constrained-observed4.java",
            &written(&workplace, "four"),
        );

        // A next version.
        let at = |name: &str| workplace.join(name).into_os_string();
        let door = root().join("test-programs/palulu/constrained/shop/Door.java");
        let door = fs::read_to_string(door).expect("a source");
        fs::create_dir_all(workplace.join("next/src")).expect("a directory");
        let against = |changes: &[(&str, &str)]| {
            let change = |text: String, (old, new): &(&str, &str)| text.replace(old, new);
            let changed = changes.iter().fold(door.clone(), change);
            fs::write(workplace.join("next/src/Door.java"), changed).expect("a source");
            jdk.compile([
                "-cp".into(),
                at("classes"),
                "-d".into(),
                at("next"),
                at("next/src/Door.java"),
            ]);
            with(&["--out", "five", "--against", "next:classes"])
        };
        // Tests as they are written pass, though not as they were compiled.
        let output = against(&[("public int enter", "public long enter")]);
        assert!(ok(&output).contains("the other version passes"));
        let output = against(&[("int enter", "int comeIn")]);
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stdout);
        assert!(
            told.contains(": does not compile: cannot find symbol"),
            "{told}"
        );
        assert!(told.contains("      new: is not there\n"), "{told}");
        // It counts visitors in another way.
        let output = against(&[("return ++visitors;", "return visitors++;")]);
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stdout);
        let side_by_side = "    door.enter(ticket)\n      old: 1\n      new: 0\n";
        assert!(told.contains(side_by_side), "{told}");
        let output = with(&["--out", "five", "--against", "classes"]);
        assert!(ok(&output).contains("the other version passes"));
        // Tests of classes that are not those of the run.
        for (classpath, note) in [
            ("next:classes", "/next) differs from the one recorded"),
            ("next/src", "that were recorded is on the class path"),
        ] {
            let other = [
                "--observed",
                "--trace",
                "out",
                "--classpath",
                classpath,
                "--out",
                "six",
            ];
            let output = run(jdk, &workplace, &[&["generate"], &other[..]].concat());
            assert!(
                text(&output.stderr).contains(note),
                "{}",
                text(&output.stderr)
            );
        }
    }
}

/// Of a next version, what has changed is told, and not what comes of it; what it lacks is told once.
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
        // No office, no order, no ticket, and nobody enters.
        next("closed", "Office", "[A-Z]{3}-", "[A-Z]{4}-");
        let report: Value = serde_json::from_str(&against("closed", "json")).expect("JSON");
        let changes = report["changes"].as_array().expect("changes");
        assert!(changes.len() >= 5, "{report}");
        for change in changes {
            let calls = change["differences"].as_array().expect("calls");
            let [call] = calls.as_slice() else {
                panic!("{change}");
            };
            let new = "throws IllegalArgumentException: no office ZRH-8001";
            assert_eq!(call["new"], new, "{change}");
        }
        assert!(report["unloadable"].as_array().is_some_and(Vec::is_empty));
        // Without what others call.
        next("less", "Ticket", "void punch()", "void mark()");
        let told = against("less", "text");
        let lacking = told
            .matches("      new: throws NoSuchMethodError: ")
            .count();
        assert_eq!(lacking, 1, "{told}");
        // Classes that no JVM takes.
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
            let report: Value = serde_json::from_str(&against(name, "json")).expect("JSON");
            let unloadable = report["unloadable"].as_array().map(Vec::as_slice);
            let Some([Value::String(one)]) = unloadable else {
                panic!("{report}");
            };
            assert!(one.starts_with(why), "{report}");
        }
    }
}

#[test]
fn models_lead_to_legal_sequences() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "constrained", "shop.Main");
        let generate = |out: &str, more: &[&str]| {
            let arguments = [
                "generate",
                "--model",
                "model.json",
                "--mutability",
                "mutability.json",
                "--classpath",
                "classes",
            ];
            let bounds = [
                "--sequences",
                "3000",
                "--seed",
                "7",
                "--format",
                "json",
                "--out",
                out,
            ];
            json(&run(
                jdk,
                &workplace,
                &[&arguments[..], &bounds, more].concat(),
            ))
        };
        let report = generate("models", &[]);
        assert_eq!(report["dropped"]["failed"], 0, "{report}");
        assert_eq!(report["dropped"]["flaky"], 0, "{report}");
        let sources = written(&workplace, "models");
        // Opened with the right key, entered with a ticket that the builder gave.
        assert!(sources.contains(".open(\"sesame:8\")"), "{sources}");
        assert!(sources.contains(".sell()"), "{sources}");
        assert!(sources.contains("door.enter(ticket"), "{sources}");
        // The same seed, the same tests.
        generate("again", &[]);
        assert_eq!(sources, written(&workplace, "again"));
    }
}

/// Types have their arguments, and what the JDK has made is made again if its
/// classes are recorded too.
#[test]
fn lists_and_maps_are_made_again() {
    for jdk in jdks_in_turn() {
        let include = "mode=trace,include=shelf.**;java.util.*;java.io.*";
        let workplace = record_with(jdk, "shelf", "shelf.Main", include);
        let observed = |out: &str, more: &[&str]| {
            let common = ["--classpath", "classes", "--out", out, "--format", "json"];
            let arguments = [&["generate"], more, &common].concat();
            json(&run(jdk, &workplace, &arguments))
        };
        let report = observed("tests", &["--observed", "--trace", "out"]);
        assert_eq!(report["dropped"]["not_compiled"], 0, "{report}");
        let sources = written(&workplace, "tests");
        for line in [
            "Catalog<Integer, String> catalog = new Catalog<>();",
            "assertEquals(\"two\", catalog.get(2));",
            "assertEquals(Integer.valueOf(2), catalog.first());",
            // A lambda was passed before, which no test can make.
            "assertEquals(3, catalog.size());",
            "Catalog<String, Integer> catalog = new Catalog<>(start);",
            "Catalog<Integer, String>.Cursor cursor = catalog.cursor();",
            "Catalog<Integer, String>.Cursor cursor = catalog.new Cursor();",
            "assertEquals(\"eight\", cursor.value());",
            "Template template = new Template(new StringReader(\"Dear {name}\"));",
            "values.put(\"name\", \"Ann\");",
            "assertEquals(\"Dear Ann\", template.fill(values));",
            "ArrayList<String> words = new ArrayList<>(list);",
            "assertEquals(\"-;a;b;c\", new Template(\"-\").join(words, ';'));",
        ] {
            assert!(sources.contains(line), "{line}: {sources}");
        }
        assert!(!sources.contains("SuppressWarnings"), "{sources}");
        assert!(!sources.contains("requireNonNull"), "{sources}");
        // At random there are types too; and a class's tests of an earlier run are
        // not left behind, but tests of another kind, and anybody's, are.
        let old = workplace.join("tests/src/test/java/shelf");
        fs::copy(
            old.join("CatalogObservedTest.java"),
            old.join("GoneGeneratedTest.java"),
        )
        .expect("a file");
        fs::write(old.join("MineGeneratedTest.java"), "mine").expect("a file");
        let bounds = ["--universal", "--sequences", "300", "--seed", "1"];
        let report = observed("tests", &bounds);
        assert_eq!(
            report["removed"].as_array().map(Vec::len),
            Some(1),
            "{report}"
        );
        assert!(!old.join("GoneGeneratedTest.java").exists());
        assert!(old.join("MineGeneratedTest.java").exists());
        assert!(old.join("CatalogObservedTest.java").exists());
        let generated = fs::read_to_string(old.join("CatalogGeneratedTest.java"));
        let generated = generated.expect("a source");
        let typed = "Catalog<String, Object> catalog = new Catalog<>();";
        assert!(generated.contains(typed), "{generated}");
    }
}

#[test]
fn a_program_cannot_harm() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-hostile");
        let victim = workplace.join("victim");
        fs::write(&victim, "precious").expect("a file");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Harm.java"))
            .expect("a source");
        let source = source.replace("@VICTIM@", &format!("{:?}", victim.display().to_string()));
        workplace.compile_text(jdk, &[], "Harm", &source);
        let report = json(&run(
            jdk,
            &workplace,
            &[
                "generate",
                "--universal",
                "--classpath",
                "classes",
                "--sequences",
                "150",
                "--timeout",
                "1",
                "--out",
                "tests",
                "--format",
                "json",
            ],
        ));
        let searched = &report["searched"];
        assert!(searched["blocked"].as_u64() >= Some(8), "{report}");
        assert!(searched["lost"].as_u64() >= Some(2), "{report}");
        assert_eq!(
            fs::read_to_string(&victim).expect("it is there"),
            "precious"
        );
        assert!(!workplace.join("victim.touched").exists());
        let sources = written(&workplace, "tests");
        assert!(sources.contains("harmless("), "{sources}");
        for (value, call) in [
            ("size 2", ".scratch()"),
            ("1 and two", ".scratchFormat()"),
            ("127.0.0.1", ".figures()"),
        ] {
            let asserted =
                |line: &str| line.contains(&format!("(\"{value}\", ")) && line.contains(call);
            assert!(sources.lines().any(asserted), "{call}: {sources}");
        }
        for harm in [
            "exit",
            "halt",
            "delete",
            "overwrite",
            "process",
            "connect",
            "forever",
            "deadlock",
            "memory",
            "time()",
            "name()",
            "format()",
            "formatInCharset",
            "formatFile",
            "resolve",
            "tick()",
            "log()",
        ] {
            assert!(!sources.contains(harm), "{harm}: {sources}");
        }
    }
}

/// What a class has from one of the JDK, and what is reached without a call that names it.
#[test]
fn a_program_cannot_harm_by_detours() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-sly");
        let victim = workplace.join("victim");
        fs::write(&victim, "precious").expect("a file");
        let written_at = || fs::metadata(&victim).and_then(|file| file.modified()).ok();
        let before = written_at();
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Sly.java"))
            .expect("a source");
        let text = |path: &Path| format!("{:?}", path.display().to_string());
        let source = source
            .replace("@VICTIM@", &text(&victim))
            .replace("@CLASSES@", &text(&workplace.join("classes")));
        workplace.compile_text(jdk, &["-nowarn"], "Sly", &source);
        let arguments = [
            "generate",
            "--universal",
            "--classpath",
            "classes",
            "--sequences",
            "400",
            "--timeout",
            "5",
            "--out",
            "tests",
            "--format",
            "json",
        ];
        let report = json(&run(jdk, &workplace, &arguments));
        let sources = written(&workplace, "tests");
        let precious = fs::read_to_string(&victim).unwrap_or_default();
        assert_eq!(precious, "precious", "{report}");
        assert_eq!(written_at(), before, "{report}");
        let files = fs::read_dir(workplace.join(".")).expect("a directory");
        for file in files {
            let name = file.expect("a file").file_name();
            assert!(!name.to_string_lossy().contains("touched"), "{name:?}");
        }
        assert!(
            report["searched"]["blocked"].as_u64() >= Some(30),
            "{report}"
        );
        // What may be deleted is, and by the class's own method.
        assert!(sources.contains("deleted true, exists false"), "{sources}");
        assert!(sources.contains("archive of 1"), "{sources}");
        for harm in [
            "deleteDocument(",
            "deletePaper(",
            "deleteBy",
            "deleteIn",
            "overwrite",
            "touch",
            "like",
            "pipe(",
            "reach",
        ] {
            assert!(!sources.contains(harm), "{harm}: {sources}");
        }
    }
}

/// What the JDK does by itself, at the program's wish, no guard sees: the kernel refuses it.
#[test]
fn a_program_cannot_harm_where_no_guard_stands() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-unseen");
        let victim = workplace.join("victim");
        fs::write(&victim, "precious").expect("a file");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Unseen.java"))
            .expect("a source");
        let source = source
            .replace("@VICTIM@", &format!("{:?}", victim.display().to_string()))
            .replace("@PORT@", &format!("{:?}", port.to_string()));
        workplace.compile_text(jdk, &[], "Unseen", &source);
        let arguments =
            "generate --universal --classpath classes --sequences 200 --timeout 5 --out tests";
        let arguments: Vec<&str> = arguments.split(' ').chain(["--format", "json"]).collect();
        let report = json(&run(jdk, &workplace, &arguments));
        let sources = written(&workplace, "tests");
        assert!(sources.contains("harmless()"), "{sources}");
        assert!(sources.contains("\"there true\""), "{sources}");
        assert!(sources.contains("authorize()"), "{sources}");
        let confined = report["confined"]
            .as_array()
            .expect("what the kernel guards");
        if !confined.contains(&"files".into()) {
            eprintln!(
                "not checked: this kernel guards no files (it has no Landlock, or an old one)"
            );
            continue;
        }
        let precious = fs::read_to_string(&victim).unwrap_or_default();
        assert_eq!(precious, "precious", "{report}");
        assert!(!workplace.join("victim.touched").exists());
        assert!(
            report["searched"]["blocked"].as_u64() >= Some(5),
            "{report}"
        );
        // Also where the program catches what says so.
        for harm in ["overwrite(", "make(", "makeOr(", "remove(", "log(", "hush("] {
            assert!(!sources.contains(harm), "{harm}: {sources}");
        }
        if confined.contains(&"tcp".into()) {
            let reached = listener.accept().map(drop).map_err(|why| why.kind());
            assert_eq!(reached, Err(ErrorKind::WouldBlock), "{report}");
            assert!(!sources.contains("connect("), "{sources}");
        }
    }
}

/// An exception that does not say what it is, and threads that are stopped, keep nobody from going on.
#[test]
fn a_program_cannot_keep_the_search_waiting() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-stuck");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Stuck.java"))
            .expect("a source");
        workplace.compile_text(jdk, &["-nowarn"], "Stuck", &source);
        let started = Instant::now();
        let arguments = ["--universal", "--time", "6"];
        let sources = generate(jdk, &workplace, "tests", &arguments);
        // A busy machine takes some times as long; patience with a worker that is silent takes longer.
        assert!(started.elapsed() < Duration::from_secs(80), "{sources}");
        assert!(sources.contains("harmless("), "{sources}");
        for stuck in ["fall(", "stopOthers(", "await("] {
            assert!(!sources.contains(stuck), "{stuck}: {sources}");
        }
    }
}

/// With a seed, the search of a program that asks clocks and chance finds the same again.
#[test]
fn clocks_do_not_change_what_is_found() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-stamped");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Stamped.java"))
            .expect("a source");
        workplace.compile_text(jdk, &[], "Stamped", &source);
        let arguments = ["--universal", "--seed", "3", "--sequences", "300"];
        let first = generate(jdk, &workplace, "first", &arguments);
        let second = generate(jdk, &workplace, "second", &arguments);
        assert!(first.contains(".draw("), "{first}");
        assert_eq!(first, second);
        for chance in [".now()", ".number()", ".throwDice()", ".bonus()"] {
            let asserted = |line: &str| line.contains("assert") && line.contains(chance);
            assert!(!first.lines().any(asserted), "{chance}: {first}");
        }
    }
}

/// Tests write no files where they run, and tell of constructors that refuse.
#[test]
fn files_where_a_test_runs_are_safe() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "careful", "careful.Careful");
        let observed = ["--observed", "--trace", "out"];
        let sources = generate(jdk, &workplace, "observed", &observed);
        for good in [
            "new Careful.Money(-1)",
            "negative: -1",
            "discardTemporary()",
        ] {
            assert!(sources.contains(good), "{good}: {sources}");
        }
        assert!(!sources.contains("discard()"), "{sources}");
        let along = ["--model", "model.json", "--sequences", "400"];
        let sources = generate(jdk, &workplace, "generated", &along);
        assert!(sources.contains("discardTemporary()"), "{sources}");
        assert!(!sources.contains("discard()"), "{sources}");
    }
}

/// What is done to a part of an object is done to the object; what a class that nobody can name gives is
/// tested; calls that throw are tests of their own; and an array is as the JDK has left it.
#[test]
fn what_is_done_to_a_part_is_done_to_the_whole() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "orders", "orders.Main");
        let arguments = [
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
        let report = ok(&run(jdk, &workplace, &arguments));
        golden(
            "palulu/expected/orders-observed.java",
            &written(&workplace, "tests"),
        );
        let told = "18 of 18 carved sequences did the same again\n  \
                    without calls whose objects or arguments no test can make: Order.label (Function), \
                    Sums.largest (int[]), Till.tell (LongConsumer)\n  \
                    not tried: objects that nothing makes which a test can call: of orders.Line\n";
        assert!(report.starts_with(told), "{report}");
        // What is left of a damaged run gives tests, and is not taken for all of it.
        let segment = workplace.join("out/trace/segment-000001.hst");
        let mut bytes = fs::read(&segment).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0x55);
        fs::write(&segment, bytes).expect("a file");
        let damaged = run(jdk, &workplace, &[&arguments[..], &["--quiet"]].concat());
        assert_eq!(damaged.status.code(), Some(1), "{}", text(&damaged.stderr));
    }
}

/// The method that was called is called, whatever javac would take; numbers that are none are values like
/// others; what the JDK does by itself is no test; and what belongs to one JVM, user or thread is not
/// asserted, nor does it cost what is.
#[test]
fn what_was_called_is_called() {
    for jdk in jdks_in_turn() {
        let options = "mode=trace,include=kinds.**;java.util.*";
        let workplace = record_with(jdk, "kinds", "kinds.Main", options);
        let arguments = [
            "generate",
            "--observed",
            "--trace",
            "out",
            "--classpath",
            "classes",
            "--out",
            "tests",
        ];
        ok(&run(jdk, &workplace, &arguments));
        golden(
            "palulu/expected/kinds-observed.java",
            &written(&workplace, "tests"),
        );
        passes(jdk, &workplace, "tests", "classes");
        // Only what takes any text is another.
        let other = Workplace::new("kinds-other");
        let source = root().join("test-programs/palulu/kinds/kinds/Kinds.java");
        let text = fs::read_to_string(&source).expect("a source");
        let changed = text.replace("\"text \"", "\"letters \"");
        let classes = other.compile_text(jdk, &["--release", "11"], "Kinds", &changed);
        let against = classes.display().to_string();
        let told = run(
            jdk,
            &workplace,
            &[&arguments[..], &["--against", &against]].concat(),
        );
        let told = both(&told);
        assert!(told.contains("letters 1"), "{told}");
    }
}

/// Who calls is not asserted, for while tests are found that is reflection, in each JDK another class of it. What
/// no source can name is compared all the same; constants have the types that they are declared with; and
/// elements stand for an array where they can.
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
        // What is passed must be named.
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

/// What calls do to lists, writers and arrays that they are passed is asserted, and what is in what they
/// return; also by types that a test can name, where it cannot name the class.
#[test]
fn what_is_done_to_what_is_passed_is_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "handouts", "handouts.Main");
        let arguments = [
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
        ok(&run(jdk, &workplace, &arguments));
        golden(
            "palulu/expected/handouts-observed.java",
            &written(&workplace, "tests"),
        );
        // What a second run has done likewise is tested once.
        let again = ["--trace", "out", "--format", "json"];
        let report = ok(&run(jdk, &workplace, &[&arguments[..], &again].concat()));
        let report: Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!(report["tests"], 16);
        assert_eq!(report["alike"], 20);
        let missing = run(
            jdk,
            &workplace,
            &[&arguments[..], &["--against", "nowhere"]].concat(),
        );
        let told = text(&missing.stderr);
        assert_eq!(missing.status.code(), Some(1), "{told}");
        assert!(
            told.contains("--against: ") && told.contains("nowhere"),
            "{told}"
        );
    }
}

/// What is written to a builder of which nobody knows what was in it is asserted, of a list that says too much how
/// long it is; what a class has from one that is not public has its type arguments, and a call whose arguments
/// nobody knows is none of the run's where only its result could show that they do not matter.
#[test]
fn what_is_written_and_how_much_there_is_is_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "reports", "reports.Main");
        let how = "--observed --trace out --mutability mutability.json";
        let how: Vec<&str> = how.split(' ').collect();
        let tests = generate(jdk, &workplace, "tests", &how);
        golden("palulu/expected/reports-observed.java", &tests);
        assert!(!tests.contains("distinct("), "{tests}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// What the run alone has looked at is asserted as it was returned; nothing is asked again without need, nor is
/// the JDK tested, and what nothing needs any more is gone.
#[test]
fn what_is_looked_at_is_asserted() {
    for jdk in jdks_in_turn() {
        let options = "mode=trace,include=notes.**;java.util.*";
        let workplace = record_with(jdk, "notes", "notes.Main", options);
        let observed = "generate --observed --trace out --classpath classes --out tests";
        let observed: Vec<&str> = observed.split(' ').collect();
        ok(&run(jdk, &workplace, &observed));
        let tests = written(&workplace, "tests");
        golden("palulu/expected/notes-observed.java", &tests);
        passes(jdk, &workplace, "tests", "classes");
        // Only the list that one call returns is another.
        let next = Workplace::new("notes-next");
        let mut files = Vec::new();
        sources(&root().join("test-programs/palulu/notes"), &mut files);
        let notes = fs::read_to_string(&files[2]).expect("a source");
        let changed = notes.replace("all.addAll(more)", "all.addAll(0, more)");
        assert_ne!(notes, changed);
        fs::write(next.join("Notes.java"), changed).expect("a source");
        files[2] = next.join("Notes.java");
        next.compile(jdk, &["-parameters"], &files);
        let classes = next.join("classes").display().to_string();
        let against = [&observed[..], &["--against", &classes]].concat();
        let output = run(jdk, &workplace, &against);
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stdout);
        assert!(told.contains("[rice, tea, milk]"), "{told}");

        let knowing = [&observed[..], &["--mutability", "mutability.json"]].concat();
        ok(&run(jdk, &workplace, &knowing));
        let tests = written(&workplace, "tests");
        golden("palulu/expected/notes-observed-knowing.java", &tests);
    }
}

/// All that was called on an object is in its test, or its test ends where the run has shown the same. What a test
/// does not know of an object it does not say.
#[test]
fn long_lives_are_whole_or_said_to_be_cut() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "busy", "busy.Main");
        let arguments = [
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
        let report = ok(&run(jdk, &workplace, &arguments));
        assert!(
            report.contains("1 object with more calls than a test can have"),
            "{report}"
        );
        let tests = written(&workplace, "tests");
        assert!(
            tests.contains("assertEquals(120, counter.count());"),
            "{tests}"
        );
        assert!(
            tests.contains("assertEquals(3, counter.count());"),
            "{tests}"
        );
        let counts = tests.matches("counter.count()").count();
        assert_eq!(counts, 2, "{tests}");
        assert!(
            report.contains("Counter$Source.find (Counter$Source)"),
            "{report}"
        );
        assert!(!tests.contains("watcher.found"), "{tests}");
    }
}

/// What an iterator asks its owner is asked through the iterator; and a life that cannot be followed to its end is
/// told, with what is in the way.
#[test]
fn a_life_goes_on_in_what_it_has_given_away() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "boxes", "boxes.Main");
        let arguments = "generate --observed --trace out --mutability mutability.json --classpath classes --out tests";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let report = ok(&run(jdk, &workplace, &arguments));
        let tests = written(&workplace, "tests");
        let through = "        Iterator<String> iterator = box.iterator();\n        \
                       assertTrue(iterator.hasNext());\n        \
                       assertEquals(\"pen\", iterator.next());\n        \
                       assertTrue(iterator.hasNext());\n        \
                       assertEquals(\"ink\", iterator.next());\n        \
                       assertFalse(iterator.hasNext());\n        \
                       box.put(\"cap\");\n        \
                       assertEquals(3, box.size());\n";
        assert!(tests.contains(through), "{tests}");
        assert!(!tests.contains("box.get("), "{tests}");
        let ended = "1 object whose tests end before they do, such as where boxes.Box.label returns something else";
        assert!(report.contains(ended), "{report}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// What is given away as a type of the JDK, by a class that no test can name, has tests with those of what gives it
/// away. Of a static method, calls that end in different ways are tests, and the others are counted.
#[test]
fn what_is_given_away_and_each_way_to_end_is_tested() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "spans", "spans.Main");
        let arguments = "generate --observed --trace out --classpath classes --out tests";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let report = ok(&run(jdk, &workplace, &arguments));
        golden(
            "palulu/expected/spans-observed.java",
            &written(&workplace, "tests"),
        );
        let told = "  not tried: objects that nothing makes which a test can call: of spans.Span$Text\n  \
                    not tried: 18 calls of static methods, where others end the same or there are too many: \
                    spans.Marks.of, spans.Marks.square\n";
        assert!(report.contains(told), "{report}");
        let as_json = [&arguments[..], &["--format", "json"]].concat();
        let report = json(&run(jdk, &workplace, &as_json));
        let untried = &report["observed"]["untried"];
        assert_eq!(untried["spans.Marks.of"], 2, "{report}");
        assert_eq!(untried["spans.Marks.square"], 16, "{report}");
        // Nothing of what one class gives away is in the tests of another.
        let marks = "--observed --trace out --classes spans.Marks";
        let marks: Vec<&str> = marks.split(' ').collect();
        let marks = generate(jdk, &workplace, "marks", &marks);
        assert!(!marks.contains("new Span("), "{marks}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// A sequence without an end costs little of the time: it is stopped where it is, in a JVM that goes on; what it is
/// built on is left alone, and not the methods that it has called.
#[test]
fn what_has_no_end_costs_little() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "ring", "ring.Main");
        search_what_has_no_end(jdk, &workplace, "ring.Link", &[".length()", ".sum()"]);
    }
}

/// So does one that waits: it comes to no place at which it could be stopped, if it is not interrupted.
#[test]
fn what_waits_for_ever_costs_little() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "mail", "mail.Main");
        search_what_has_no_end(jdk, &workplace, "mail.Box", &[".count()", ".first()"]);
    }
}

/// How far other threads have come is chance: what tells it is not asserted, and what waits for them is.
#[test]
fn what_other_threads_do_is_told_where_it_is_waited_for() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "later", "later.Main");
        let search = [
            &[
                "generate",
                "--model",
                "model.json",
                "--classpath",
                "classes",
            ][..],
            &["--classes", "later.*", "--sequences", "2000"],
            &["--out", "tests", "--format", "json"],
        ];
        let report = json(&run(jdk, &workplace, &search.concat()));
        let tests = written(&workplace, "tests");
        assert!(tests.contains(".send(5)"), "{tests}");
        for test in tests.split("@Test").skip(1) {
            for (does, tells) in [(".answer(", ".answered()"), (".file(", ".filed()")] {
                let told = test.split(does).skip(1).any(|after| after.contains(tells));
                assert!(!told, "{test}");
            }
        }
        // They are known before the tests are run as a whole.
        assert_eq!(report["dropped"]["flaky"], 0, "{report}");
    }
}

/// Searches some seconds among the methods of a class, some of which do not end, and has tests of these calls.
fn search_what_has_no_end(jdk: &Jdk, workplace: &Workplace, class: &str, calls: &[&str]) {
    let arguments = [
        "generate",
        "--model",
        "model.json",
        "--classpath",
        "classes",
        "--classes",
        class,
        "--time",
        "12",
        "--out",
        "tests",
        "--format",
        "json",
    ];
    let report = json(&run(jdk, workplace, &arguments));
    let searched = &report["searched"];
    let lost = searched["lost"].as_u64().expect("a number");
    let executed: u64 = ["at_random", "along_models"]
        .iter()
        .filter_map(|phase| searched[phase]["executed"].as_u64())
        .sum();
    // How many there are is chance, and how long they take depends on the machine.
    assert!(lost >= 1 && executed > 1000, "{report}");
    let tests = written(workplace, "tests");
    for call in calls {
        assert!(tests.contains(call), "{call}: {tests}");
    }
}

/// Values of the JDK are told, and made of their texts again; unless probes in the JDK would record that.
#[test]
fn values_of_the_jdk_are_made_again() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "ledger", "ledger.Main");
        let arguments = [
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
        let report = ok(&run(jdk, &workplace, &arguments));
        assert!(!report.contains("no test can make"), "{report}");
        golden(
            "palulu/expected/ledger-observed.java",
            &written(&workplace, "tests"),
        );
        let along = ["--model", "model.json", "--sequences", "300"];
        let sources = generate(jdk, &workplace, "generated", &along);
        assert!(
            sources.contains("LocalDate.parse(\"2024-02-29\")"),
            "{sources}"
        );
        let within = record_with(
            jdk,
            "ledger",
            "ledger.Main",
            "mode=trace,include=ledger.**;java.time.**",
        );
        let events = ok(&run(jdk, &within, &["events", "out"]));
        assert!(events.contains("Duration.ofHours"), "{events}");
        assert!(!events.contains("Duration.toString"), "{events}");
    }
}

/// Along a model, values that one object was passed stay together: four safes were opened, each by ten
/// numbers of its own.
#[test]
fn what_belongs_to_one_life_stays_together() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "safes", "safes.Main");
        let along = [
            "--model",
            "model.json",
            "--mutability",
            "mutability.json",
            "--sequences",
            "600",
        ];
        let sources = generate(jdk, &workplace, "tests", &along);
        let opened = ["gold", "letters", "maps", "pearls"]
            .map(|content| format!("assertEquals(\"{content}\", safe.open());"));
        let found = opened.iter().filter(|opened| sources.contains(*opened));
        assert!(found.count() > 1, "{sources}");
    }
}

/// What depends on where and when a test runs is not asserted; all else is, with
/// what returned objects and exceptions say.
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
            "processors()",
            "coin()",
            "dice()",
            "vanish()",
            "width()",
            "eldest()",
        ] {
            for asserted in [format!("place.{call})"), format!("new Place().{call})")] {
                let there = format!("assertNotNull({asserted}");
                let sources = sources.replace(&there, "");
                assert!(!sources.contains(&asserted), "{call}: {sources}");
            }
        }
        // Two of them are enough for that none is the first.
        assert!(!sources.contains("assertTrue(place.first())"), "{sources}");
        for text in [
            ".new Corner()",
            "assertEquals(\"nothing to note\",\n                assertThrows(IllegalArgumentException.class,",
            ".notes().toString());",
            "@SuppressWarnings(\"deprecation\")",
        ] {
            assert!(sources.contains(text), "{text}: {report} {sources}");
        }
    }
}

/// A test that changes what all have in common is no reason for that others go; tests of both kinds run
/// together, and javac has nothing to say.
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
        "100",
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
    // What other styles are made of says nothing of this one.
    let plain = "        assertEquals(\"wider than 4\",\n                \
                 assertThrows(IllegalArgumentException.class,\n                \
                 () -> Style.PLAIN.line(\"plain\")).getMessage());\n    }\n";
    assert!(sources.contains(plain), "{sources}");
    assert!(
        !sources.contains("\n        Style.PLAIN.maker();"),
        "{sources}"
    );
    assert!(sources.contains("Rack.Slot slot = "), "{sources}");
    passes(jdk, &workplace, "tests", "classes");
}

/// Maven and Gradle run tests with assertions on, consoles with assertions off.
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

/// What a program takes of the JDK and makes nowhere: settings, lists. What it gives is of types that
/// have all that is called.
#[test]
fn what_the_jdk_has_is_made() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "depot", "depot.Main");
    let generate = |out: &str, how: &[&str]| generate(jdk, &workplace, out, how);
    let observed = generate("observed", &["--observed", "--trace", "out"]);
    for line in [
        "Store store = Depot.open(\"depot:here\", new Properties());",
        "assertEquals(7, store.add(\"crate\", 4));",
        // What has changed since it was made: all that was done to the store is there.
        "assertEquals(7, count.number());",
    ] {
        assert!(observed.contains(line), "{line}: {observed}");
    }
    assert!(!observed.contains("(Shelves)"), "{observed}");
    let model = ["--model", "model.json", "--mutability", "mutability.json"];
    let found = generate("found", &[&model[..], &["--sequences", "600"]].concat());
    assert!(found.contains("Depot.open(\"depot:here\", "), "{found}");
    assert!(found.contains("store.close()"), "{found}");
    let random = generate("random", &["--universal", "--sequences", "600"]);
    // Elements are of the type that the parameter has.
    assert!(random.contains("ArrayList<Integer> counts"), "{random}");
    assert!(!random.contains("ClassCastException"), "{random}");
}

/// Reflection asks who calls it: what the program may call it still may, and nothing more.
#[test]
fn reflection_reaches_what_it_reaches_elsewhere() {
    for jdk in jdks() {
        let workplace = compile(jdk, "plugs");
        let how = [
            "--universal",
            "--sequences",
            "300",
            "--classes",
            "plugs.Plugs",
        ];
        let tests = generate(jdk, &workplace, "tests", &how);
        for shown in [
            "\"of package 3, ",
            "assertEquals(7, Plugs.secret());",
            "assertEquals(\"burnt\", Plugs.cause());",
            "assertEquals(\"for heirs\", Plugs.inherited());",
            "class plugs.Plugs cannot access a member of class plugs.Strange",
            "class plugs.Plugs cannot access a member of class plugs.base.Base",
        ] {
            assert!(tests.contains(shown), "{shown}: {tests}");
        }
        assert!(!tests.contains("dev.hindsight"), "{tests}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// Some of a package's classes are rewritten and others are not: the JVM wants the same signers of all.
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
    // The JVM lets no class join a signed package.
    assert!(random.contains("package tests.depot;"), "{random}");
    passes(jdk, &workplace, "random", "app.jar");
}

/// Compiles the tests below a directory, of which javac has nothing to say, and has JUnit run them.
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

/// An object that takes six others, in states that they are not made in, and texts
/// of special forms (the thesis' `BinaryCore`, 2.3.4).
#[test]
fn a_model_leads_to_a_complex_object() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "press", "press.Job");
    let generate = |out: &str, how: &[&str]| {
        let common = [
            "generate",
            "--model",
            "model.json",
            "--classpath",
            "classes",
            "--classes",
            "press.Job",
            "--seed",
            "3",
            "--format",
            "json",
            "--out",
            out,
        ];
        json(&run(jdk, &workplace, &[&common, how].concat()))
    };
    generate("along", &["--sequences", "4000"]);
    let sources = written(&workplace, "along");
    assert!(
        sources.contains("assertEquals(\"ann: 1 lines on A4 in cmyk(0,10,0,90)\",\n")
            && sources.contains("new Job(press, page, customer).print());\n"),
        "{sources}"
    );
    // Of others there are no tests.
    assert!(!sources.contains("class PressGenerated"), "{sources}");
    let report = generate("random", &["--universal", "--sequences", "20000"]);
    assert_eq!(report["tests"], 0, "{report}");
}

#[test]
fn constants_begin_sequences() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "press", "press.Job");
        let common = ["--classpath", "classes", "--classes", "press.Ruler"];
        let observed = ["generate", "--observed", "--trace", "out", "--out", "seen"];
        ok(&run(jdk, &workplace, &[&observed[..], &common].concat()));
        let sources = written(&workplace, "seen");
        let line = "assertEquals(60, Ruler.METRIC.times(3).mark(2));";
        assert!(sources.contains(line), "{sources}");
        let along = [
            "generate",
            "--model",
            "model.json",
            "--sequences",
            "500",
            "--out",
            "along",
        ];
        ok(&run(jdk, &workplace, &[&along[..], &common].concat()));
        let sources = written(&workplace, "along");
        assert!(sources.contains("Ruler.METRIC."), "{sources}");
    }
}

/// What is interrupted leaves nothing behind.
#[test]
fn temporary_directories_go_with_the_process() {
    let jdk = &jdks()[0];
    let workplace = compile(jdk, "constrained");
    let place = workplace.join("tmp");
    fs::create_dir_all(&place).expect("a directory");
    let entries = || fs::read_dir(&place).expect("a directory").count();
    let mut child = Command::new(hindsight())
        .env("JAVA_HOME", &jdk.home)
        .env("TMPDIR", &place)
        .current_dir(&workplace.path)
        .args([
            "generate",
            "--universal",
            "--time",
            "60",
            "--classpath",
            "classes",
            "--out",
            "tests",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hindsight runs");
    let until = Instant::now() + Duration::from_secs(60);
    while entries() == 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(entries(), 1);
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.expect("kill runs").success());
    let ended = child.wait().expect("it ends");
    assert_eq!(ended.code(), Some(130));
    assert_eq!(entries(), 0);
}

/// Workers end with the process that has started them, whatever they do and however that ends.
#[test]
fn workers_end_with_the_process() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("generate-killed");
    let source = "public class Endless { public static void run() { while (true) { } } }";
    workplace.compile_text(jdk, &[], "Endless", source);
    let place = workplace.join("tmp");
    fs::create_dir_all(&place).expect("a directory");
    // What is in its command line, and no more once it has ended.
    let workers = || {
        let place = place.display().to_string();
        let processes = fs::read_dir("/proc").expect("processes");
        let commands = processes.flatten();
        let commands = commands.flat_map(|process| fs::read(process.path().join("cmdline")));
        let commands = commands.filter(|command| text(command).contains(&place));
        commands.count()
    };
    let wait_until = |is_so: &dyn Fn() -> bool, seconds| {
        let until = Instant::now() + Duration::from_secs(seconds);
        while !is_so() && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        is_so()
    };
    let arguments =
        "generate --universal --sequences 1000000 --timeout 300 --classpath classes --out tests";
    let mut child = Command::new(hindsight())
        .env("JAVA_HOME", &jdk.home)
        .env("TMPDIR", &place)
        .current_dir(&workplace.path)
        .args(arguments.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hindsight runs");
    assert!(wait_until(&|| workers() > 0, 60));
    // So that it is where it does not come back from.
    thread::sleep(Duration::from_secs(2));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert!(wait_until(&|| workers() == 0, 20));
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
    // Somebody's own file stays.
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
