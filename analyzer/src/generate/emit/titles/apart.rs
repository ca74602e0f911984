//! Distinguishes tests that have the same name so far by what only one of them has.

use super::{Context, literal_word, own_name, passed_word, said};
use crate::generate::asserted::{Assertion, Checked};
use crate::generate::emit::words::{capital, constant, word};
use crate::generate::sequence::Arg;
use crate::java::names::sanitize;
use crate::model::values::Literal;
use std::collections::HashMap;

/// The length of the longest message that is a word in a name.
const MAX_WORD: usize = 24;
/// The length of the longest result of a call that is one.
const MAX_GIVEN: usize = 12;

/// A property of a test that others of its name may not have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// The message of its last exception.
    Says(String),
    /// An argument of a call.
    Passes(String),
    /// The result of a call.
    Gives(String),
    /// The name of a call.
    Calls(String),
}

impl Mark {
    fn added_to(&self, name: &str) -> String {
        match self {
            Mark::Says(word) => format!("{name}{word}"),
            Mark::Passes(word) if name.contains("With") => format!("{name}And{word}"),
            Mark::Passes(word) => format!("{name}With{word}"),
            Mark::Gives(word) => format!("{name}Giving{word}"),
            Mark::Calls(word) => format!("{name}After{word}"),
        }
    }
}

/// Names for tests that all have the same name, by the properties of each, the best first. One
/// without a property of its own keeps the name.
pub(super) fn apart(name: &str, all: &[Vec<Mark>]) -> Vec<String> {
    let mut having: HashMap<&Mark, usize> = HashMap::new();
    for marks in all {
        // Each counts once for a test.
        for (at, mark) in marks.iter().enumerate() {
            if !marks[..at].contains(mark) {
                *having.entry(mark).or_default() += 1;
            }
        }
    }
    let named = all.iter().map(|marks| {
        let own = marks.iter().find(|mark| having[mark] == 1);
        own.map_or_else(|| name.to_owned(), |mark| mark.added_to(name))
    });
    named.collect()
}

/// The properties of a test: of arguments and calls, the last comes first.
pub(super) fn marks(context: &Context<'_>, checked: &Checked) -> Vec<Mark> {
    let calls = checked.sequence.len() - checked.observers;
    let mut marks = Vec::new();
    if let Some(last) = calls.checked_sub(1)
        && let Some(Assertion::Throws(_, Some(message))) = &checked.assertions[last]
    {
        let word = word(message).filter(|word| word.len() <= MAX_WORD);
        marks.extend(word.map(Mark::Says));
    }
    for at in (0..calls).rev() {
        let statement = &checked.sequence[at];
        let (types, _) = context.methods.get(statement.method).types();
        for (arg, ty) in statement.args.iter().zip(&types) {
            passed(arg, ty, &mut marks);
        }
    }
    let told = checked.assertions.iter().flatten();
    let told = told.filter_map(|told| match told {
        Assertion::Equals(literal) => literal_word(literal),
        Assertion::Text(text) => word(text),
        _ => None,
    });
    let told = told.filter(|word| word.len() <= MAX_GIVEN);
    marks.extend(told.map(Mark::Gives));
    for statement in checked.calls().iter().rev() {
        let method = context.methods.get(statement.method);
        if !method.is_constructor() && !method.is_constant() {
            marks.push(Mark::Calls(capital(&said(&method.name))));
        }
    }
    // The last property is the constant that it takes, or the class of an object that is made for
    // it.
    for statement in checked.calls().iter().rev() {
        for arg in &statement.args {
            arg.vars(&mut |var| {
                let maker = context.methods.get(checked.sequence[var].method);
                if maker.is_constant() {
                    marks.extend(constant(&maker.name).map(Mark::Passes));
                } else if maker.is_constructor() {
                    let class = capital(&sanitize(own_name(&maker.class)));
                    marks.push(Mark::Passes(class));
                }
            });
        }
    }
    marks
}

/// All literals in an argument, even within arrays.
fn passed(arg: &Arg, ty: &str, marks: &mut Vec<Mark>) {
    match arg {
        Arg::Array(element, elements) if !elements.is_empty() => {
            (elements.iter()).for_each(|one| passed(one, element, marks));
        }
        arg => {
            let word = passed_word(arg, ty).or_else(|| match arg {
                Arg::Literal(Literal::Text(text) | Literal::Box(_, text)) => number(text),
                Arg::Literal(Literal::Double(bits)) => number(&f64::from_bits(*bits).to_string()),
                _ => None,
            });
            marks.extend(word.map(Mark::Passes));
        }
    }
}

/// A number as a word.
fn number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("Minus", digits),
        None => ("", text),
    };
    let is_number = |part: &str| {
        let is_short = (1..=9).contains(&part.len());
        is_short && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    match digits.split_once('.') {
        Some((whole, rest)) if is_number(whole) && is_number(rest) => {
            Some(format!("{sign}{whole}Point{rest}"))
        }
        None if is_number(digits) => Some(format!("{sign}{digits}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_words() {
        for (text, expected) in [
            ("10.50", Some("10Point50")),
            ("-7", Some("Minus7")),
            ("1.2.3", None),
            ("1e9", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), expected);
        }
    }

    #[test]
    fn what_only_one_has_tells_it_apart() {
        let passes = |word: &str| Mark::Passes(word.to_owned());
        let gives = |word: &str| Mark::Gives(word.to_owned());
        let all = [
            vec![passes("Paid"), passes("Sku4"), passes("Sku4")],
            vec![passes("Paid"), gives("Ann")],
            vec![passes("Paid")],
            vec![Mark::Says("NoSku4".to_owned()), passes("Paid")],
        ];
        assert_eq!(
            apart("moveWithPaid", &all),
            [
                "moveWithPaidAndSku4",
                "moveWithPaidGivingAnn",
                "moveWithPaid",
                "moveWithPaidNoSku4",
            ]
        );
        assert_eq!(apart("add", &[vec![passes("1")], vec![]])[0], "addWith1");
    }
}
