//! The numbers of objects in traces.

use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{Jdk, Workplace, both, jdks, jdks_in_turn, root, text};
use hindsight_tracelog::trace::kind::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Runs `Hashed` with so many objects: each has one number, whatever its hash code is, and
/// nobody else has it.
fn check_numbers(jdk: &Jdk, workplace: &Workplace, classes: &Path, count: u32, collector: &str) {
    let _ = fs::remove_dir_all(workplace.join("out"));
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,trace-what=calls;values")
        .args([collector, "-Xmx512m", "-cp"])
        .arg(classes)
        .args(["Hashed", &count.to_string()])
        .output()
        .expect("java runs");
    if both(&ran).contains("Option -XX:+Use") {
        // A JVM that was built without this collector.
        return;
    }
    let label = format!("JDK {} {collector}", jdk.version);
    assert_eq!(text(&ran.stdout), "true\n", "{label}: {}", both(&ran));
    let log = open(workplace);
    let mut methods = log
        .dictionary
        .traced
        .iter()
        .flat_map(|class| &class.methods);
    let look = methods.find(|method| method.name == "look");
    let look = look.expect("a traced method").id;
    let mut objects = BTreeMap::new();
    let mut numbers = BTreeSet::new();
    let mut told = BTreeSet::new();
    for_each(&log, |event| match event.kind() {
        Kind::Enter if event.id == look => {
            let object = event.reference(0).expect("an object");
            let known = objects.entry(event.ints()[0]).or_insert(object);
            assert_eq!(*known, object, "{label}: an object has two numbers");
            numbers.insert(object.serial());
        }
        Kind::Object => {
            let number = event.reference(0).expect("an object").serial();
            assert!(told.insert(number), "{label}: {number} is told of twice");
        }
        _ => {}
    });
    assert_eq!(objects.len() as u32, 2 * count + 2000, "{label}");
    assert_eq!(
        objects.len(),
        numbers.len(),
        "{label}: objects share numbers"
    );
    assert!(numbers.is_subset(&told), "{label}: objects are not told of");
}

#[test]
fn numbers_are_unique_whoever_made_the_hash_codes() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-hashed");
        let source = root().join("test-programs/trace/Hashed.java");
        let classes = workplace.compile(jdk, &[], &[source]);
        if jdks_in_turn().contains(jdk) {
            // By chance, some 40 of the hash codes are numbers that others have.
            check_numbers(jdk, &workplace, &classes, 300_000, "-XX:+UseG1GC");
            for collector in ["Serial", "Parallel", "Z", "Shenandoah"] {
                let collector = format!("-XX:+Use{collector}GC");
                check_numbers(jdk, &workplace, &classes, 20_000, &collector);
            }
        } else {
            check_numbers(jdk, &workplace, &classes, 20_000, "-XX:+UseG1GC");
        }
        if jdk.version >= 25 {
            let headers = "-XX:+UseCompactObjectHeaders";
            check_numbers(jdk, &workplace, &classes, 20_000, headers);
        }
    }
}
