//! Drops questions that are asked again and cannot have another answer by now.

use super::jdk::fills;
use super::{Wanted, is_alike};
use crate::generate::asserted::{Assertion, Checked, is_said};
use crate::generate::sequence::{Arg, Methods, Statement};
use crate::model::values::Literal;

/// Whether a call asks what those just before it have asked, and gets the same answer.
fn asks_nothing_new(checked: &Checked, at: usize, methods: &Methods) -> bool {
    let statement = &checked.sequence[at];
    let (Some(on), Some(told)) = (statement.on, &checked.assertions[at]) else {
        return false;
    };
    let (_, result) = methods.get(statement.method).types();
    let mut args = statement.args.iter();
    let is_plain = args.all(|arg| matches!(arg, Arg::Literal(_)));
    // A call with an argument may not be a question, and only say that it is done.
    let is_done = match told {
        Assertion::Equals(Literal::Bool(_) | Literal::Null) => true,
        told => *told == Assertion::Same(on),
    };
    if result == "V" || !is_plain || is_done && !statement.args.is_empty() {
        return false;
    }
    let mut before = (0..at)
        .rev()
        .take_while(|before| is_alike(&checked.sequence[*before], statement))
        .filter_map(|before| checked.assertions[before].as_ref());
    before.next() == Some(told)
}

/// What was asked before, and cannot have changed since, need not be asserted again, nor asked at
/// the end by one of the observers, which begin at `length`.
pub(super) fn drop_again(
    checked: &mut Checked,
    length: usize,
    wanted: &Wanted<'_>,
    methods: &Methods,
) {
    let mut since: Vec<usize> = Vec::new();
    for at in 0..checked.sequence.len() {
        let statement = &checked.sequence[at];
        let method = methods.get(statement.method);
        // If that is not known, what looks like a question is one: without it, all else must hold.
        let asks = wanted.mutability.is_none()
            && statement.args.is_empty()
            && !method.is_constructor()
            && method.types().1 != "V";
        // A method known to change its object gives a new answer each time, though it be the same.
        let twice = wanted.mutability.is_none() && asks_nothing_new(checked, at, methods);
        let leaves_all = wanted.leaves_all(statement, method);
        // What a static method says about objects that it does not change is an answer, too.
        let tells = method.is_static && leaves_all && method.types().1 != "V";
        if !asks && !wanted.changes_nothing(method) && !twice && !tells {
            if !leaves_all && !fills(checked, at, methods) && !method.is_constant() {
                since.clear();
            }
            continue;
        }
        let same = |before: &usize| {
            is_alike(&checked.sequence[*before], statement)
                && (checked.assertions[*before] == checked.assertions[at]
                    || said(checked, *before, methods)
                        .is_some_and(|said| checked.assertions[at] == Some(said)))
        };
        let is_more = |before: &usize| {
            is_alike(&checked.sequence[*before], statement)
                && checked.assertions[*before] == Some(Assertion::NotNull)
                && checked.assertions[at].as_ref().is_some_and(is_said)
        };
        let less = since.iter().copied().find(is_more);
        let may_throw = statement.may_throw && at < length;
        if (twice || since.iter().any(same)) && !may_throw {
            checked.kept[at] = false;
            checked.assertions[at] = None;
        } else {
            since.push(at);
        }
        // That there is an object is said by what it says.
        if let Some(less) = less {
            checked.kept[less] = false;
            checked.assertions[less] = None;
        }
    }
}

