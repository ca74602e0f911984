//! Names of variables after their roles in a test.

use super::Context;
use super::words::{capital, lower, word};
use crate::generate::asserted::Checked;
use crate::generate::sequence::Arg;
use crate::java::descriptor;
use crate::java::names::{is_identifier, sanitize};
use crate::model::values::Literal;

/// Beginnings of names that say what is done rather than what results.
const VERBS: [&str; 16] = [
    "get", "create", "make", "new", "to", "as", "read", "open", "find", "add", "append", "borrow",
    "build", "parse", "with", "of",
];

/// Names that are not informative.
const EMPTY: [&str; 14] = [
    "arg",
    "obj",
    "object",
    "other",
    "that",
    "value",
    "val",
    "item",
    "element",
    "param",
    "parameter",
    "instance",
    "src",
    "self",
];

/// The possible names of a variable, the best first: after the parameter for which it is passed,
/// the method that returns it, and the words from which it is made. `base` is the name of its type.
pub(super) fn roles(
    context: &Context<'_>,
    checked: &Checked,
    at: usize,
    base: &str,
) -> Vec<String> {
    let mut roles = Vec::new();
    roles.extend(parameter(context, checked, at));
    let statement = &checked.sequence[at];
    let method = context.methods.get(statement.method);
    if !method.is_constructor() && !method.is_static && statement.args.is_empty() {
        let name = sanitize(&method.name);
        let noun = VERBS.iter().find_map(|verb| {
            let rest = name.strip_prefix(verb)?;
            rest.starts_with(char::is_uppercase).then(|| lower(rest))
        });
        roles.extend(noun);
    }
    let words = statement.args.iter().filter_map(|arg| match arg {
        Arg::Literal(Literal::Text(text))
            if text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
        {
            word(text)
        }
        Arg::Literal(Literal::Enum(_, name)) => word(name),
        _ => None,
    });
    let words: Vec<String> = words.collect();
    roles.extend(words.iter().map(|word| lower(word) + &capital(base)));
    roles.retain(|role| role != base && role.len() > 1 && is_identifier(role));
    roles
}

/// The name of the parameter for which it is first passed.
pub(super) fn parameter(context: &Context<'_>, checked: &Checked, at: usize) -> Option<String> {
    let passed = checked.sequence.iter().find_map(|statement| {
        let place = (statement.args.iter()).position(|arg| *arg == Arg::Var(at))?;
        Some((context.methods.get(statement.method), place))
    });
    let (method, place) = passed?;
    let (_, known) = context.declared(method)?;
    let name = known.parameters.get(place)?.clone()?;
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let says = plain.len() > 2 && !EMPTY.contains(&plain) && name.is_ascii();
    (says && !name.contains(['$', '_']) && is_identifier(&name)).then_some(name)
}

/// Whether a type says less about its objects than the places to which they are passed.
pub(super) fn is_vague(ty: &str) -> bool {
    let (_, element) = descriptor::element(ty);
    match descriptor::class_name(element) {
        Some(class) => class.starts_with("java."),
        None => true,
    }
}
