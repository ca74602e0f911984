//! Traces of what only the JDK's own code sees, and how much of it is recorded.

use crate::trace_commands::table;
use hindsight_test_programs::traces::lines;
use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, root, text};
use std::process::Command;

/// Records `Unseen`. Returns the lines of `hindsight events`, without the thread and the
/// indentation.
fn record(jdk: &Jdk) -> (Workplace, Vec<String>) {
    let workplace = Workplace::new(&format!("trace-unseen-{}", jdk.version));
    let source = root().join("test-programs/trace/Unseen.java");
    let classes = workplace.compile(jdk, &["--release", "17"], &[source]);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace")
        .arg("-cp")
        .arg(&classes)
        .arg("Unseen")
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    assert_eq!(
        text(&ran.stdout),
        "first67second[0, 0, -1][1, 3, 3]\n6\n7nownull\n92\n",
        "{}",
        both(&ran)
    );
    let all = lines(&workplace);
    let all = all.iter().filter_map(|line| line.get(13..));
    let all = all.map(|line| line.trim_start_matches("| ").to_owned());
    let all = all.collect();
    (workplace, all)
}

/// Calls of method references are recorded as if code of the program had made them, except those of
/// serializable references.
#[test]
fn method_references_tell_what_they_write() {
    for jdk in jdks() {
        let (workplace, lines) = record(jdk);
        let after = lines.iter().filter_map(|line| line.strip_prefix("after "));
        let after: Vec<&str> = after.collect();
        let shown = after.iter().map(|line| without_numbers(line));
        let shown: Vec<String> = shown.map(|line| of_handles(&line)).collect();
        assert_eq!(
            shown,
            [
                "AtomicInteger.addAndGet: AtomicInteger, 5, 5",
                "AtomicInteger.incrementAndGet: AtomicInteger, 6",
                "LongAdder.add: LongAdder, 1",
                "LongAdder.add: LongAdder, 2",
                "LongAdder.add: LongAdder, 3",
                "LongAdder.increment: LongAdder",
                "AtomicReference.getAndSet: AtomicReference, String \"second\", String \"first\"",
                "AtomicLongArray.decrementAndGet: AtomicLongArray, 2, -1",
                "System.arraycopy: int[], 0, int[], 1, 2",
                "Arrays.sort: int[]",
                "LongAdder.add: Unseen$Doubling, 4",
                "Array.set: String[][], 1, String[]",
                "Field.setInt: Field \"Unseen.ticks\", null, 2",
                "VarHandle.set: VarHandle \"Unseen.number\", Unseen, 3",
                "VarHandle.setRelease: VarHandle \"Unseen.shared\", String \"now\"",
                "VarHandle.compareAndSet: VarHandle \"Unseen.held\", Unseen, null, String \"now\", true",
                "AtomicIntegerFieldUpdater.addAndGet: Updater \"Unseen.number\", Unseen, 4, 7",
                "AtomicReferenceFieldUpdater.lazySet: Updater \"Unseen.held\", Unseen, null",
                "Arrays.sort: int[]",
                "System.arraycopy: byte[], 0, byte[], 1, 2",
                "byte[].clone: byte[], byte[]",
            ],
            "JDK {}",
            jdk.version
        );
        // These are the rows of an array that is made by reflection.
        let rows = lines.iter().filter(|line| line.starts_with("String[][]#"));
        let rows: Vec<_> = rows.map(|line| without_numbers(line)).collect();
        assert_eq!(
            rows,
            ["String[][][0] = String[]", "String[][][1] = String[]"]
        );
        // The replacement class is not shown.
        assert!(!lines.iter().any(|line| line.contains("Hindsight")));
        // It is a mistake to ask for what could have been called, and was not.
        for (method, found) in [("LongAdder.add", 4), ("LongAdder.reset", 0)] {
            let told = Command::new(hindsight())
                .arg("events")
                .arg(workplace.join("out"))
                .args(["--method", &format!("**.{method}")])
                .output()
                .expect("hindsight runs");
            assert_eq!(told.status.success(), found > 0, "{}", both(&told));
            assert_eq!(text(&told.stdout).lines().count(), found, "{}", both(&told));
        }
    }
}

