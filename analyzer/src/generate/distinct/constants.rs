//! Chooses among tests that differ only in constants: their arguments and results.
//!
//! Of those that run the same code, as far as a search knows, a few are enough. Each of them should
//! be of another kind: a number below zero, zero, one above it, the greatest one.

use super::super::asserted::{Assertion, Checked};
use super::super::sequence::{Arg, Sequence};
use crate::model::values::Literal;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most tests that differ only in constants.
const MAX_ALIKE: usize = 3;

/// The tests that are left: all that are novel, and of each kind as many as permitted.
pub(super) fn chosen(tests: &[Checked], is_novel: impl Fn(usize) -> bool) -> HashSet<usize> {
    let mut places: HashMap<(&str, Sequence, Vec<String>), usize> = HashMap::new();
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, test) in tests.iter().enumerate() {
        let said = test.assertions.iter().map(|one| said(one.as_ref(), test));
        let key = (
            test.class.as_str(),
            without_constants(&test.sequence),
            said.collect(),
        );
        let group = *places.entry(key).or_insert(at);
        groups.entry(group).or_default().push(at);
    }
    let mut chosen = HashSet::new();
    for group in groups.into_values() {
        let (mut left, mut others) = (MAX_ALIKE, Vec::new());
        let mut seen = HashSet::new();
        for at in group {
            if is_novel(at) {
                left = left.saturating_sub(1);
                seen.extend(kinds(&tests[at]));
                chosen.insert(at);
            } else {
                others.push(at);
            }
        }
        for _ in 0..left {
            let new = |at: &usize| {
                let kinds = kinds(&tests[*at]);
                kinds.iter().filter(|kind| !seen.contains(*kind)).count()
            };
            // The first of those that have the most new kinds.
            let Some(best) = (0..others.len())
                .rev()
                .max_by_key(|place| new(&others[*place]))
            else {
                break;
            };
            let at = others.remove(best);
            seen.extend(kinds(&tests[at]));
            chosen.insert(at);
        }
    }
    chosen
}

/// Whether another literal may take the place of this one.
fn varies(literal: &Literal) -> bool {
    !matches!(
        literal,
        Literal::Null | Literal::Bool(_) | Literal::Enum(..) | Literal::Class(_)
    )
}

fn without_constants(sequence: &Sequence) -> Sequence {
    fn of_arg(arg: &mut Arg) {
        match arg {
            Arg::Literal(literal) if varies(literal) => *literal = Literal::Int(0),
            Arg::Array(_, elements) => elements.iter_mut().for_each(of_arg),
            Arg::Lambda(lambda) => lambda.value_mut().into_iter().for_each(of_arg),
            Arg::Literal(_) | Arg::Var(_) => {}
        }
    }
    let mut sequence = sequence.clone();
    for statement in &mut sequence {
        statement.args.iter_mut().for_each(of_arg);
    }
    sequence
}

/// The assertion of a test about a call, without constants.
fn said(assertion: Option<&Assertion>, test: &Checked) -> String {
    match assertion {
        Some(Assertion::Equals(literal)) if varies(literal) => "equals".to_owned(),
        Some(Assertion::Array(elements)) => format!("array {}", elements.is_empty()),
        Some(Assertion::Text(_)) => "text".to_owned(),
        Some(Assertion::Elements(_)) => "elements".to_owned(),
        Some(Assertion::Size(size)) => format!("size {}", *size == 0),
        Some(Assertion::Throws(class, Some(message))) => {
            let mut message = message.clone();
            for literal in literals(test) {
                if let Literal::Text(text) = literal
                    && text.len() > 1
                {
                    message = message.replace(text, "");
                }
            }
            message.retain(|c| !c.is_ascii_digit() && c != '-' && c != '.');
            format!("throws {class} {message}")
        }
        other => format!("{other:?}"),
    }
}

