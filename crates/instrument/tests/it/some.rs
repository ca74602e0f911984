//! Tests of probes in only some methods of a class.

use std::fs;

use hindsight_instrument::{Copy, CrashPlan, SkipReason, Workspace};

use crate::support;
use crate::workshop::{fresh_dir, javac, rules, run, undo};

#[test]
fn methods_that_are_not_chosen_hand_over_nothing() {
    let jdk = &support::jdks()[0];
    let classes = fresh_dir("some");
    javac(jdk, &classes, &["--release", "17"], &["Hazards.java"]);
    let class = fs::read(classes.join("Hazards.class")).expect("a compiled class");
    let plan = CrashPlan {
        copy: Copy::Fields,
        max_fields: 8,
        first_id: 7,
        rules: &rules,
        known: &[],
    };
    let mut space = Workspace::default();
    let mut with = |names: &[&str], catches| {
        let chosen = |name: &str, _: &str| names.contains(&name);
        let done = space.crash_in_some(&class, &plan, &chosen, catches);
        done.expect("a compiled class can be instrumented")
    };

    let one = with(&["fail"], false);
    let made: Vec<_> = one
        .methods
        .iter()
        .map(|method| (method.id, method.name))
        .collect();
    assert_eq!(made, [(7, "fail")]);
    assert!(one.class.is_some());
    for other in one.skipped.iter() {
        let nothing = [
            SkipReason::CatchesNothing,
            SkipReason::CannotThrow,
            SkipReason::OnlyConstructorCall,
        ];
        assert!(nothing.contains(&other.reason), "{other:?}");
    }

    // Here, the other methods report what they catch, except those that only have a `finally` or a
    // monitor.
    let catching = with(&["fail"], true);
    let made = catching.methods.iter().map(|method| method.name);
    let made: Vec<_> = made.collect();
    let handlers = [
        "nested",
        "rethrown",
        "twoKinds",
        "mixed",
        "isCaught",
        "reportCaught",
        "overflowCaught",
        "reallyDeep",
        "switches",
    ];
    assert_eq!(made, [&["fail"][..], &handlers].concat());

    assert!(with(&["nobody"], true).class.is_none());
}

#[test]
fn a_constructor_that_only_calls_another_one_says_so_where_writes_are_logged() {
    let jdk = &support::jdks()[0];
    let classes = fresh_dir("only-calls");
    fs::write(
        classes.join("Plain.java"),
        "class Plain extends Exception {}",
    )
    .expect("it can be written");
    let source = classes.join("Plain.java");
    run(jdk.tool("javac").arg("-d").arg(&classes).arg(source));
    let class = fs::read(classes.join("Plain.class")).expect("a compiled class");
    let kept = CrashPlan {
        copy: Copy::Fields,
        max_fields: 8,
        first_id: 0,
        rules: &rules,
        known: &[],
    };
    let mut space = Workspace::default();
    let done = [
        space.crash(&class, &kept),
        space.undoable(&class, &undo(&kept, 0)),
    ];
    for done in done {
        let done = done.expect("a compiled class can be instrumented");
        let reasons: Vec<_> = done.skipped.iter().map(|left| left.reason).collect();
        assert_eq!(reasons, [SkipReason::OnlyConstructorCall]);
    }
}
