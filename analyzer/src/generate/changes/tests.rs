use super::super::sequence::{Arg, MethodId, Statement};
use super::*;

fn calls(uses: &[Option<usize>]) -> Checked {
    let call = |on: &Option<usize>| Statement {
        method: MethodId(0),
        on: None,
        args: on.iter().map(|var| Arg::Var(*var)).collect(),
        may_throw: true,
        shown: false,
    };
    Checked {
        sequence: uses.iter().map(call).collect(),
        assertions: vec![Some(Assertion::Text("fine".to_owned())); uses.len()],
        kept: vec![true; uses.len()],
        fluent: Vec::new(),
        observers: 0,
        class: "A".to_owned(),
        whole: None,
    }
}

fn threw(text: &str) -> Told {
    Told::new(How::Threw, format!("throws {text}"))
}

fn found(test: &Checked, ends: &[(Told, Told)]) -> (Vec<usize>, Vec<String>) {
    let names: Vec<String> = (0..ends.len()).map(|at| at.to_string()).collect();
    let found = compare(test, &names, ends);
    let calls = found.calls.iter().map(|one| one.call.parse().unwrap_or(99));
    let classes = found.unloadable.into_iter().map(|one| one.class);
    (calls.collect(), classes.collect())
}

#[test]
fn what_is_done_with_nothing_is_not_told() {
    let fine = || Told::new(How::Returned, "fine".to_owned());
    let null = Told {
        is_there: false,
        ..fine()
    };
    let npe = || threw("NullPointerException");
    let test = calls(&[None, Some(0), Some(1), None]);
    for first in [threw("IllegalStateException"), null] {
        let other = Told::new(How::Returned, "other".to_owned());
        let ends = [
            (fine(), first),
            (fine(), npe()),
            (fine(), npe()),
            (fine(), other),
        ];
        assert_eq!(found(&test, &ends), (vec![0, 3], vec![]));
        // What was to be the same object cannot be.
        let mut test = test.clone();
        test.assertions[0] = None;
        test.assertions[3] = Some(Assertion::Same(1));
        assert_eq!(found(&test, &ends), (vec![0], vec![]));
    }
    // What it was to change has not been changed.
    let test = calls(&[None, None, Some(0), Some(1)]);
    let mut both = test.clone();
    both.sequence[2].on = Some(1);
    let other = || Told::new(How::Returned, "other".to_owned());
    let ends = [
        (fine(), threw("IllegalStateException")),
        (fine(), fine()),
        (fine(), npe()),
        (fine(), other()),
    ];
    assert_eq!(found(&test, &ends), (vec![0, 3], vec![]));
    assert_eq!(found(&both, &ends), (vec![0], vec![]));
    // A call that threw before has left nothing either.
    let ends = [(npe(), npe()), (npe(), threw("Other"))];
    assert_eq!(found(&calls(&[None, Some(0)]), &ends), (vec![1], vec![]));
}

/// Only the class of an exception is asserted if there is a time in its message, and only that
/// there is an object if its text differs each time.
#[test]
fn what_is_not_asserted_is_not_compared() {
    let closed = |class: &str, message: &str| Told {
        thrown: Some(class.to_owned()),
        ..threw(&format!("{class}: {message}"))
    };
    let mut test = calls(&[None]);
    let found = |test: &Checked, one, other| !found(test, &[(one, other)]).0.is_empty();
    for (asserted, is_told) in [(None, false), (Some("at 12:01".to_owned()), true)] {
        test.assertions[0] = Some(Assertion::Throws("Closed".to_owned(), asserted));
        let one = || closed("Closed", "at 12:01");
        assert_eq!(found(&test, one(), closed("Closed", "at 12:02")), is_told);
        assert!(found(&test, one(), closed("Other", "at 12:01")));
        assert!(found(&test, one(), Told::new(How::Returned, String::new())));
    }
    let says = |text: &str| Told::new(How::Returned, text.to_owned());
    let null = || Told {
        is_there: false,
        ..says("null")
    };
    test.assertions[0] = Some(Assertion::NotNull);
    assert!(!found(&test, says("at 12:01"), says("at 12:02")));
    assert!(found(&test, says("at 12:01"), null()));
    test.assertions[0] = Some(Assertion::Text("at 12:01".to_owned()));
    assert!(found(&test, says("at 12:01"), says("at 12:02")));
}