/// The arguments that are literals.
fn literals(test: &Checked) -> Vec<&Literal> {
    fn of_arg<'t>(arg: &'t Arg, all: &mut Vec<&'t Literal>) {
        match arg {
            Arg::Literal(literal) => all.push(literal),
            Arg::Array(_, elements) => elements.iter().for_each(|one| of_arg(one, all)),
            Arg::Lambda(lambda) => lambda.value().into_iter().for_each(|one| of_arg(one, all)),
            Arg::Var(_) => {}
        }
    }
    let mut all = Vec::new();
    for arg in test.sequence.iter().flat_map(|statement| &statement.args) {
        of_arg(arg, &mut all);
    }
    all
}

/// The kinds of the constants that a test passes and gets.
fn kinds(test: &Checked) -> HashSet<(bool, usize, &'static str)> {
    let passed = literals(test).into_iter().enumerate();
    let passed = passed.map(|(at, literal)| (true, at, kind(literal)));
    let came = test.assertions.iter().enumerate();
    let came = came.filter_map(|(at, assertion)| match assertion {
        Some(Assertion::Equals(literal)) => Some((false, at, kind(literal))),
        _ => None,
    });
    passed.chain(came).collect()
}

fn kind(literal: &Literal) -> &'static str {
    let of_number = |value: f64| match value {
        _ if value.is_nan() => "no number",
        _ if value <= f64::from(i32::MIN) => "least",
        _ if value >= f64::from(i32::MAX) => "greatest",
        _ if value < 0.0 => "below zero",
        0.0 => "zero",
        1.0 => "one",
        _ => "above one",
    };
    let of_text = |text: &str| match text {
        "" => "empty",
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => "digits",
        _ if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => "word",
        _ => "text",
    };
    match literal {
        Literal::Int(value) => of_number(*value as f64),
        Literal::Float(bits) => of_number(f64::from(f32::from_bits(*bits))),
        Literal::Double(bits) => of_number(f64::from_bits(*bits)),
        Literal::Text(text) => of_text(text),
        Literal::Box(_, text) | Literal::JdkValue(_, text) => match text.parse() {
            Ok(number) => of_number(number),
            Err(_) => of_text(text),
        },
        Literal::Units(_) => "units",
        Literal::Null | Literal::Bool(_) | Literal::Enum(..) | Literal::Class(_) => "itself",
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sequence::{MethodId, Statement};
    use super::*;

    fn test(passed: i64, assertion: Assertion) -> Checked {
        Checked {
            sequence: vec![Statement {
                method: MethodId(0),
                on: None,
                args: vec![Arg::Literal(Literal::Int(passed))],
                may_throw: false,
                shown: false,
            }],
            assertions: vec![Some(assertion)],
            kept: vec![true],
            fluent: vec![false],
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    #[test]
    fn a_few_that_differ_in_constants_are_enough() {
        let more = |passed: i64| test(passed, Assertion::Equals(Literal::Int(passed + 1)));
        let all = [0, 2, 10, 100, 1, -1, -5, 1000].map(more);
        let left = |is_novel: fn(usize) -> bool| {
            let mut left: Vec<usize> = chosen(&all, is_novel).into_iter().collect();
            left.sort_unstable();
            left
        };
        // One of each kind, the first of several.
        assert_eq!(left(|_| false), [0, 1, 5]);
        // A test that runs something else is kept in any case.
        assert_eq!(left(|at| at > 3), [4, 5, 6, 7]);
        assert_eq!(left(|at| at == 3), [0, 3, 5]);
    }

    #[test]
    fn what_ends_otherwise_is_another_test() {
        let says = |value: bool| Assertion::Equals(Literal::Bool(value));
        let throws = |message: &str| Assertion::Throws("B".to_owned(), Some(message.to_owned()));
        let mut all = Vec::new();
        for passed in 10..20 {
            all.push(test(passed, says(passed % 2 == 0)));
            all.push(test(passed, throws(&format!("not {passed}"))));
            all.push(test(passed, throws("nothing left")));
        }
        assert_eq!(chosen(&all, |_| false).len(), 4 * MAX_ALIKE);
    }
}
