//! What objects print: `User[name=ann, password=X]` of records, `User{password='X'}` of methods
//! that development environments generate, `User(password=X)` of Kotlin and Lombok, `{password=X}`
//! of maps.

use super::{MAX_NAME, Role, Search, names_secret};
use std::ops::Range;

/// The characters that precede the name of a component.
pub(super) const BEFORE_COMPONENTS: &[char] = &['[', '{', '(', ','];

/// The characters that precede the name of a setting in an argument: the first of several settings
/// follows the name of all.
pub(super) const BEFORE_SETTINGS: &[char] = &['[', '{', '(', ',', '='];

/// Masks components and entries with secret names.
pub(super) fn components(search: &mut Search<'_>) {
    let text = search.text;
    let mut at = 0;
    let mut line_end = 0;
    while let Some(next) = (text.get(at..)).and_then(|rest| rest.find('=')) {
        let equals = at + next;
        at = equals + 1;
        let is_secret = |name: &str| names_secret(name, search.is_secret);
        if !name_before(text, equals, search.before_names).is_some_and(is_secret) {
            continue;
        }
        if line_end < at {
            let rest = text.get(at..).unwrap_or_default();
            line_end = at + rest.find(['\n', '\r']).unwrap_or(rest.len());
        }
        let value = value(text, at..line_end);
        at = value.end;
        let said = text.get(value.clone()).unwrap_or_default();
        if !said.starts_with([' ', '=']) && !is_placeholder(said) {
            search.member(Role::Secret, value);
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$')
}

/// The name before an equals sign, if it is one of several or the first inside brackets.
fn name_before<'t>(text: &'t str, equals: usize, behind: &[char]) -> Option<&'t str> {
    let before = text.get(..equals)?;
    let letters = before.chars().rev().take_while(|c| is_of_name(*c));
    let len: usize = letters.take(MAX_NAME).map(char::len_utf8).sum();
    let (rest, name) = before.split_at(equals - len);
    let begins = rest.trim_end_matches([' ', '\t']);
    (begins.ends_with(behind) && name.starts_with(|c: char| !c.is_ascii_digit())).then_some(name)
}

/// The value after an equals sign, in the rest of the line: up to the next name with an equals sign
/// or a bracket, to the closing bracket, or to the line's end. A quoted value ends with the quote
/// that one of these follows.
fn value(text: &str, line: Range<usize>) -> Range<usize> {
    let start = line.start;
    let line = text.get(line).unwrap_or_default();
    if let Some(quote) = line.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &line[1..];
        let closes = |end: &(usize, &str)| {
            let behind = &inner[end.0 + 1..];
            behind.is_empty() || behind.starts_with([',', ']', '}', ')', ';', ' '])
        };
        let end = inner.match_indices(quote).find(closes);
        return start + 1..start + 1 + end.map_or(inner.len(), |(end, _)| end);
    }
    let is_next = |(comma, _): &(usize, &str)| {
        let behind = line[comma + 1..].trim_start();
        let name = behind.split(|c| !is_of_name(c)).next().unwrap_or_default();
        !name.is_empty() && behind[name.len()..].starts_with(['=', '[', '{', '('])
    };
    let next = line.match_indices(',').find(is_next);
    let value = &line[..next.map_or(line.len(), |(comma, _)| comma)];
    start..start + value.len() - unopened(value)
}

/// The number of bytes at the end of a value that lie behind the closing bracket of its
/// surroundings.
fn unopened(value: &str) -> usize {
    let mut open: Vec<char> = Vec::new();
    let mut outside = None;
    for (at, c) in value.char_indices() {
        match c {
            '[' => open.push(']'),
            '{' => open.push('}'),
            '(' => open.push(')'),
            ']' | '}' | ')' if open.last() == Some(&c) => {
                open.pop();
            }
            // A secret may contain brackets; the last of several is not part of it.
            ']' | '}' | ')' if outside.is_none() => outside = Some(at),
            ']' | '}' | ')' => {}
            ' ' | ',' | ';' | '.' | '!' | '>' | '"' | '\'' => {}
            _ => outside = None,
        }
    }
    outside.map_or(0, |at| value.len() - at)
}

/// Whether a value is a placeholder: of statements (`?`, `:name`, `$1`), of formats (`%s`, `{}`,
/// `{0}`).
fn is_placeholder(value: &str) -> bool {
    let word = value.split([' ', ')', ';']).next().unwrap_or_default();
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let between = |open: &str, close: char| {
        let inner = word
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(is_word)
    };
    let is_format = || {
        let kind = word.strip_prefix('%').unwrap_or_default();
        matches!(kind, "s" | "d" | "S" | "x" | "v" | "@")
    };
    let behind = |sign: char| word.strip_prefix(sign);
    word == "?"
        || is_format()
        || between("{", '}')
        || between("#{", '}')
        || behind(':').is_some_and(|name| !name.is_empty() && is_word(name))
        || behind('$')
            .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}