/// A constant that a call is passed is named itself, whatever is called.
#[test]
fn a_constant_that_is_gone_is_told_by_its_name() {
    let side = || Arg::Literal(Literal::Enum("shop.Side".to_owned(), "SELL".to_owned()));
    let mut method = Method {
        class: "shop.Order".to_owned(),
        name: "builder".to_owned(),
        descriptor: "(Lshop/Side;)V".to_owned(),
        is_static: true,
        runs: None,
    };
    let mut call = calls(&[None]).sequence.remove(0);
    assert_eq!(wanted(&call, &method, "SELL"), None);
    let array = Arg::Array("Lshop/Side;".to_owned(), vec![side()]);
    for args in [vec![side()], vec![array]] {
        call.args = args;
        let found = wanted(&call, &method, "SELL");
        assert_eq!(found, Some(("shop.Side".to_owned(), "SELL".to_owned())));
        assert_eq!(wanted(&call, &method, "BUY"), None);
    }
    call.args.clear();
    method.class = "shop.Side".to_owned();
    method.name = "BUY".to_owned();
    method.descriptor = "Lshop/Side;".to_owned();
    assert!(wanted(&call, &method, "BUY").is_some());
    let gone = Told {
        constant: Some("Side.SELL".to_owned()),
        lacks: Some("shop.Side.SELL".to_owned()),
        ..Told::new(How::Failed, "is not there".to_owned())
    };
    let ends = [(Told::new(How::Returned, "new".to_owned()), gone)];
    let found = compare(
        &calls(&[None]),
        &["Order.builder(Side.SELL)".to_owned()],
        &ends,
    );
    let [one] = &found.calls[..] else {
        panic!("{found:?}");
    };
    assert_eq!((&*one.call, &*one.new), ("Side.SELL", "is not there"));
    assert_eq!(one.lacks.as_deref(), Some("shop.Side.SELL"));
}

#[test]
fn numbers_are_told_as_java_does() {
    for (number, told) in [
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (f64::NAN, "NaN"),
        (-0.0, "-0.0"),
        (1e300, "1.0E300"),
        (2.5e-7, "2.5E-7"),
    ] {
        assert_eq!(shown(&Literal::Double(number.to_bits()), "D"), told);
    }
    let infinity = Literal::Float(f32::INFINITY.to_bits());
    assert_eq!(shown(&infinity, "F"), "Infinity");
    let told = ["C", "I", "Ljava/lang/Object;"].map(|ty| shown(&Literal::Int(65), ty));
    assert_eq!(told, ["'A'", "65", "65"]);
}

#[test]
fn long_texts_are_told_where_they_differ() {
    let told = |end: &str| {
        let text = Literal::Text(format!("{}{end}", "x".repeat(1500)));
        Told::new(How::Returned, shown(&text, "Ljava/lang/String;"))
    };
    let found = compare(&calls(&[None]), &[], &[(told("old"), told("new"))]);
    let [one] = &found.calls[..] else {
        panic!("{found:?}");
    };
    let same = format!("...{}", "x".repeat(50));
    assert_eq!(one.old, format!("{same}old\""));
    assert_eq!(one.new, format!("{same}new\""));
    let (old, new) = side_by_side(&"ab".repeat(200), "abc");
    assert_eq!(old, format!("{}...", "ab".repeat(100)));
    assert_eq!(new, "abc");
    let long = "y".repeat(180);
    let (old, new) = side_by_side(&long, &format!("{long}z"));
    assert_eq!((old, new), (long.clone(), format!("{long}z")));
    // One that ends before the other goes on.
    let (old, new) = side_by_side(&"y".repeat(300), &"y".repeat(301));
    assert_eq!(old, format!("...{}", "y".repeat(50)));
    assert_eq!(new, format!("...{}", "y".repeat(51)));
}

#[test]
fn a_class_that_cannot_be_loaded_is_told_once() {
    let fine = || Told::new(How::Returned, "fine".to_owned());
    let unloadable = || Told {
        unloadable: Some(Unloadable {
            class: "a.B".to_owned(),
            why: "VerifyError".to_owned(),
        }),
        ..threw("VerifyError")
    };
    let ends = [
        (fine(), unloadable()),
        (fine(), threw("NullPointerException")),
        (fine(), unloadable()),
    ];
    let test = calls(&[None, Some(0), None]);
    assert_eq!(found(&test, &ends), (vec![], vec!["a.B".to_owned()]));
    // What cannot be loaded in either version has not changed.
    let ends = [(unloadable(), unloadable())];
    assert_eq!(found(&calls(&[None]), &ends), (vec![], vec![]));
}

#[test]
fn classes_are_found_in_messages() {
    let class = |error, message| blamed(error, message);
    for (error, message) in [
        ("NoClassDefFoundError", "a/B"),
        ("NoClassDefFoundError", "a/B (wrong name: c/B)"),
        ("NoClassDefFoundError", "Could not initialize class a.B"),
        (
            "UnsupportedClassVersionError",
            "a/B has been compiled by a more recent version of the Java Runtime (class file version 99.0)",
        ),
        (
            "UnsupportedClassVersionError",
            "Preview features are not enabled for a/B (class file version 61.65535)",
        ),
        (
            "VerifyError",
            "Bad type on operand stack\nException Details:\n  Location:\n    a/B.one()V @1: areturn",
        ),
        (
            "ClassFormatError",
            "Incompatible magic value 0 in class file a/B",
        ),
    ] {
        assert_eq!(class(error, message).as_deref(), Some("a.B"), "{message}");
    }
    assert_eq!(class("ExceptionInInitializerError", ""), None);
}
