use super::*;
use std::fs;

/// What a run does not record of an array argument does not matter to what is written there.
#[test]
fn arrays_of_the_test_are_asserted_whatever_was_left_out() {
    let [object, array] = [Passed::Object(0, 1), Passed::Array(0, 0)];
    let is_asked = |one, of, written| limit(one, of, written).is_some();
    assert!(is_asked(array, Effects::Written, None));
    assert!(is_asked(array, Effects::All, None));
    assert!(is_asked(object, Effects::All, None));
    assert!(is_asked(object, Effects::Written, Some(IN_ELEMENTS)));
    assert!(!is_asked(object, Effects::Written, None));
}

/// A builder has characters; the meaning of bytes differs between places.
#[test]
fn what_is_written_may_be_of_any_characters() {
    let asserted = |class: &str| {
        let mut methods = Methods::default();
        let made = Statement {
            method: methods.intern(Method {
                class: class.to_owned(),
                name: "<init>".to_owned(),
                descriptor: "()V".to_owned(),
                is_static: false,
                runs: None,
            }),
            on: None,
            args: Vec::new(),
            may_throw: false,
            shown: false,
        };
        let checked = Checked {
            sequence: vec![made],
            assertions: vec![None],
            kept: vec![true],
            fluent: Vec::new(),
            observers: 0,
            class: "Page".to_owned(),
            whole: None,
        };
        let limit = written(&checked, 0, &methods).unwrap_or(IN_ELEMENTS);
        told(&Outcome::Literal(Literal::Text("\u{fc}".to_owned())), limit).is_some()
    };
    assert!(asserted("java.lang.StringBuilder") && asserted("java.io.StringWriter"));
    assert!(!asserted("java.io.ByteArrayOutputStream"));
    assert!(!asserted("java.util.ArrayList"));
}

#[test]
fn identities_are_seen() {
    assert!(has_identity("[a.B@1f2e3d4c]"));
    assert!(has_identity("x$$Lambda/0x1"));
    assert!(!has_identity("[ann@example.org, b@2x]"));
}

/// Says that the constructor of `Page` does not change its arguments.
fn mutability() -> Mutability {
    let document = r#"{"schema": "hindsight.mutability/1", "methods": [{"class": "Page", "method": "<init>",
        "descriptor": "(Ljava/util/List;)V",
        "parameters": [{"verdict": "mutable"}, {"verdict": "immutable"}]}]}"#;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mutability.json");
    fs::write(&file, document).unwrap();
    Mutability::read(&file).unwrap()
}

/// A class and a method, the object on which it is called, and the list that is its argument.
type Call = (&'static str, &'static str, Option<usize>, Option<usize>);

/// What these calls may have changed.
fn found(calls: &[Call]) -> Vec<Passed> {
    let mut methods = Methods::default();
    let mut sequence = Sequence::new();
    for (class, name, on, passed) in calls {
        let parameter = match (*class, passed) {
            (_, None) => "",
            ("java.util.ArrayList", Some(_)) => "Ljava/lang/Object;",
            _ => "Ljava/util/List;",
        };
        sequence.push(Statement {
            method: methods.intern(Method {
                class: (*class).to_owned(),
                name: (*name).to_owned(),
                descriptor: format!("({parameter})V"),
                is_static: *name != "<init>" && on.is_none(),
                runs: None,
            }),
            on: *on,
            args: passed.iter().map(|var| Arg::Var(*var)).collect(),
            may_throw: false,
            shown: false,
        });
    }
    passed(&sequence, |_| true, Some(&mutability()), &methods)
}

const LIST: Call = ("java.util.ArrayList", "<init>", None, None);

#[test]
fn what_a_test_writes_itself_is_not_taken_for_the_program() {
    let page = ("Page", "<init>", None, Some(0));
    let add = ("java.util.ArrayList", "add", Some(0), Some(1));
    let fill = ("Page", "fill", None, Some(0));
    assert_eq!(found(&[LIST, page]), [Passed::Object(0, 1)]);
    assert_eq!(found(&[LIST, page, add]), []);
    // It is kept again, or changed, after that.
    assert_eq!(found(&[LIST, page, add, page]), [Passed::Object(0, 3)]);
    assert_eq!(found(&[LIST, page, add, fill]), [Passed::Object(0, 3)]);
    assert_eq!(found(&[LIST, page, fill]), [Passed::Object(0, 2)]);
    // Asking it for its text is not writing to it.
    let text = ("java.util.ArrayList", "toString", Some(0), None);
    assert_eq!(found(&[LIST, page, text]), [Passed::Object(0, 1)]);
}

/// `Tray.over(list)` keeps the list as a constructor would; `Tray.join(list)` makes a text of
/// it.
#[test]
fn what_gives_an_object_may_keep_what_it_is_passed() {
    let keeps = |name: &str, result: &str| {
        may_keep(&Method {
            class: "Tray".to_owned(),
            name: name.to_owned(),
            descriptor: format!("(Ljava/util/List;){result}"),
            is_static: name != "<init>",
            runs: None,
        })
    };
    assert!(keeps("<init>", "V") && keeps("fill", "V") && keeps("over", "LTray;"));
    assert!(keeps("filling", "Ljava/lang/Runnable;"));
    assert!(!keeps("join", "Ljava/lang/String;") && !keeps("count", "I"));
}

/// A listener that is made only to be passed on stays with the call that gets it.
#[test]
fn what_a_call_uses_stays_with_it() {
    let uses = [None, Some(0), Some(1), Some(0)];
    let call = |uses: &Option<usize>| Statement {
        method: MethodId(0),
        on: None,
        args: uses.iter().map(|var| Arg::Var(*var)).collect(),
        may_throw: false,
        shown: false,
    };
    let checked = Checked {
        sequence: uses.iter().map(call).collect(),
        assertions: vec![None; 4],
        kept: vec![false, false, true, false],
        fluent: Vec::new(),
        observers: 0,
        class: "Bell".to_owned(),
        whole: None,
    };
    assert_eq!(staying(&checked, 4), [true, true, true, false]);
}

#[test]
fn what_is_changed_comes_before_what_is_kept() {
    let page = |list| ("Page", "<init>", None, Some(list));
    let fill = ("Page", "fill", None, Some(2));
    let calls = [LIST, LIST, LIST, page(0), page(1), page(2), fill];
    let changed = Passed::Object(2, 6);
    let kept = [Passed::Object(0, 3), Passed::Object(1, 4)];
    assert_eq!(found(&calls), [&[changed][..], &kept].concat());
}
