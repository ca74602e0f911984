//! Finds the tests that say something that others do not.
//!
//! - `asked` compares tests that ask the same questions.
//! - `constants` chooses among tests that only differ in constants.
//! - `contained` finds tests that others contain.

mod asked;
mod constants;
mod contained;

pub use contained::leave_out_contained;

use super::asserted::{Assertion, Checked};
use super::complete::{Wanted, is_alike, says_again};
use super::observers::leave_out;
use super::sequence::{Arg, Method, MethodId, Methods, Sequence, Statement};
use crate::model::values::Literal;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A test of a sequence that a search has found.
#[derive(Debug, Clone)]
pub struct Invented {
    /// The test.
    pub test: Checked,
    /// Whether the sequence ran what none before it had: then it is not a duplicate of another,
    /// whatever it says.
    pub is_novel: bool,
}

/// Those of some tests, from a run and new ones, that say or do something that others do not.
pub fn few(
    observed: Vec<Checked>,
    invented: Vec<Invented>,
    methods: &Methods,
) -> (Vec<Checked>, Vec<Checked>) {
    let (joined, _) = joined(distinct(observed), methods);
    let fullest = asked::fullest(joined.iter(), methods);
    let observed = (joined.into_iter().enumerate())
        .filter_map(|(at, test)| (fullest[at] == at).then_some(test))
        .collect();
    let observed = diverse(observed, |_| false);
    let mut told: HashSet<Sequence> = observed.iter().map(|test| test.sequence.clone()).collect();
    let fresh = |one: &Invented| told.insert(one.test.sequence.clone());
    let mut invented: Vec<Invented> = invented.into_iter().filter(fresh).collect();
    let fullest = asked::fullest(invented.iter().map(|one| &one.test), methods);
    for (at, fullest) in fullest.iter().enumerate() {
        invented[*fullest].is_novel |= invented[at].is_novel;
    }
    let (generated, novel): (Vec<Checked>, Vec<bool>) = (invented.into_iter().enumerate())
        .filter(|(at, _)| fullest[*at] == *at)
        .map(|(_, one)| (one.test, one.is_novel))
        .unzip();
    // It is not known what the calls of a run have run, and the run itself has made a choice among
    // them.
    let chosen = constants::chosen(&generated, |at| novel[at]);
    let (generated, novel): (Vec<Checked>, Vec<bool>) = (generated.into_iter().zip(novel))
        .enumerate()
        .filter_map(|(at, one)| chosen.contains(&at).then_some(one))
        .unzip();
    let generated = diverse(generated, |at| novel[at]);
    (observed, generated)
}

/// Merges numbered tests that only differ in what they ask at the end. Returns how many fewer there
/// are.
///
/// This is for tests that pass: one that comes out by chance would invalidate the others.
pub fn ask_together(
    tests: &mut BTreeMap<usize, Checked>,
    wanted: &Wanted<'_>,
    methods: &Methods,
) -> usize {
    let before = tests.len();
    let (numbers, mut all): (Vec<usize>, Vec<Checked>) = std::mem::take(tests).into_iter().unzip();
    for test in &mut all {
        ask_last(test, |method| wanted.changes_nothing(method), methods);
    }
    let (joined, places) = joined(all, methods);
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, place) in numbers.into_iter().zip(places) {
        first.entry(place).or_insert(number);
    }
    tests.extend(first.into_values().zip(joined));
    before - tests.len()
}

/// Takes the last calls of a test for questions at the end, as far as they are questions.
fn ask_last(test: &mut Checked, changes_nothing: impl Fn(&Method) -> bool, methods: &Methods) {
    while let Some(at) = test.calls().len().checked_sub(1) {
        let call = &test.sequence[at];
        let method = methods.get(call.method);
        let told = test.assertions[at].as_ref();
        let asks = told.is_some_and(|told| asked::asks(call, method, told));
        if !asks || !changes_nothing(method) {
            break;
        }
        test.observers += 1;
    }
}

/// The most questions at the end of a test that is merged from others.
const MAX_JOINED: usize = 8;

