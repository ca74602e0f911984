//! Tests along models, and the origins of their values.

use super::{OBSERVE, generate, json, ok, record, record_with, run, written};
use hindsight_test_programs::{golden, jdks, jdks_in_turn};
use std::fs;

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
        // It is opened with the right key, and entered with a ticket that the builder returned.
        assert!(sources.contains(".open(\"sesame:8\")"), "{sources}");
        assert!(sources.contains(".sell()"), "{sources}");
        assert!(sources.contains("door.enter(ticket"), "{sources}");
        // The same seed yields the same tests.
        generate("again", &[]);
        assert_eq!(sources, written(&workplace, "again"));
    }
}

/// Types have their type arguments, and JDK objects are made again if their classes are recorded as
/// well.
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
            // A lambda was passed before, and is replaced by another one here.
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
            // The next call finds what static methods have left.
            "Label.size(2);\n        Label.owner(\"Ann\");\n        \
             assertEquals(\"jamjam of Ann\", Label.create(\"jam\").text());",
            "() {\n        assertEquals(\"tea\", Label.create(\"tea\").text());",
        ] {
            assert!(sources.contains(line), "{line}: {sources}");
        }
        assert!(!sources.contains("SuppressWarnings"), "{sources}");
        assert!(!sources.contains("requireNonNull"), "{sources}");
        // At random there are types as well; and a class's tests of an earlier run do not stay, but
        // tests of another kind, and those of others, do.
        let old = workplace.join("tests/src/test/java/shelf");
        fs::copy(
            old.join("CatalogObservedTest.java"),
            old.join("GoneGeneratedTest.java"),
        )
        .expect("a file");
        fs::write(old.join("MineGeneratedTest.java"), "mine").expect("a file");
        let bounds = ["--universal", "--sequences", "600", "--seed", "1"];
        let report = observed("tests", &bounds);
        assert_eq!(
            report["removed"].as_array().map(Vec::len),
            Some(1),
            "{report}"
        );
        // An inner object has an outer one.
        assert_eq!(report["dropped"]["not_compiled"], 0, "{report}");
        assert!(!old.join("GoneGeneratedTest.java").exists());
        assert!(old.join("MineGeneratedTest.java").exists());
        assert!(old.join("CatalogObservedTest.java").exists());
        let generated = fs::read_to_string(old.join("CatalogGeneratedTest.java"));
        let generated = generated.expect("a source");
        for line in [
            "Catalog<String, Object> catalog = new Catalog<>();",
            // Functions are lambdas, of the JDK's interfaces and of the program's.
            ".filtered(x -> ",
            ".changed(\"a\", (a, b) -> ",
        ] {
            assert!(generated.contains(line), "{line}: {generated}");
        }
    }
}

/// Values of the JDK are recorded, and made again from their texts, unless probes in the JDK would
/// record that.
#[test]
fn values_of_the_jdk_are_made_again() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "ledger", "ledger.Main");
        let report = ok(&run(jdk, &workplace, &OBSERVE));
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

/// Along a model, values that one object was passed stay together: four safes were opened, each by
/// ten numbers of its own.
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

/// What a program needs of the JDK and makes nowhere: settings, lists. Its results have types with
/// all methods that are called.
#[test]
fn what_the_jdk_has_is_made() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "depot", "depot.Main");
    let generate = |out: &str, how: &[&str]| generate(jdk, &workplace, out, how);
    let observed = generate("observed", &["--observed", "--trace", "out"]);
    for line in [
        "Store store = Depot.open(\"depot:here\", new Properties());",
        "assertEquals(7, store.add(\"crate\", 4));",
        // All changes since it was made are there, including what was done to the store.
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
    // Elements have the type of the parameter.
    assert!(random.contains("ArrayList<Integer> counts"), "{random}");
    assert!(random.contains("Depot.labels()"), "{random}");
    assert!(!random.contains("Depot.largest(Depot.labels()"), "{random}");
    assert!(!random.contains("ClassCastException"), "{random}");
}

/// An object that takes six others, in states in which they are not made, and texts of special
/// forms (the thesis's `BinaryCore`, 2.3.4).
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
    // There are no tests of other classes.
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
