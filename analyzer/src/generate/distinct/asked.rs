//! Finds tests that ask the same about the same objects, in whatever order, or less than others do.

use crate::generate::asserted::{Assertion, Checked};
use crate::generate::sequence::{Method, Methods, Sequence, Statement};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A test without the order of its questions.
struct Asking {
    /// The calls that do something.
    done: Sequence,
    /// The assertions, each with its subject among these or the number of its question, and the
    /// number of calls before it.
    asked: Vec<(usize, Statement, Assertion)>,
}

/// For each test the one that does the same and asserts no less; itself, if there is no other.
pub(super) fn fullest<'t>(
    tests: impl Iterator<Item = &'t Checked>,
    methods: &Methods,
) -> Vec<usize> {
    let mut questions = HashMap::new();
    let mut alike: HashMap<Sequence, Vec<(usize, Vec<_>)>> = HashMap::new();
    let mut fullest = Vec::new();
    for (at, test) in tests.enumerate() {
        let Asking { done, asked } = asking(test, methods, &mut questions);
        alike.entry(done).or_default().push((at, asked));
        fullest.push(at);
    }
    for mut tests in alike.into_values() {
        tests.sort_by_key(|(at, asked)| (Reverse(asked.len()), *at));
        let mut left: Vec<(usize, Vec<_>)> = Vec::new();
        for (at, asked) in tests {
            match left.iter().find(|(_, more)| is_in(&asked, more)) {
                Some((more, _)) => fullest[at] = *more,
                None => left.push((at, asked)),
            }
        }
    }
    fullest
}

/// Whether all of some are among others, as often.
fn is_in<T: PartialEq>(some: &[T], others: &[T]) -> bool {
    let mut others: Vec<&T> = others.iter().collect();
    some.iter().all(|one| {
        let place = others.iter().position(|other| *other == one);
        place.map(|place| others.swap_remove(place)).is_some()
    })
}

/// Separates a test's questions. Questions have the same numbers in all tests, which are in
/// `questions`: those of one moment can be asked in any order.
fn asking(
    test: &Checked,
    methods: &Methods,
    questions: &mut HashMap<(usize, Statement), usize>,
) -> Asking {
    let mut asking = Asking {
        done: Vec::new(),
        asked: Vec::new(),
    };
    let mut number: Vec<usize> = Vec::new();
    for (call, assertion) in test.sequence.iter().zip(&test.assertions) {
        let mut own = call.renumbered(|var| number[var]);
        own.shown = false;
        let when = asking.done.len();
        let is_question =
            (assertion.as_ref()).is_some_and(|told| asks(call, methods.get(call.method), told));
        if is_question {
            let next = questions.len();
            let place = *questions.entry((when, own.clone())).or_insert(next);
            number.push(2 * place + 1);
        } else {
            number.push(2 * when);
            asking.done.push(own.clone());
        }
        if let Some(told) = assertion {
            let told = match told {
                Assertion::Same(var) => Assertion::Same(number[*var]),
                told => told.clone(),
            };
            asking.asked.push((when, own, told));
        }
    }
    asking
}

/// Whether a call seems only to ask an object for something.
pub(super) fn asks(call: &Statement, method: &Method, told: &Assertion) -> bool {
    let is_done = match told {
        Assertion::Throws(..) => true,
        Assertion::Same(same) => call.on == Some(*same),
        _ => false,
    };
    call.on.is_some() && call.args.is_empty() && !is_done && method.types().1 != "V"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::sequence::Arg;
    use crate::model::values::Literal;

    /// Calls on the first object by name, with their texts; those without a text have no assertion,
    /// and one with a star has an argument.
    fn test(calls: &[(&str, &str)], methods: &mut Methods) -> Checked {
        let mut call = |name: &str, on: Option<usize>| Statement {
            method: methods.intern(Method {
                class: "A".to_owned(),
                name: name.to_owned(),
                descriptor: "()Ljava/lang/String;".to_owned(),
                is_static: false,
                runs: None,
            }),
            on,
            args: (name.ends_with('*'))
                .then_some(Arg::Literal(Literal::Null))
                .into_iter()
                .collect(),
            may_throw: false,
            shown: false,
        };
        let mut sequence = vec![call("<init>", None)];
        let mut assertions = vec![None];
        for (name, says) in calls {
            sequence.push(call(name, Some(0)));
            assertions.push(match *says {
                "" => None,
                "same" => Some(Assertion::Same(1)),
                says => Some(Assertion::Equals(Literal::Text(says.to_owned()))),
            });
        }
        Checked {
            kept: vec![true; sequence.len()],
            fluent: vec![false; sequence.len()],
            assertions,
            sequence,
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    fn left(tests: &[&[(&str, &str)]]) -> Vec<usize> {
        let mut methods = Methods::default();
        let tests: Vec<Checked> = (tests.iter())
            .map(|calls| test(calls, &mut methods))
            .collect();
        fullest(tests.iter(), &methods)
    }

    #[test]
    fn the_order_of_questions_is_nothing() {
        let (size, name) = (("size", "1"), ("name", "x"));
        assert_eq!(left(&[&[size, name], &[name, size]]), [0, 0]);
        // One asks less than another.
        assert_eq!(left(&[&[size], &[name, size], &[name]]), [1, 1, 1]);
        assert_eq!(left(&[&[size, size], &[size]]), [0, 0]);
        // Each asks what the other does not, or gets another answer.
        assert_eq!(left(&[&[size], &[name]]), [0, 1]);
        assert_eq!(left(&[&[size], &[("size", "2")]]), [0, 1]);
        // Something is done in between, or may be.
        let (close, add) = (("close", ""), ("add*", "1"));
        assert_eq!(left(&[&[close, size], &[size, close]]), [0, 1]);
        assert_eq!(left(&[&[close, size], &[close, name, size]]), [1, 1]);
        assert_eq!(
            left(&[&[add, ("put*", "2")], &[("put*", "2"), add]]),
            [0, 1]
        );
        // The first that asks for an object is the one that others must equal.
        let (part, again) = (("part", "p"), ("part", "same"));
        let behind: &[_] = &[part, size, again];
        assert_eq!(left(&[behind, &[part, again, size]]), [0, 0]);
    }
}