/// The content of an array that comes filled is recorded, unless events show it; and so is the
/// field of a handle.
#[test]
fn what_the_jdk_has_filled_says_what_is_in_it() {
    for jdk in jdks() {
        let (workplace, lines) = record(jdk);
        let filled = lines.iter().filter(|line| line.contains("[]#"));
        let word = |line: &str| line.starts_with("new ") || line.starts_with("again ");
        let filled = filled.filter(|line| word(line));
        let filled = filled.filter_map(|line| line.split_once(": "));
        let filled: Vec<String> = filled
            .map(|(array, elements)| {
                let array = without_numbers(array);
                format!("{array}: {}", without_numbers(elements))
            })
            .collect();
        assert_eq!(
            filled,
            [
                // These become elements of another array.
                "new String[] of length 2: String \"p\", String \"q\"",
                // The other element is a write.
                "new char[] of length 2: 'z', 'y'",
                "new int[] of length 2: 3, 4",
                "new byte[] of length 2: 97, 98",
                "new String[] of length 2: String \"a\", String \"b\"",
                "new Object[] of length 2: String \"c\", null",
                "new Object[] of length 2: long[], Object[]",
                "again String[] of length 1: String \"d\"",
                // This array was empty when it was first seen.
                "again byte[] of length 3: 105, 110, 0",
                "new double[] of length 2: 0.5, -0.0",
                "new int[] of length 1: 6",
                // Nothing is shown of the second one's content.
                "new Object[] of length 2: int[], Object[]",
                "new Object[] of length 1: Object[]",
                // This one was made by reflection.
                "new String[] of length 1: String \"f\"",
            ],
            "JDK {}",
            jdk.version
        );
        let tables = workplace.join("tables");
        let exported = Command::new(hindsight())
            .args(["export", "--parquet"])
            .arg(workplace.join("out"))
            .arg("--out")
            .arg(&tables)
            .output()
            .expect("hindsight runs");
        assert!(exported.status.success(), "{}", both(&exported));
        let elements = table(&tables, "elements");
        let bytes = elements.iter().filter(|row| row["value_integer"] == 97);
        assert_eq!((elements.len(), bytes.count()), (25, 1));
    }
}

/// Classes of handles have other names from release to release.
fn of_handles(line: &str) -> String {
    let Some((callee, values)) = line.split_once(": ") else {
        return line.to_owned();
    };
    let class = match callee.split_once('.') {
        Some(("VarHandle", _)) => "VarHandle",
        Some((class, _)) if class.ends_with("FieldUpdater") => "Updater",
        _ => return line.to_owned(),
    };
    let values = values.split_once(' ').map_or(values, |(_, values)| values);
    format!("{callee}: {class} {values}")
}

/// A line without the numbers of objects.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split('#');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    shown
}

/// A constructor that an exception leaves from its call of another one records nothing: in the
/// tables it has the exception with which the other one has ended, if that is recorded, too.
#[test]
fn constructors_have_the_exception_of_those_that_they_call() {
    for jdk in jdks() {
        let (workplace, lines) = record(jdk);
        let throws = |name: &str| lines.iter().any(|line| line.starts_with(name));
        assert!(throws("Unseen$Base.<init> throws ") && !throws("Unseen$Last.<init> throws "));
        let tables = workplace.join("tables");
        let exported = Command::new(hindsight())
            .args(["export", "--parquet"])
            .arg(workplace.join("out"))
            .arg("--out")
            .arg(&tables)
            .output()
            .expect("hindsight runs");
        assert!(exported.status.success(), "{}", both(&exported));
        let calls = table(&tables, "calls");
        let ended = |class: &str| {
            let calls = calls.iter();
            let calls = calls.filter(|call| call["class"] == format!("Unseen${class}"));
            let calls = calls.map(|call| {
                assert_eq!(
                    (&call["ended"], &call["method"]),
                    (&"throw".into(), &"<init>".into())
                );
                (call["result_object"].clone(), call["result_class"].clone())
            });
            calls.collect::<Vec<_>>()
        };
        let base = ended("Base");
        let [first, second] = &base[..] else {
            panic!("{base:?}");
        };
        assert!(first.0 != second.0 && first.1 == "java.lang.IllegalArgumentException");
        assert_eq!(ended("Middle"), base);
        let of_last = [first, second, second].map(Clone::clone);
        assert_eq!(ended("Last"), of_last);
        assert_eq!(ended("OfJdk"), [(().into(), ().into())]);
    }
}
