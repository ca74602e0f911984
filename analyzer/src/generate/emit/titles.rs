//! Names of tests: after the calls that they concern; if several concern the same, after what
//! distinguishes them.
//!
//! - `apart` finds what distinguishes tests.

mod apart;

use super::words::{capital, constant, lower, word};
use super::{ASSERTIONS, Context, OBJECTS_OWN};
use crate::generate::asserted::{Assertion, Checked};
use crate::generate::lambda::Given;
use crate::generate::sequence::{Arg, Method};
use crate::java::descriptor;
use crate::java::names::{is_identifier, sanitize};
use crate::model::values::Literal;
use crate::text::simple_name;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A name for each test of a file, none twice.
pub(super) fn titles(context: &Context<'_>, tests: &[(usize, &Checked)]) -> Vec<String> {
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    let bases: Vec<String> = tests.iter().map(|(_, test)| base(context, test)).collect();
    for (at, base) in bases.iter().enumerate() {
        groups.entry(base.clone()).or_default().push(at);
    }
    // Tests that are alone get their names before others ask for one.
    let mut used: HashSet<String> = (groups.iter())
        .filter(|(_, places)| places.len() == 1)
        .map(|(base, _)| base.clone())
        .collect();
    let mut names = bases.clone();
    for (base, places) in &groups.into_iter().collect::<BTreeMap<_, _>>() {
        if places.len() == 1 {
            continue;
        }
        let suffixes: Vec<[String; 3]> = (places.iter())
            .map(|at| suffixes(context, tests[*at].1))
            .collect();
        let ways: Vec<Vec<String>> = [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[0, 1, 2]]
            .into_iter()
            .map(|way| {
                let joined = |suffix: &[String; 3]| way.iter().map(|at| &*suffix[*at]).collect();
                suffixes.iter().map(joined).collect()
            })
            .collect();
        let different = |way: &&Vec<String>| way.iter().collect::<HashSet<_>>().len();
        let most = ways.iter().map(|way| different(&way)).max();
        let Some(way) = ways.iter().find(|way| Some(different(way)) == most) else {
            continue;
        };
        let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, suffix) in places.iter().zip(way) {
            alike
                .entry(format!("{base}{suffix}"))
                .or_default()
                .push(*at);
        }
        let mut wanted: HashMap<usize, String> = HashMap::new();
        for (name, places) in alike {
            let marks = |at: &usize| apart::marks(context, tests[*at].1);
            let named = match &places[..] {
                [_] => vec![name],
                all => apart::apart(&name, &all.iter().map(marks).collect::<Vec<_>>()),
            };
            wanted.extend(places.into_iter().zip(named));
        }
        for at in places.iter() {
            let wanted = wanted.remove(at).unwrap_or_default();
            let mut name = wanted.clone();
            let mut number = 1;
            while !used.insert(name.clone()) {
                number += 1;
                name = format!("{wanted}_{number}");
            }
            names[*at] = name;
        }
    }
    names
}

/// The name of a class without the enclosing ones; that of a Scala object ends with a dollar.
fn own_name(class: &str) -> &str {
    let simple = simple_name(class).trim_end_matches('$');
    simple.rsplit('$').next().unwrap_or(simple)
}

/// The name of a method as words: those of Scala's operators (`$plus$plus`) and Kotlin's additions
/// (`copy$default`) have dollars between them.
fn said(name: &str) -> String {
    let mut parts = name.split('$').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default().to_owned();
    sanitize(&parts.fold(first, |words, part| words + &capital(part)))
}