/// Merges tests of a class that make the same calls into one that asks at the end what each of them
/// asks, unless they disagree, or that are too many questions. Returns the place of each of them
/// as well.
fn joined(tests: Vec<Checked>, methods: &Methods) -> (Vec<Checked>, Vec<usize>) {
    let mut latest: HashMap<(String, Sequence), usize> = HashMap::new();
    let mut joined: Vec<Checked> = Vec::new();
    let mut places = Vec::new();
    for test in tests {
        let mut calls = test.calls().to_vec();
        calls.iter_mut().for_each(|call| call.shown = false);
        let place = latest.entry((test.class.clone(), calls));
        let place = place.or_insert(joined.len());
        match joined.get_mut(*place) {
            Some(before)
                if agree(before, &test) && before.observers + test.observers <= MAX_JOINED =>
            {
                take_in(before, &test, methods);
            }
            _ => {
                *place = joined.len();
                joined.push(test);
            }
        }
        places.push(*place);
    }
    (joined, places)
}

/// Whether two tests of the same calls do not contradict each other.
fn agree(one: &Checked, other: &Checked) -> bool {
    let calls = one.calls().len();
    let mut pairs = (one.assertions.iter().zip(&other.assertions)).take(calls);
    pairs.all(|(one, other)| one.is_none() || other.is_none() || one == other)
}

/// Adds to a test the assertions of another one with the same calls, and its questions at the end.
fn take_in(test: &mut Checked, other: &Checked, methods: &Methods) {
    let calls = test.calls().len();
    for at in 0..calls {
        if test.assertions[at].is_none() {
            test.assertions[at].clone_from(&other.assertions[at]);
            test.sequence[at].shown |= other.sequence[at].shown;
        }
        test.kept[at] |= other.kept[at];
    }
    // The place of each of the other's answers in this test.
    let mut place: Vec<usize> = (0..calls).collect();
    for at in calls..other.sequence.len() {
        let asked = other.sequence[at].renumbered(|var| place[var]);
        let mut known = calls..test.sequence.len();
        let known = known.find(|known| is_alike(&test.sequence[*known], &asked));
        place.push(known.unwrap_or(test.sequence.len()));
        let assertion = match &other.assertions[at] {
            Some(Assertion::Same(same)) => Some(Assertion::Same(place[*same])),
            other => other.clone(),
        };
        if let Some(known) = known {
            // The other may have asked in another order.
            let is_later = matches!(assertion, Some(Assertion::Same(same)) if same >= known);
            if test.assertions[known].is_none() && !is_later {
                test.assertions[known] = assertion;
                test.sequence[known].shown |= asked.shown;
            }
        } else {
            test.sequence.push(asked);
            test.assertions.push(assertion);
            test.kept.push(other.kept[at]);
            test.observers += 1;
        }
    }
    // If one has asked for its text at the end, the other has it at once.
    for at in (calls..test.sequence.len()).rev() {
        let method = methods.get(test.sequence[at].method);
        if says_again(test, at, method) && leave_out(test, at) {
            test.observers -= 1;
        }
    }
}

/// Leaves out tests that say the same as others.
fn distinct(tests: Vec<Checked>) -> Vec<Checked> {
    let mut seen = HashSet::new();
    tests
        .into_iter()
        .filter(|test| seen.insert(test.sequence.clone()))
        .collect()
}

/// Leaves out tests that differ from others only in arguments, and in that these are returned,
/// except those that are novel according to `is_novel`; and those that are the beginning of others
/// which assert no less.
fn diverse(tests: Vec<Checked>, is_novel: impl Fn(usize) -> bool) -> Vec<Checked> {
    let mut seen = HashSet::new();
    let mut returned = HashSet::new();
    let mut tests: Vec<(usize, Checked)> = tests.into_iter().enumerate().collect();
    tests.retain(|(at, test)| seen.insert(unnamed(test)) || is_novel(*at));
    // That a call returns its object is said once.
    tests.retain(|(at, test)| {
        let more = (test.assertions.iter().enumerate())
            .any(|(at, assertion)| assertion.is_some() && test.fluent.get(at) != Some(&true));
        let last = test.sequence.last().map(|last| last.method);
        more || returned.insert(last) || is_novel(*at)
    });
    let mut tests: Vec<Checked> = tests.into_iter().map(|(_, test)| test).collect();
    let mut begun: HashMap<&[Statement], Vec<usize>> = HashMap::new();
    for (at, test) in tests.iter().enumerate() {
        begun.entry(test.calls()).or_default().push(at);
    }
    let mut within = HashSet::new();
    for test in &tests {
        for length in 1..test.calls().len() {
            let beginnings = begun.get(&test.sequence[..length]);
            let less = |at: &&usize| is_less(&tests[**at], test);
            within.extend(beginnings.into_iter().flatten().filter(less).copied());
        }
    }
    let mut at = 0..;
    tests.retain(|_| at.next().is_none_or(|at| !within.contains(&at)));
    tests
}

