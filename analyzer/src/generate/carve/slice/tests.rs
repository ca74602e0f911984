//! Tests of what is cut out of a run.

use super::convert::MAX_ELEMENTS;
use super::*;
use crate::generate::lambda::Given;
use crate::generate::platform::Platform;
use crate::generate::sequence::Arg;
use crate::jdk::Jdk;
use crate::model::values::Literal;
use hindsight_tracelog::trace::dictionary::Code;

/// The `at`th call of a run, on an object or none, with these arguments.
fn call(at: u64, name: &str, on: Option<u64>, args: Vec<Value>) -> Seen {
    let mut call = Seen::of_end(End::Returned(None));
    call.method.name = name.to_owned();
    call.method.is_static = on.is_none();
    call.on = on;
    call.args = args;
    call.entered = 2 * at;
    call.left = 2 * at + 1;
    call
}

fn made(at: u64, serial: u64) -> Seen {
    let mut call = call(at, "<init>", None, Vec::new());
    call.made = Some(serial);
    call
}

/// A run of these calls, each of which is in the histories of all objects that take part.
fn recorded(calls: impl IntoIterator<Item = Seen>) -> Recorded {
    let mut histories: FxHashMap<u64, Vec<Rc<Seen>>> = FxHashMap::default();
    for call in calls {
        let call = Rc::new(call);
        let mut parts: Vec<u64> = call.made.into_iter().collect();
        call.operands(&mut |serial| parts.push(serial));
        for serial in parts {
            histories.entry(serial).or_default().push(call.clone());
        }
    }
    Recorded {
        called: HashSet::new(),
        objects: Vec::new(),
        histories,
        cut: FxHashMap::default(),
        given: FxHashMap::default(),
        derived: FxHashMap::default(),
        lambdas: Lambdas::default(),
        of_jdk: FxHashMap::default(),
        statics: Vec::new(),
        left_out: Vec::new(),
    }
}

/// The sequence that is cut out for the life of an object, and the names of its calls.
fn cut_out(recorded: &Recorded, object: u64, reach: Reach) -> (Carved, Vec<String>) {
    cut_out_as(recorded, object, reach, Unmade::LeftOut).unwrap()
}

/// The same with one option, if that is possible.
fn cut_out_as(
    recorded: &Recorded,
    object: u64,
    reach: Reach,
    unmade: Unmade,
) -> Option<(Carved, Vec<String>)> {
    let directory = tempfile::tempdir().unwrap();
    let mut methods = Methods::default();
    let platform = Platform::new(&Jdk {
        home: directory.path().to_owned(),
        version: 17,
    });
    let means = Means {
        ways: Ways::new(&platform, &mut methods),
        mutability: None,
    };
    let life = recorded.life(object, Begins::Made).unwrap();
    let around = recorded.around(&life, reach, Begins::Made).unwrap();
    let carved = recorded.slice(object, &around, unmade, &means, &mut methods)?;
    let calls = carved.sequence.iter();
    let names = calls.map(|call| methods.get(call.method).name.clone());
    Some((carved.clone(), names.collect()))
}

/// What others lack does not affect an object that has not met them by then.
#[test]
fn a_call_that_is_left_out_ends_only_what_it_may_have_changed() {
    let object = |serial| vec![Value::Object(serial)];
    let run = |meets: bool| {
        let mut calls = vec![
            made(1, 1),
            made(2, 3),
            call(3, "offer", Some(1), object(3)),
            call(4, "listen", Some(1), vec![Value::Unknown]),
            made(5, 2),
            call(7, "open", Some(2), Vec::new()),
            call(8, "take", Some(2), object(3)),
            call(9, "close", Some(2), Vec::new()),
        ];
        if meets {
            calls.insert(5, call(6, "join", Some(1), object(2)));
        }
        recorded(calls)
    };
    let (carved, names) = cut_out(&run(false), 2, Reach::Shared);
    assert_eq!(names[..3], ["<init>", "<init>", "offer"]);
    assert_eq!(names[3..], ["<init>", "open", "take", "close"]);
    let left_out = carved.left_out.as_deref();
    assert!(left_out.is_some_and(|call| call.contains("listen")));
    // Its argument is what the other one may have changed.
    assert_eq!(carved.gaps.first(), Some(&5));
    let (carved, names) = cut_out(&run(true), 2, Reach::Shared);
    assert_eq!(names[4..], ["join", "open", "take", "close"]);
    assert_eq!(carved.gaps.first(), Some(&4));
}

/// What is done to a whole before its part is passed on is done to the part.
#[test]
fn what_has_given_a_part_is_followed() {
    let mut slot = call(2, "slot", Some(1), Vec::new());
    slot.made = Some(5);
    let run = recorded([
        made(1, 1),
        slot,
        call(3, "close", Some(1), Vec::new()),
        made(4, 6),
        call(5, "take", Some(6), vec![Value::Object(5)]),
        call(6, "open", Some(1), Vec::new()),
    ]);
    let names = |reach| cut_out(&run, 6, reach).1;
    assert_eq!(names(Reach::Needed), ["<init>", "slot", "<init>", "take"]);
    let whole = ["<init>", "slot", "close", "<init>", "take"];
    assert_eq!(names(Reach::Givers), whole);
}