/// What the test does: the calls on its object, or the last of them if these are many.
fn base(context: &Context<'_>, checked: &Checked) -> String {
    let calls = checked.sequence.len() - checked.observers;
    let of = |at: usize| context.methods.get(checked.sequence[at].method);
    let threw = (calls.checked_sub(1)).and_then(|last| match &checked.assertions[last] {
        Some(Assertion::Throws(class, _)) => Some(own_name(class)),
        _ => None,
    });
    // It begins with the call that has made the object.
    let made = (0..calls)
        .map(of)
        .find(|made| made.gives().as_ref() == Some(&checked.class));
    let matters = |at: usize| checked.kept[at] || checked.assertions[at].is_some();
    let is_own = |at: usize| of(at).class == checked.class;
    let mut words = words(context, checked, &matters);
    let is_made = |(word, _): &(String, bool)| made.is_some_and(|made| said(&made.name) == *word);
    if words.iter().all(|word| word.1 || is_made(word)) {
        // These are calls that exist for the questions at the end.
        words = self::words(context, checked, &is_own);
    }
    // That an object is questioned in between says little.
    if words.iter().any(|(_, asks)| !asks) {
        words.retain(|(_, asks)| !asks);
    } else if words.len() > 1 {
        words.drain(..words.len() - 1);
    }
    if words.len() > 1 && is_made(&words[0]) {
        words.remove(0);
    }
    if words.len() > 2 {
        words.drain(1..words.len() - 1);
    }
    words.dedup_by(|one, other| one.0 == other.0);
    let mut name = match (words.split_first(), made) {
        (None, Some(made)) if made.is_constant() => {
            lower(&constant(&made.name).unwrap_or_default())
        }
        // A test is not named after a constructor that it does not call.
        (None, Some(made)) if !made.is_constructor() => said(&made.name),
        (None, _) => {
            format!("new{}", sanitize(own_name(&checked.class)))
        }
        (Some(((first, _), rest)), _) => {
            let rest = rest
                .iter()
                .map(|(word, _)| format!("Then{}", capital(word)));
            format!("{first}{}", rest.collect::<String>())
        }
    };
    if let Some(threw) = threw {
        name.push_str("Throws");
        name.push_str(&capital(threw));
    }
    as_method(name)
}

/// A name that is valid for the method of a test.
fn as_method(name: String) -> String {
    // This one begins with a digit once `_1` has lost its underscore.
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return format!("calls{name}");
    }
    // A method that all objects have cannot be a test, and one named like an assertion would be
    // taken for that.
    if OBJECTS_OWN.contains(&name.as_str()) || ASSERTIONS.contains(&name.as_str()) {
        return format!("calls{}", capital(&name));
    }
    match is_identifier(&name) {
        true => name,
        false => format!("{name}_"),
    }
}

/// The names of those calls of a test that count, each with whether it is only a question; without
/// constructors.
fn words(
    context: &Context<'_>,
    checked: &Checked,
    counts: &dyn Fn(usize) -> bool,
) -> Vec<(String, bool)> {
    let mut words: Vec<(String, bool)> = Vec::new();
    for (at, statement) in checked.calls().iter().enumerate() {
        let method = context.methods.get(statement.method);
        if !counts(at) || method.is_constructor() || method.is_constant() {
            continue;
        }
        let assertion = &checked.assertions[at];
        let threw = matches!(assertion, Some(Assertion::Throws(..)));
        let word = said(&method.name);
        if words.last().map(|(word, _)| word) != Some(&word) {
            words.push((word, !threw && asks(method, statement.on, assertion)));
        }
    }
    words
}

/// Whether a call seems only to ask for a value.
fn asks(method: &Method, on: Option<usize>, assertion: &Option<Assertion>) -> bool {
    let (types, result) = method.types();
    let plain = match descriptor::class_name(&result) {
        Some(class) => {
            class.starts_with("java.") || matches!(assertion, Some(Assertion::Equals(_)))
        }
        None => result != "V",
    };
    // A call that returns its receiver has done something; one that returns what it was given is a
    // question.
    let plain = match assertion {
        Some(Assertion::Same(same)) => on != Some(*same),
        _ => plain,
    };
    types.is_empty() && !method.is_static && plain
}

/// What can distinguish a test from others: the last argument, the receiver, and the result.
fn suffixes(context: &Context<'_>, checked: &Checked) -> [String; 3] {
    let calls = checked.sequence.len() - checked.observers;
    let own = (0..calls).rev().find(|at| checked.kept[*at]);
    let last = own.or(calls.checked_sub(1));
    let words = |at: usize| {
        let statement = &checked.sequence[at];
        let (types, _) = context.methods.get(statement.method).types();
        let passed = statement.args.iter().zip(&types);
        let words: Vec<String> = passed
            .filter_map(|(arg, ty)| passed_word(arg, ty))
            .take(2)
            .collect();
        (!words.is_empty()).then(|| format!("With{}", words.join("And")))
    };
    let with = last
        .and_then(words)
        .or_else(|| (0..calls).rev().find_map(words));
    let with = with.unwrap_or_default();
    let on = last.and_then(|at| {
        let on = checked.sequence[at].on?;
        let method = context.methods.get(checked.sequence[on].method);
        let (_, result) = method.types();
        Some(match method.is_constructor() {
            true => {
                let class = descriptor::class_name(&result)?;
                let simple = sanitize(own_name(&class));
                format!("OnNew{}", capital(&simple))
            }
            false => format!("On{}", capital(&said(&method.name))),
        })
    });
    let gives = last.and_then(|at| {
        Some(match checked.assertions[at].as_ref()? {
            Assertion::Equals(Literal::Null) => "IsNull".to_owned(),
            Assertion::Equals(Literal::Text(text)) if text.is_empty() => "IsEmpty".to_owned(),
            Assertion::Equals(literal) => format!("Is{}", literal_word(literal)?),
            Assertion::Same(_) => "IsSame".to_owned(),
            _ => return None,
        })
    });
    [with, on.unwrap_or_default(), gives.unwrap_or_default()]
}