/// Whether a test that is the beginning of another one asserts nothing else.
fn is_less(test: &Checked, whole: &Checked) -> bool {
    let asked = |test: &Checked| -> Vec<(MethodId, Option<Assertion>)> {
        let observers = test.calls().len()..test.sequence.len();
        observers
            .map(|at| (test.sequence[at].method, test.assertions[at].clone()))
            .collect()
    };
    let calls = test.assertions[..test.calls().len()].iter();
    let told = asked(whole);
    calls
        .zip(&whole.assertions)
        .all(|(one, other)| one.is_none() || one == other)
        && asked(test).iter().all(|one| told.contains(one))
}

/// A test with the numbers of its texts and numbers in their place.
fn unnamed(test: &Checked) -> (Sequence, String) {
    fn of_arg(arg: &mut Arg, names: &mut Vec<Literal>) {
        match arg {
            Arg::Literal(literal) => {
                let varies = matches!(
                    literal,
                    Literal::Text(_)
                        | Literal::Int(_)
                        | Literal::Float(_)
                        | Literal::Double(_)
                        | Literal::JdkValue(..)
                );
                if varies {
                    let known = names.iter().position(|name| name == literal);
                    let number = known.unwrap_or_else(|| {
                        names.push(literal.clone());
                        names.len() - 1
                    });
                    *literal = Literal::Int(number as i64);
                }
            }
            Arg::Array(_, elements) => elements.iter_mut().for_each(|one| of_arg(one, names)),
            Arg::Lambda(lambda) => {
                if let Some(value) = lambda.value_mut() {
                    of_arg(value, names);
                }
            }
            Arg::Var(_) => {}
        }
    }
    let mut names = Vec::new();
    let mut sequence = test.sequence.clone();
    for statement in &mut sequence {
        statement
            .args
            .iter_mut()
            .for_each(|arg| of_arg(arg, &mut names));
    }
    let in_text = |text: &str| {
        let mut text = text.to_owned();
        for (number, name) in names.iter().enumerate() {
            if let Literal::Text(name) = name
                && name.len() > 1
            {
                text = text.replace(name, &format!("\0{number}\0"));
            }
        }
        text
    };
    let said = test.assertions.iter().map(|assertion| match assertion {
        Some(Assertion::Equals(literal)) => {
            match (names.iter().position(|one| one == literal), literal) {
                (Some(number), _) => format!("\0{number}\0"),
                (None, Literal::Text(text)) => in_text(text),
                (None, literal) => format!("{literal:?}"),
            }
        }
        Some(Assertion::Text(text) | Assertion::Elements(text)) => in_text(text),
        Some(Assertion::Throws(class, message)) => {
            format!("{class} {:?}", message.as_deref().map(in_text))
        }
        other => format!("{other:?}"),
    });
    let said = said.collect::<Vec<_>>().join("\n");
    (sequence, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes an object from a text, and questions it at the end.
    fn test(made_of: &str, more: usize, assertion: Option<Assertion>) -> Checked {
        let call = |method: u32, on: Option<usize>, args: Vec<Arg>| Statement {
            method: MethodId(method),
            on,
            args,
            may_throw: false,
            shown: false,
        };
        let text = Arg::Literal(Literal::Text(made_of.to_owned()));
        let mut sequence = vec![call(0, None, vec![text])];
        sequence.extend((0..more).map(|_| call(1, Some(0), Vec::new())));
        let mut assertions = vec![None; sequence.len()];
        if let Some(last) = assertions.last_mut() {
            *last = assertion;
        }
        Checked {
            kept: vec![true; sequence.len()],
            fluent: vec![false; sequence.len()],
            sequence,
            assertions,
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    #[test]
    fn tests_that_say_the_same_are_one() {
        let says = |text: &str| Some(Assertion::Equals(Literal::Text(text.to_owned())));
        let left = |tests: Vec<Checked>| diverse(tests, |_| false).len();
        // Another text that is returned, and one with another result.
        assert_eq!(
            left(vec![test("ab", 1, says("ab!")), test("cd", 1, says("cd!"))]),
            1
        );
        assert_eq!(
            left(vec![test("ab", 1, says("ab!")), test("cd", 1, says("ab!"))]),
            2
        );
        // It has no other result, but ran something else.
        let same = vec![test("ab", 1, says("ab!")), test("cd", 1, says("cd!"))];
        assert_eq!(diverse(same, |at| at == 1).len(), 2);
        // The beginning of another test, which asserts nothing else, or something.
        assert_eq!(left(vec![test("ab", 1, None), test("ab", 2, says("x"))]), 1);
        assert_eq!(
            left(vec![test("ab", 1, says("y")), test("ab", 2, says("x"))]),
            2
        );
        // A call that returns its object, once for each method.
        let fluent = |text: &str, more: usize| {
            let mut one = test(text, more, Some(Assertion::Same(0)));
            one.fluent = vec![true; more + 1];
            one
        };
        assert_eq!(left(vec![fluent("ab", 1), fluent("ab", 2)]), 1);
    }

    /// Methods of one class with these names, which return texts.
    fn methods_of(names: &[&str]) -> Methods {
        let mut methods = Methods::default();
        for name in names {
            methods.intern(Method {
                class: "A".to_owned(),
                name: (*name).to_owned(),
                descriptor: "()Ljava/lang/String;".to_owned(),
                is_static: false,
                runs: None,
            });
        }
        methods
    }

    /// What a search has called last is a question if it changes nothing.
    #[test]
    fn new_tests_that_do_the_same_are_one() {
        let methods = methods_of(&["<init>", "name", "next"]);
        let says = |text: &str| Some(Assertion::Equals(Literal::Text(text.to_owned())));
        let asking = |method: u32, text: &str| {
            let mut one = test("ab", 1, says(text));
            one.sequence[1].method = MethodId(method);
            ask_last(&mut one, |method| method.name == "name", &methods);
            one
        };
        let (name, next) = (asking(1, "x"), asking(2, "y"));
        assert_eq!((name.observers, next.observers), (1, 0));
        let mut again = name.clone();
        again.sequence[1].args.push(Arg::Literal(Literal::Null));
        let (joined, places) = joined(vec![name, next, again], &methods);
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(joined[0].sequence.len(), 3);
    }

    #[test]
    fn tests_that_call_the_same_ask_together() {
        let says = |text: &str| Some(Assertion::Equals(Literal::Text(text.to_owned())));
        // The last call of each is a question.
        let asking = |method: u32, text: &str, first: Option<Assertion>| {
            let mut one = test("ab", 2, says(text));
            one.sequence[2].method = MethodId(method);
            one.assertions[1] = first;
            one.observers = 1;
            one
        };
        let methods = methods_of(&["<init>", "with", "name", "toString"]);
        let joined = |tests| joined(tests, &methods).0;
        let one = joined(vec![
            asking(2, "two", None),
            asking(3, "three", says("x")),
            asking(2, "two", None),
        ]);
        let [one] = &one[..] else {
            panic!("{} tests", one.len())
        };
        assert_eq!(one.observers, 2);
        assert_eq!(
            one.assertions,
            [None, says("x"), says("two"), says("three")]
        );
        assert_eq!(one.sequence[3].method, MethodId(3));
        // A text that the object has given at once is not asked for again.
        let mut at_once = asking(2, "two", None);
        at_once.assertions[0] = Some(Assertion::Text("three".to_owned()));
        let one = joined(vec![asking(3, "three", None), at_once.clone()]);
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].assertions[1..], [None, says("two")]);
        assert_eq!(one[0].observers, 1);
        let one = joined(vec![asking(3, "four", None), at_once]);
        assert_eq!(one[0].observers, 2);
        // They disagree about a call, or make another call.
        let disagree = vec![asking(2, "two", says("y")), asking(3, "three", says("x"))];
        assert_eq!(joined(disagree).len(), 2);
        let others = vec![test("ab", 2, says("x")), test("ab", 1, says("x"))];
        assert_eq!(joined(others).len(), 2);
    }
}