/// The text of an object, if the run has asked for it.
fn said(checked: &Checked, at: usize, methods: &Methods) -> Option<Assertion> {
    let asks = |statement: &Statement| {
        statement.on == Some(at) && methods.get(statement.method).name == "toString"
    };
    let asked = checked.sequence.iter().position(asks)?;
    match checked.assertions[asked].as_ref()? {
        Assertion::Equals(Literal::Text(text)) => Some(Assertion::Text(text.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::sequence::Method;
    use crate::model::mutable::Mutability;
    use hindsight_instrument::glob::Globs;
    use std::cell::RefCell;
    use std::fs;

    /// A list that the run has only looked at is said to exist; the same question says what is in
    /// it.
    #[test]
    fn what_says_more_is_asked_once() {
        let mut methods = Methods::default();
        let mut call = |name: &str, on: Option<usize>| Statement {
            method: methods.intern(Method {
                class: "Row".to_owned(),
                name: name.to_owned(),
                descriptor: "()LList;".to_owned(),
                is_static: false,
                runs: None,
            }),
            on,
            args: Vec::new(),
            may_throw: false,
            shown: false,
        };
        let sequence = vec![
            call("<init>", None),
            call("all", Some(0)),
            call("all", Some(0)),
        ];
        let says = Some(Assertion::Text("[1]".to_owned()));
        let mut checked = Checked {
            assertions: vec![None, Some(Assertion::NotNull), says.clone()],
            kept: vec![true; 3],
            fluent: vec![false; 3],
            sequence,
            observers: 1,
            class: "Row".to_owned(),
            whole: None,
        };
        let classes = Globs::default();
        let wanted = Wanted {
            classes: &classes,
            mutability: None,
            harmful: RefCell::default(),
        };
        drop_again(&mut checked, 2, &wanted, &methods);
        assert_eq!(checked.assertions, [None, None, says]);
        assert_eq!(checked.kept, [true, false, true]);
    }

    /// What is asked of a row and changes nothing is not asked again, although others of its type
    /// change; nor is what a static method says about it.
    #[test]
    fn what_runs_decides_what_has_changed() {
        let document = r#"{"schema": "hindsight.mutability/1", "methods": [
            {"class": "Row", "method": "first", "descriptor": "()I", "parameters": [{"verdict": "mutable"}]},
            {"class": "Pair", "method": "first", "descriptor": "()I", "parameters": [{"verdict": "immutable"}]},
            {"class": "Row", "method": "sum", "descriptor": "(LRow;)I", "parameters": [{"verdict": "immutable"}]}]}"#;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mutability.json");
        fs::write(&file, document).unwrap();
        let mutability = Mutability::read(&file).unwrap();
        let classes = Globs::default();
        let wanted = Wanted {
            classes: &classes,
            mutability: Some(&mutability),
            harmful: RefCell::default(),
        };
        // The answers to these questions that are left if `first` runs as that of this class.
        let left = |class: &str, questions: &[&str]| {
            let mut methods = Methods::default();
            let mut call = |class: &str, name: &str, descriptor: &str| {
                let method = Method {
                    class: class.to_owned(),
                    name: name.to_owned(),
                    descriptor: descriptor.to_owned(),
                    is_static: name != "first",
                    runs: None,
                };
                let is_static = method.is_static && name != "of";
                Statement {
                    method: methods.intern(method.called_by("Row".to_owned())),
                    on: (name == "first").then_some(0),
                    args: is_static.then_some(Arg::Var(0)).into_iter().collect(),
                    may_throw: false,
                    shown: false,
                }
            };
            let mut sequence = vec![call("Row", "of", "()LRow;")];
            let mut assertions = vec![None];
            for question in questions {
                let (class, descriptor, answer) = match *question {
                    "first" => (class, "()I", 1),
                    _ => ("Row", "(LRow;)I", 3),
                };
                sequence.push(call(class, question, descriptor));
                assertions.push(Some(Assertion::Equals(Literal::Int(answer))));
            }
            let length = sequence.len();
            let mut checked = Checked {
                kept: vec![true; length],
                fluent: vec![false; length],
                assertions,
                observers: 0,
                class: "Row".to_owned(),
                whole: None,
                sequence,
            };
            drop_again(&mut checked, length, &wanted, &methods);
            let asserted = checked.assertions[1..].iter().map(Option::is_some);
            asserted.collect::<Vec<_>>()
        };
        let turns = ["first", "sum", "first", "sum"];
        assert_eq!(left("Pair", &turns), [true, true, false, false]);
        assert_eq!(left("Row", &turns), [true; 4]);
        // What removes the first one returns the next one each time, and that may look the same.
        assert_eq!(left("Pair", &["first"; 3]), [true, false, false]);
        assert_eq!(left("Row", &["first"; 3]), [true; 3]);
    }
}
