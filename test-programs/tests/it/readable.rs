//! Values in emitted tests are built as a person would, where that gives the
//! same objects: `readable/Shop.java` has one of each kind, `readable/expected`
//! the tests that result, on every JDK. `BLESS=1` rewrites it; read the diff.
//! `readable/Kinds.java` has objects that are told by identity, and kinds of the JDK.

use hindsight_test_programs::{Jdk, Workplace, both, jdks, jdks_in_turn, reported, root, text};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Runs a program of the folder until it crashes.
fn recorded(jdk: &Jdk, program: &str) -> (Workplace, PathBuf) {
    let workplace = Workplace::new(&format!("readable-{program}-{}", jdk.version));
    let source = root().join(format!("test-programs/readable/{program}.java"));
    let classes = workplace.compile(jdk, &["--release", "11"], &[source]);
    let run = workplace
        .java_with_agent(jdk, "")
        .arg("-cp")
        .arg(&classes)
        .arg(format!("readable.{program}"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", both(&run));
    (workplace, classes)
}

#[test]
fn values_are_built_as_a_person_would() {
    let folder = root().join("test-programs/readable");
    let golden = folder.join("expected.java");
    for (at, jdk) in jdks().iter().enumerate() {
        let (workplace, classes) = recorded(jdk, "Shop");
        let emit = |values: &str| -> Value {
            let output = workplace
                .junit(jdk, &classes)
                .args(["--values", values, "--format", "json"])
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", both(&output));
            serde_json::from_str(&text(&output.stdout)).unwrap()
        };
        let frames = |report: &Value| report["crashes"][0]["frames"].as_array().unwrap().clone();
        let built = frames(&emit("built"));
        for frame in &built {
            assert_eq!(
                frame["verdict"], "reproduces",
                "JDK {}: {frame}",
                jdk.version
            );
        }
        let loads: Vec<bool> = built
            .iter()
            .map(|frame| frame["values"]["state"].as_bool().unwrap())
            .collect();
        // The clock's state alone cannot be made.
        assert_eq!(
            loads,
            [false, false, true, false, false, false],
            "JDK {}",
            jdk.version
        );
        let source = workplace.join("tests/src/test/java/readable/OutcomeCrash0001Test.java");
        let source = fs::read_to_string(source).unwrap();
        let all = frames(&emit("loaded"));
        assert_eq!(all[4]["values"]["built"], 0);
        assert_eq!(all[4]["values"]["loaded"], 5, "{}", all[4]);
        // Times and versions stand in the comment at the top; line numbers are the program's.
        let (_, body) = source.split_once("package readable;").unwrap();
        let body = format!("package readable;{body}");
        if std::env::var_os("BLESS").is_some() && at == 0 {
            fs::write(&golden, &body).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        // The clock's reading differs from run to run.
        let plain = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.contains("Clock {"));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(
            plain(&body),
            plain(&expected),
            "JDK {}:\n{body}",
            jdk.version
        );
    }
}

/// Strings and boxes that are one object, or are not, are that in tests; and what the JDK has is made
/// by its own means.
#[test]
fn identity_and_kinds_of_the_jdk() {
    let golden = root().join("test-programs/readable/expected-kinds.java");
    for (at, jdk) in jdks().iter().enumerate() {
        let (workplace, classes) = recorded(jdk, "Kinds");
        let (output, report) = reported(&mut workplace.junit(jdk, &classes));
        assert!(output.status.success(), "{}", both(&output));
        for frame in report["crashes"][0]["frames"].as_array().unwrap() {
            assert_eq!(
                frame["verdict"], "reproduces",
                "JDK {}: {frame}",
                jdk.version
            );
            let loaded = match frame["method"].as_str() {
                // A queue for elements that wait has no public way that is known.
                Some("held") => 1,
                // Nor has what is closed or outdated, or holds such a queue, or shares a lock with that.
                Some("spent") => 6,
                // What the JDK puts into all sets and lists is not shared with what holds such a queue.
                Some("marked") => 1,
                _ => 0,
            };
            assert_eq!(
                frame["values"]["loaded"], loaded,
                "JDK {}: {frame}",
                jdk.version
            );
        }
        let source = workplace.join("tests/src/test/java/readable/KindsCrash0001Test.java");
        let source = fs::read_to_string(source).unwrap();
        let (_, body) = source.split_once("package readable;").unwrap();
        let body = format!("package readable;{body}");
        if std::env::var_os("BLESS").is_some() && at == 0 {
            fs::write(&golden, &body).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(body, expected, "JDK {}:\n{body}", jdk.version);
    }
}

/// Builders are known by what they do, whatever they are called, what they begin with, and whether they collect;
/// factories also where they are in what is above the class. What comes out the same by luck is loaded. Collections
/// of the program are filled by its own methods, copies with a change and what getters keep are made by these, and
/// of objects that know each other the one is made first that the other one is given to, or adds itself to.
#[test]
fn builders_of_several_forms_are_used() {
    for jdk in jdks_in_turn() {
        let (workplace, classes) = recorded(jdk, "Makers");
        let output = workplace
            .junit(jdk, &classes)
            .args(["--format", "json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
        let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        for frame in report["crashes"][0]["frames"].as_array().unwrap() {
            assert_eq!(frame["verdict"], "reproduces", "{frame}");
            let loads = matches!(frame["method"].as_str(), Some("numbered" | "many"));
            assert_eq!(frame["values"]["state"], loads, "{frame}");
        }
        let source = workplace.join("tests/src/test/java/readable/MakersCrash0001Test.java");
        let source = fs::read_to_string(source).unwrap();
        let plain: String = source.split_whitespace().collect();
        for expected in [
            "Page.start().to(\"https://example.org\").limit(5).make()",
            "Mail.builder(\"joe\").subject(\"lunch\").header(\"A:b\").header(\"C:d\").build()",
            "newMenu.Builder(\"noon\").price(\"rice\",6).price(\"soup\",4).build()",
            "Makers.drawn(Shape.circle(2.5),Scale.by(3));",
            "Ticketticket=frame.argument(1);",
            // Copies with a change, and what is kept.
            "word.hashCode();word.letters();",
            "Makers.kept(word,Font.PLAIN.withSize(12).bold(true),Font.PLAIN);",
            // Collections of the program.
            "Pile<String>pile=newPile<>();pile.push(\"a\");pile.push(\"b\");",
            "Gridgrid=newGrid(2,3);grid.set(0,2,1.5);grid.set(1,0,-1.0);",
            "index.put(\"two\",2);index.put(\"one\",1);",
            "ages.birth(\"Ann\",1990);ages.birth(\"Bob\",2001);",
            "Recent<String>recent=newRecent<>(2);recent.add(\"x\");recent.add(\"y\");",
            // Objects that make each other whole.
            "Parttable=newPart(\"table\");table.add(newPart(\"top\"));Partleg=newPart(\"leg\");\
             leg.add(newPart(\"screw\"));table.add(leg);",
            "Diarydiary=newDiary(\"mine\");Entryfirst=newEntry(diary,\"rain\");\
             Entrysecond=newEntry(diary,\"sun\");",
            // One argument has as many objects as a test makes: of the other nothing is.
            "Object[][]others=frame.argument(2);",
        ] {
            assert!(
                plain.contains(expected),
                "JDK {}: {expected}\n{source}",
                jdk.version
            );
        }
        assert_eq!(plain.matches("newStringBuilder()").count(), 36, "{source}");
    }
}
