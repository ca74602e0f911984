//! The numbers of objects in traces.

use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, root, text};
use hindsight_tracelog::trace::kind::Kind;
use hindsight_tracelog::trace::{Log, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Stands for all objects that have no number.
const UNKNOWN: ObjectId = ObjectId(1);

/// Runs `Hashed` with this many objects; `None` if this JVM was built without the collector. The
/// recorder continues as if it had given all numbers before `next`.
fn run(
    jdk: &Jdk,
    workplace: &Workplace,
    classes: &Path,
    (count, next): (u32, Option<u64>),
    option: &str,
) -> Option<Log<Vec<u8>>> {
    let _ = fs::remove_dir_all(workplace.join("out"));
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,trace-what=calls;values")
        .args(["--add-opens", "java.base/java.lang=ALL-UNNAMED"])
        .args([option, "-Xmx512m", "-cp"])
        .arg(classes)
        .args(["Hashed", &count.to_string()])
        .args(next.map(|next| next.to_string()))
        .output()
        .expect("java runs");
    if both(&ran).contains("Option -XX:+Use") {
        return None;
    }
    let label = format!("JDK {} {option}", jdk.version);
    assert_eq!(text(&ran.stdout), "true\n", "{label}: {}", both(&ran));
    Some(open(workplace))
}

/// Checks that each object has one number, whatever its hash code, which no other object has.
fn check_numbers(
    jdk: &Jdk,
    workplace: &Workplace,
    classes: &Path,
    of: (u32, Option<u64>),
    option: &str,
) {
    let Some(log) = run(jdk, workplace, classes, of, option) else {
        return;
    };
    let (count, next) = of;
    let label = format!("JDK {} {option} from {next:?}", jdk.version);
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
    let mut hidden = 0;
    for_each(&log, |event| match event.kind() {
        Kind::Enter if event.id == look => {
            let object = event.reference(0).expect("an object");
            if object == UNKNOWN {
                hidden += 1;
                return;
            }
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
    // These are objects whose monitors are elsewhere, if their hash codes do not suffice.
    let most = if next.is_some() { 100 } else { 0 };
    assert!(hidden <= most, "{label}: {hidden} have no number");
    let beyond = next.is_some_and(|next| next < HASH_CODES);
    let is_beyond = |number: &u64| (HASH_CODES..2 * HASH_CODES).contains(number);
    assert_eq!(numbers.iter().any(is_beyond), beyond, "{label}");
}

/// The number of possible hash codes.
const HASH_CODES: u64 = 1 << 31;

#[test]
fn numbers_are_unique_whoever_made_the_hash_codes() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-hashed");
        let source = root().join("test-programs/trace/Hashed.java");
        let classes = workplace.compile(jdk, &[], &[source]);
        if jdks_in_turn().contains(jdk) {
            // By chance, some 40 of the hash codes are numbers of other objects.
            check_numbers(jdk, &workplace, &classes, (300_000, None), "-XX:+UseG1GC");
            for collector in ["Serial", "Parallel", "Z", "Shenandoah"] {
                let collector = format!("-XX:+Use{collector}GC");
                for next in [None, MANY] {
                    check_numbers(jdk, &workplace, &classes, (20_000, next), &collector);
                }
            }
        } else {
            check_numbers(jdk, &workplace, &classes, (20_000, None), "-XX:+UseG1GC");
        }
        check_numbers(jdk, &workplace, &classes, (20_000, MANY), "-XX:+UseG1GC");
        if jdk.version >= 25 {
            check_numbers(jdk, &workplace, &classes, (20_000, None), COMPACT);
        }
    }
}

/// Objects have their numbers without memory, and so has what says that there is none.
#[test]
fn a_full_heap_costs_no_numbers() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("trace-full-heap");
        let source = root().join("test-programs/trace/Full.java");
        let classes = workplace.compile(jdk, &[], &[source]);
        let ran = workplace
            .java_with_agent(jdk, "mode=trace")
            .args(["-XX:+UseSerialGC", "-Xmx32m", "-cp"])
            .arg(&classes)
            .arg("Full")
            .output()
            .expect("java runs");
        assert!(ran.status.success(), "{}", both(&ran));
        let log = open(&workplace);
        let mut writes: BTreeMap<ObjectId, usize> = BTreeMap::new();
        let mut caught = BTreeSet::new();
        for_each(&log, |event| {
            let Some(object) = event.references().next().flatten() else {
                return;
            };
            match event.kind() {
                Kind::Put => *writes.entry(object).or_default() += 1,
                Kind::Caught => caught.extend(log.dictionary.class(object.class())),
                _ => (),
            }
        });
        assert_eq!(writes.values().copied().collect::<Vec<_>>(), [1001, 1000]);
        assert!(!writes.contains_key(&UNKNOWN));
        assert_eq!(caught, BTreeSet::from(["java.lang.OutOfMemoryError"]));
    }
}

const COMPACT: &str = "-XX:+UseCompactObjectHeaders";

/// The next number, such that there are soon no more hash codes.
const MANY: Option<u64> = Some(HASH_CODES - 10_000);

/// New objects then have no number, which costs no time, and is reported.
#[test]
fn what_has_no_number_is_told() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-numberless");
        let source = root().join("test-programs/trace/Hashed.java");
        let classes = workplace.compile(jdk, &[], &[source]);
        // In these runs, headers have other parts in use, or all of the header is used up.
        let mut runs = vec![(Some((1 << 39) - 10_000), "-XX:+UseG1GC")];
        if jdk.version >= 25 {
            runs.push((MANY, COMPACT));
        }
        for (next, option) in runs {
            let log = run(jdk, &workplace, &classes, (20_000, next), option).expect("it is there");
            let mut unknown = 0;
            for_each(&log, |event| {
                let is_unknown = event.kind() == Kind::Enter && event.reference(0) == Some(UNKNOWN);
                unknown += u64::from(is_unknown);
            });
            let label = format!("JDK {} {option}", jdk.version);
            assert!(unknown > 10_000, "{label}: {unknown}");
            let told = log.dictionary.stop.expect("it has ended").unnumbered;
            assert!(told >= unknown, "{label}: {told} of {unknown}");
            let stats = Command::new(hindsight())
                .arg("stats")
                .arg(workplace.join("out"))
                .output();
            let stats = both(&stats.expect("hindsight runs"));
            assert!(stats.contains("no more numbers for objects"), "{stats}");
        }
    }
}