/// The call that has left what another one finds in static fields is also there if it has itself
/// left something to a longer one, which is examined before it.
#[test]
fn a_call_is_there_for_itself_and_for_what_it_leaves() {
    let object = || vec![Value::Object(1)];
    let mut second = call(3, "second", None, object());
    let alone = second.clone();
    second.before = vec![Rc::new(call(1, "first", None, Vec::new()))];
    let mut third = call(4, "third", None, object());
    third.left += 10;
    third.before = vec![Rc::new(alone)];
    let mut last = call(10, "last", None, object());
    last.left += 20;
    let run = recorded([made(2, 1), second, third, last]);
    let (carved, names) = cut_out(&run, 1, Reach::Needed);
    assert_eq!(names, ["first", "<init>", "second", "third", "last"]);
    assert_eq!(carved.own, [false, true, true, true, true]);
}

/// A method of Java has room for a limited number of elements of arrays.
#[test]
fn a_life_with_many_arrays_is_cut() {
    let array = |at| {
        let elements = vec![Value::Literal(Literal::Int(100_000)); 64];
        Value::Array(100 + at, "I".to_owned(), elements)
    };
    let writes = (2..190).map(|at| call(at, "write", Some(1), vec![array(at)]));
    let run = recorded([made(1, 1)].into_iter().chain(writes));
    let (carved, names) = cut_out(&run, 1, Reach::Shared);
    assert!(carved.is_cut);
    assert_eq!(names.len(), 1 + MAX_ELEMENTS / 64);
}

/// The method of a reference may have counted on since; what the call has returned is the most
/// certain.
#[test]
fn another_lambda_stands_in_for_a_reference_last() {
    let refers = |listens: bool| {
        let platform = Platform::new(&Jdk::find(None).unwrap());
        let mut fill = call(2, "fill", Some(1), vec![Value::Object(7)]);
        fill.method.descriptor = "(Ljava/util/function/IntSupplier;)I".to_owned();
        fill.end = End::Returned(Some(Value::Literal(Literal::Int(41))));
        let next = Method {
            class: "shop.Ids".to_owned(),
            name: "next".to_owned(),
            descriptor: "()I".to_owned(),
            is_static: true,
            runs: None,
        };
        let code = Code {
            class: next.class.clone(),
            name: next.name.clone(),
            descriptor: next.descriptor.clone(),
        };
        let mut run = recorded([made(1, 1), fill]);
        let passed = "Ljava/util/function/IntSupplier;";
        (run.lambdas).take(7, "shop.Main$$Lambda/0x1", 3, Some(&code));
        (run.lambdas).passed(
            &Value::Object(7),
            passed,
            &|class| platform.info(class),
            &|_, _| (!listens).then(|| next.clone()),
            &|| false,
        );
        run.lambdas = std::mem::take(&mut run.lambdas).finish(&|_| None);
        run
    };
    let given = |run: &Recorded, unmade| {
        let (carved, _) = cut_out_as(run, 1, Reach::Needed, unmade)?;
        let [Arg::Lambda(lambda)] = &carved.sequence.get(1)?.args[..] else {
            panic!("{carved:?}");
        };
        Some((lambda.gives.clone(), carved.lacks))
    };
    let run = refers(false);
    for unmade in [Unmade::Ends, Unmade::LeftOut, Unmade::Lambdas, Unmade::Kept] {
        let itself = given(&run, unmade);
        assert!(
            matches!(itself, Some((Given::Calls(_), false))),
            "{itself:?}"
        );
    }
    let number = Given::Value(Arg::Literal(Literal::Int(41)));
    assert_eq!(
        given(&run, Unmade::References),
        Some((number.clone(), true))
    );
    // What no test can refer to is a lambda before.
    let run = refers(true);
    assert_eq!(given(&run, Unmade::Lambdas), Some((number, true)));
    assert_eq!(given(&run, Unmade::References), None);
}

/// A call that was left out right before one with another lambda matters as much as elsewhere.
#[test]
fn another_lambda_hides_nothing() {
    let of = |gaps: &[usize]| Carved {
        sequence: Vec::new(),
        seen: Vec::new(),
        own: Vec::new(),
        nested: Vec::new(),
        lacks: true,
        gaps: gaps.to_vec(),
        replaced: vec![2],
        is_cut: false,
        omitted: Vec::new(),
        left_out: None,
    };
    assert!(of(&[2, 3]).is_replaced(2) && !of(&[2, 3]).is_replaced(3));
    assert!(!of(&[2, 2]).is_replaced(2));
}
