//! Programs by themselves, each for one question.

use super::*;

#[test]
fn what_the_jdk_does() {
    let Annotated { classes, expected } = apart("jdk");
    // P must not decide what S' has left open.
    for pipeline in ["S'-P", "S'", "S-P", "S-S'-P"] {
        let arguments = ["--sound", "--pipeline", pipeline];
        let matrix = compare(&verdicts(&classes, &arguments), &expected);
        assert_eq!(matrix.mutable[0], 0, "{pipeline}: {:#?}", matrix.wrong);
    }
    let matrix = compare(&verdicts(&classes, &[""; 0]), &expected);
    assert!(matrix.wrong.is_empty(), "{:#?}", matrix.wrong);
    for line in &matrix.open {
        println!("    {line}");
    }
}

/// A call runs methods that override the named one, not all with the same name.
#[test]
fn what_overrides_nothing_does_not_run() {
    let Annotated { classes, expected } = apart("overridden");
    for arguments in [&["--sound"][..], &[]] {
        let matrix = compare(&verdicts(&classes, arguments), &expected);
        assert!(matrix.wrong.is_empty(), "{:#?}", matrix.wrong);
        assert!(matrix.open.is_empty(), "{:#?}", matrix.open);
    }
    // Without the types of receivers, any method that the call names may run.
    let matrix = compare(
        &verdicts(&classes, &["--sound", "--pipeline", "S-P"]),
        &expected,
    );
    assert_eq!(matrix.mutable[0], 0, "{:#?}", matrix.wrong);
}

#[test]
fn what_contracts_say() {
    let Annotated { classes, expected } = apart("contracts");
    for pipeline in ["S'-P", "S-P"] {
        let arguments = ["--sound", "--pipeline", pipeline];
        let matrix = compare(&verdicts(&classes, &arguments), &expected);
        assert_eq!(matrix.mutable[0], 0, "{pipeline}: {:#?}", matrix.wrong);
    }
    let matrix = compare(&verdicts(&classes, &[""; 0]), &expected);
    assert!(matrix.wrong.is_empty(), "{:#?}", matrix.wrong);
    assert!(matrix.open.is_empty(), "{:#?}", matrix.open);
}

/// Proofs include what initializers of classes change.
#[test]
fn what_initializers_change() {
    let Annotated { classes, expected } = apart("begun");
    for pipeline in ["S'-P", "S-P"] {
        let arguments = ["--sound", "--pipeline", pipeline];
        let matrix = compare(&verdicts(&classes, &arguments), &expected);
        assert_eq!(matrix.mutable[0], 0, "{pipeline}: {:#?}", matrix.wrong);
        // Initializers that only fill their own class's state invalidate no proof.
        let mut open = matrix.open.iter();
        let is_open = open.any(|line| line.contains("is immutable"));
        assert!(pipeline != "S'-P" || !is_open, "{:#?}", matrix.open);
    }
}

/// Proofs include what a call does besides its effect on its arguments: a call of one of many
/// methods, or of methods that are made at run time.
#[test]
fn what_many_methods_do() {
    for name in ["many", "proxies"] {
        let Annotated { classes, expected } = apart(name);
        for pipeline in ["S'-P", "S'", "S-P", "S-S'-P"] {
            let arguments = ["--sound", "--pipeline", pipeline];
            let matrix = compare(&verdicts(&classes, &arguments), &expected);
            assert_eq!(matrix.mutable[0], 0, "{pipeline}: {:#?}", matrix.wrong);
            let open: Vec<_> = (matrix.open.iter().chain(&matrix.wrong))
                .filter(|line| line.contains("is immutable"))
                .collect();
            assert!(pipeline != "S'-P" || open.is_empty(), "{open:#?}");
        }
    }
}

#[test]
fn constructors_that_keep_nothing() {
    let Annotated { classes, expected } = apart("constructors");
    let bodies = verdicts(&classes, &["--sound", "--pipeline", "S-P"]);
    let matrix = compare(&bodies, &expected);
    assert_eq!(matrix.mutable[0], 0, "{:#?}", matrix.wrong);
    let is_proved = |class: &str| {
        let lines = matrix.open.iter().chain(&matrix.wrong);
        let mut lines = lines.filter(|line| line.contains("is immutable"));
        !lines.any(|line| line.starts_with(class))
    };
    assert!(is_proved("Constructed$Base."), "{:#?}", matrix.open);
    assert!(is_proved("Constructed$Below."), "{:#?}", matrix.open);
    // Types determine what may be a parameter's sibling.
    let says = |method: &str, reason: &str| {
        let mut lines = matrix.open.iter();
        lines.any(|line| line.starts_with(method) && line.contains(reason))
    };
    for (method, reason) in [
        ("Constructed.apart", "may lead to an object that c leads to"),
        ("Constructed.alike", "may be the same object as c"),
    ] {
        assert!(says(method, reason), "{method}: {:#?}", matrix.open);
    }
}

#[test]
fn what_fields_hold() {
    let Annotated { classes, expected } = apart("held");
    for arguments in [&[][..], &["--sound"]] {
        let matrix = compare(&verdicts(&classes, arguments), &expected);
        assert!(matrix.wrong.is_empty(), "{:#?}", matrix.wrong);
        let open = matrix.open.iter();
        let open = open.filter(|line| line.contains("is immutable"));
        assert_eq!(open.count(), 0, "{:#?}", matrix.open);
    }
}
