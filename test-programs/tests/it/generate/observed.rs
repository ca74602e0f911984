//! Tests of what a run did.

use super::{OBSERVE, generate, json, ok, passes, record, record_with, run, sources, written};
use hindsight_test_programs::{Workplace, both, golden, jdks_in_turn, root, text};
use serde_json::Value;
use std::fs;

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

        // This is a next version.
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
        // Tests in their written form pass, although their compiled form does not.
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
        // It counts visitors differently.
        let output = against(&[("return ++visitors;", "return visitors++;")]);
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stdout);
        let side_by_side = "    door.enter(ticket)\n      old: 1\n      new: 0\n";
        assert!(told.contains(side_by_side), "{told}");
        let output = with(&["--out", "five", "--against", "classes"]);
        assert!(ok(&output).contains("the other version passes"));
        // The tests are for classes that are not those of the run.
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

/// What is done to a part of an object is done to the object; results of a class that no source can
/// name are tested; calls that throw are tests of their own; an array is as the JDK has left it;
/// and a reference that continues from other numbers is replaced by another lambda, and is another
/// object in each place.
#[test]
fn what_is_done_to_a_part_is_done_to_the_whole() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "orders", "orders.Main");
        let report = ok(&run(jdk, &workplace, &OBSERVE));
        golden(
            "palulu/expected/orders-observed.java",
            &written(&workplace, "tests"),
        );
        let told = "24 of 25 carved sequences did the same again\n  \
                    1 gave nothing that could be asserted, such as one with orders.Till.next\n  \
                    without calls whose objects or arguments no test can make: Order.label (Function), \
                    Sums.largest (int[])\n  \
                    1 object whose tests end before they do, such as where orders.Till.ring returns something else\n  \
                    not tried: objects that nothing makes which a test can call: of orders.Line\n";
        assert!(report.starts_with(told), "{report}");
        // The rest of a damaged run yields tests, and is not taken for all of it.
        let segment = workplace.join("out/trace/segment-000001.hst");
        let mut bytes = fs::read(&segment).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0x55);
        fs::write(&segment, bytes).expect("a file");
        let damaged = run(jdk, &workplace, &[&OBSERVE[..], &["--quiet"]].concat());
        assert_eq!(damaged.status.code(), Some(1), "{}", text(&damaged.stderr));
    }
}

/// The method that was called is called, whatever javac would select; NaNs are values like others;
/// what the JDK does internally is not tested; and what belongs to one JVM, user or thread is not
/// asserted, and does not affect other assertions.
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
        // Only the method that takes any text is different.
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

/// What calls do to lists, writers and arrays that they are passed is asserted, and so is the
/// content of their results, including those with types that a test can name although it cannot
/// name the class.
#[test]
fn what_is_done_to_what_is_passed_is_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "handouts", "handouts.Main");
        ok(&run(jdk, &workplace, &OBSERVE));
        golden(
            "palulu/expected/handouts-observed.java",
            &written(&workplace, "tests"),
        );
        // What a second run has done likewise is tested once.
        let again = ["--trace", "out", "--format", "json"];
        let report = ok(&run(jdk, &workplace, &[&OBSERVE[..], &again].concat()));
        let report: Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!(report["tests"], 14);
        assert_eq!(report["alike"], 22);
        let missing = run(
            jdk,
            &workplace,
            &[&OBSERVE[..], &["--against", "nowhere"]].concat(),
        );
        let told = text(&missing.stderr);
        assert_eq!(missing.status.code(), Some(1), "{told}");
        assert!(
            told.contains("--against: ") && told.contains("nowhere"),
            "{told}"
        );
    }
}

