//! Tests of what is kept where more is known of methods than their bodies show.

use std::fs;

use hindsight_instrument::{Capture, Copy, CrashPlan, Effects, ParameterEffects, Rules, crash};

use crate::support::jdks;
use crate::workshop::{fresh_dir, javac};

/// The class `Known`, in a directory of this name.
fn compiled(dir: &str) -> Vec<u8> {
    let dir = fresh_dir(dir);
    javac(&jdks()[0], &dir, &["--release", "11"], &["Known.java"]);
    fs::read(dir.join("Known.class")).expect("a class")
}

/// The fields that a method keeps: the parameter, and the field's name.
fn kept(bytes: &[u8], method: &str, known: &[Effects]) -> Option<Vec<(u16, String)>> {
    kept_of(bytes, method, known, 8)
}

fn kept_of(
    bytes: &[u8],
    method: &str,
    known: &[Effects],
    max_fields: usize,
) -> Option<Vec<(u16, String)>> {
    let plan = CrashPlan {
        copy: Copy::Fields,
        max_fields,
        first_id: 0,
        rules: &|_, _| Rules::default(),
        known,
    };
    let rewritten = crash(bytes, &plan).expect("a compiled class can be instrumented");
    let found = rewritten.methods.iter().find(|one| one.name == method)?;
    let fields = found.captures.filter_map(|capture| match capture {
        Capture::Field {
            parameter, name, ..
        } => Some((parameter, name.to_owned())),
        _ => None,
    });
    Some(fields.collect())
}

#[test]
fn less_or_more_is_kept_than_the_body_says() {
    let bytes = compiled("known");
    let known = |index, exact, fields: &[(&str, &str)]| {
        vec![Effects {
            name: "uses".to_owned(),
            descriptor: "(LKnown;)I".to_owned(),
            cannot_throw: false,
            parameters: vec![ParameterEffects {
                index,
                exact,
                fields: fields
                    .iter()
                    .map(|&(class, name)| (class.to_owned(), name.to_owned()))
                    .collect(),
                open: Vec::new(),
            }],
        }]
    };
    let most = |known: &[Effects], max: usize| {
        let fields = kept_of(&bytes, "uses", known, max).expect("it has probes");
        let shown = fields.iter().map(|(at, name)| format!("{at}.{name}"));
        shown.collect::<Vec<_>>().join(" ")
    };
    let kept = |known: &[Effects]| most(known, 8);
    assert_eq!(kept(&[]), "0.a 0.b 1.a 1.b");
    assert_eq!(kept(&known(1, true, &[])), "0.a 0.b");
    assert_eq!(kept(&known(1, true, &[("Known", "b")])), "0.a 0.b 1.b");
    assert_eq!(
        kept(&known(1, false, &[("Known", "c")])),
        "0.a 0.b 1.a 1.b 1.c"
    );
    // These are final and static fields, fields of other classes, and fields that do not exist.
    let strange = [
        ("Known", "f"),
        ("Known", "s"),
        ("Other", "c"),
        ("Known", "none"),
    ];
    assert_eq!(kept(&known(0, true, &strange)), "1.a 1.b");
    // Those of other classes that it may read.
    let mut open = known(1, true, &[("Above", "d")]);
    open[0].parameters[0].open = vec![("d".to_owned(), "J".to_owned())];
    assert_eq!(kept(&open), "0.a 0.b 1.d");
    // They come behind what the body uses, of whatever parameter.
    open[0].parameters[0].index = 0;
    open[0].parameters[0].exact = false;
    assert_eq!(kept(&open), "0.a 0.b 1.a 1.b 0.d");
    assert_eq!(most(&open, 4), "0.a 0.b 1.a 1.b");
}

/// In a plan, index 0 is the first parameter of a static method.
#[test]
fn parameters_of_static_methods_are_counted_from_the_first() {
    let bytes = compiled("known-static");
    let parameter = |index, fields: &[&str]| ParameterEffects {
        index,
        exact: true,
        fields: (fields.iter())
            .map(|name| ("Known".to_owned(), (*name).to_owned()))
            .collect(),
        open: Vec::new(),
    };
    let known = Effects {
        name: "both".to_owned(),
        descriptor: "(LKnown;LKnown;)I".to_owned(),
        cannot_throw: false,
        parameters: vec![parameter(0, &["a"]), parameter(1, &["b"])],
    };
    let kept = kept(&bytes, "both", &[known]).expect("it has probes");
    // Captures count parameters from 1.
    assert_eq!(kept, [(1, "a".to_owned()), (2, "b".to_owned())]);
}

#[test]
fn what_cannot_throw_gets_no_probe() {
    let bytes = compiled("known-throws");
    let known = Effects {
        name: "uses".to_owned(),
        descriptor: "(LKnown;)I".to_owned(),
        cannot_throw: true,
        parameters: Vec::new(),
    };
    assert!(kept(&bytes, "uses", &[]).is_some());
    assert_eq!(kept(&bytes, "uses", &[known]), None);
}