fn passed_word(arg: &Arg, ty: &str) -> Option<String> {
    match arg {
        Arg::Literal(Literal::Int(value)) if ty == "C" => {
            let character = u32::try_from(*value).ok().and_then(char::from_u32)?;
            character
                .is_ascii_alphanumeric()
                .then(|| character.to_uppercase().collect())
        }
        Arg::Literal(literal) => literal_word(literal),
        Arg::Array(_, elements) if elements.is_empty() => Some("EmptyArray".to_owned()),
        Arg::Array(element, elements) => {
            (elements.iter()).find_map(|one| passed_word(one, element))
        }
        Arg::Lambda(lambda) => Some(match &lambda.gives {
            Given::Nothing => "NoOp".to_owned(),
            Given::Parameter(_) if lambda.types().0.len() == 1 => "Identity".to_owned(),
            Given::Parameter(at) => (*["First", "Second", "Third"].get(*at)?).to_owned(),
            Given::Value(value) => format!("Always{}", passed_word(value, lambda.types().1)?),
            Given::Calls(method) if method.is_constructor() => {
                format!("New{}", capital(&sanitize(own_name(&method.class))))
            }
            Given::Calls(method) => capital(&said(&method.name)),
            Given::Throws(thrown) => {
                format!("Throwing{}", capital(&sanitize(own_name(&thrown.class))))
            }
        }),
        Arg::Var(_) => None,
    }
}

fn literal_word(literal: &Literal) -> Option<String> {
    Some(match literal {
        Literal::Null => "Null".to_owned(),
        Literal::Text(text) if text.is_empty() => "EmptyText".to_owned(),
        Literal::Text(text) | Literal::JdkValue(_, text) => {
            word(text).filter(|word| word.len() <= 24)?
        }
        Literal::Enum(_, name) => constant(name)?,
        Literal::Class(name) => capital(&sanitize(own_name(name))),
        Literal::Bool(value) => capital(&value.to_string()),
        Literal::Int(i64::MAX) => "MaxLong".to_owned(),
        Literal::Int(i64::MIN) => "MinLong".to_owned(),
        Literal::Int(value) if *value == i64::from(i32::MAX) => "MaxInt".to_owned(),
        Literal::Int(value) if *value == i64::from(i32::MIN) => "MinInt".to_owned(),
        Literal::Int(value) if *value < 0 => format!("Minus{}", value.unsigned_abs()),
        Literal::Int(value) => value.to_string(),
        Literal::Box(_, text) if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            capital(text)
        }
        Literal::Units(_) | Literal::Box(..) | Literal::Float(_) | Literal::Double(_) => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test of `Asserts.assertEquals` would hide its own assertion method.
    #[test]
    fn tests_are_called_what_a_method_can_be() {
        for (name, test) in [
            ("assertEquals", "callsAssertEquals"),
            ("assertEqualsThenCount", "assertEqualsThenCount"),
            ("toString", "callsToString"),
            ("1", "calls1"),
            ("for", "for_"),
            ("fail", "fail"),
        ] {
            assert_eq!(as_method(name.to_owned()), test);
        }
    }

    #[test]
    fn names_of_other_languages_are_words() {
        assert_eq!(own_name("scala.None$"), "None");
        assert_eq!(own_name("a.Outer$Inner"), "Inner");
        assert_eq!(said("$plus$plus"), "plusPlus");
        assert_eq!(
            said("$less$init$greater$default$1"),
            "lessInitGreaterDefault1"
        );
        assert_eq!(said("copy$default"), "copyDefault");
        assert_eq!(said("plain"), "plain");
    }
}