/// An exception whose class no source can name is expected as the nearest superclass with a name;
/// one that no test can expect ends a life, which is reported; and a class of the program may have
/// the same name as one of `java.lang`.
#[test]
fn what_no_source_can_name_is_thrown() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "gates", "gates.Main");
        let report = ok(&run(jdk, &workplace, &OBSERVE));
        let ended = "such as where gates.Gate.pass throws java.lang.LinkageError: rusty, which no test can expect";
        assert!(report.contains(ended), "{report}");
        golden(
            "palulu/expected/gates-observed.java",
            &written(&workplace, "tests"),
        );
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// Texts written to a builder with unknown earlier content are asserted, and the length of a list
/// whose text is too long; members that a class inherits from one that is not public have its type
/// arguments, and arrays that the JDK has filled have its elements.
#[test]
fn what_is_written_and_how_much_there_is_is_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "reports", "reports.Main");
        let how = "--observed --trace out --mutability mutability.json";
        let how: Vec<&str> = how.split(' ').collect();
        let tests = generate(jdk, &workplace, "tests", &how);
        golden("palulu/expected/reports-observed.java", &tests);
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// Results that only the run has looked at are asserted as they were returned; nothing is asked
/// again without need, nor is the JDK tested, and what nothing needs any more is dropped.
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
        // Only the list that one call returns differs.
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

/// All that was called on an object is in its test, or its test ends where the run has shown the
/// same. What a test does not know about an object it does not assert, and what the run has not
/// asked it does not ask if that matters.
#[test]
fn long_lives_are_whole_or_said_to_be_cut() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "busy", "busy.Main");
        let report = ok(&run(jdk, &workplace, &OBSERVE));
        assert!(
            report.contains("2 objects with more calls than a test can have"),
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
        // Only more of the same follows, and a repeated question says nothing more until it goes
        // forward.
        let places = tests.matches("reader.index()").count();
        assert_eq!(places, 10, "{tests}");
        let letters = tests.matches("reader.peek()").count();
        assert_eq!(letters, 10, "{tests}");
        // Being asked for its text changes what comes later.
        assert!(tests.contains("assertEquals(\"[a=1,b=2]\", "), "{tests}");
        assert!(tests.contains("assertEquals(300, sum.total());"), "{tests}");
        assert!(
            report.contains("Counter$Source.find (Counter$Source)"),
            "{report}"
        );
        assert!(!tests.contains("watcher.found"), "{tests}");
    }
}

/// What an iterator asks its owner is asked through the iterator; and a life that cannot be
/// followed to its end is reported, with the obstacle.
#[test]
fn a_life_goes_on_in_what_it_has_given_away() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "boxes", "boxes.Main");
        let report = ok(&run(jdk, &workplace, &OBSERVE));
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
        // Types are those of the elements, and arrays are written with their elements, if there are
        // any.
        assert!(
            tests.contains("Pile<Integer> pile = new Pile<>();"),
            "{tests}"
        );
        let counted = "Pile.count(\"none\", (Object[]) null)";
        assert!(tests.contains(counted), "{tests}");
        assert!(tests.contains("Pile.count(\"one\", \"x\")"), "{tests}");
        let ended = "1 object whose tests end before they do, such as where boxes.Box.label returns something else";
        assert!(report.contains(ended), "{report}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// An object that is returned with a type of the JDK, by a class that no test can name, is tested
/// with the object that returns it. Of a static method, calls with different kinds of ends are
/// tests, and the others are counted.
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
        // Nothing that one class returns is in the tests of another.
        let marks = "--observed --trace out --classes spans.Marks";
        let marks: Vec<&str> = marks.split(' ').collect();
        let marks = generate(jdk, &workplace, "marks", &marks);
        assert!(!marks.contains("new Span("), "{marks}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// Methods are called on constants of an enum: those calls stand for themselves, and make objects.
/// What an object has from others is asked at the end, what another object of its type changes is
/// not asked again, and half of a surrogate pair is a char like others.
#[test]
fn what_constants_do_is_tested() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "coins", "coins.Main");
        ok(&run(jdk, &workplace, &OBSERVE));
        golden(
            "palulu/expected/coins-observed.java",
            &written(&workplace, "tests"),
        );
        passes(jdk, &workplace, "tests", "classes");
    }
}
