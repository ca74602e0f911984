//! Lines that consist of a name and its value, as in YAML, properties, `.env` and ini files and in
//! headers; settings and queries; and the parts of a form.
//!
//! Program code has such lines as well (`password = read();`, `password: String,`), and so has
//! prose: what is recognised as either is not a secret.

use super::{MAX_NAME, Role, Search, names_secret, says_nothing};
use std::ops::Range;

/// A line with a name and a value.
struct Entry {
    name: Range<usize>,
    /// The value, without surrounding space and quotes.
    value: Range<usize>,
    sign: Sign,
    /// The indentation of the line, including a list's dashes.
    indent: usize,
    is_quoted: bool,
    has_quoted_name: bool,
    /// Whether there is space before the separator.
    is_spaced: bool,
    is_exported: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Colon,
    Equals,
}

/// Masks the values of lines with a secret name, and of the lines below such a name.
pub(super) fn entries(search: &mut Search<'_>) {
    let text = search.text;
    let is_only = !text.trim_end().contains('\n');
    // Whether the text is program code, once that is determined.
    let mut source = None;
    let mut below: Option<Block> = None;
    let mut is_behind_entry = false;
    let mut start = 0;
    while start < text.len() {
        let rest = text.get(start..).unwrap_or_default();
        let end = start + rest.find('\n').unwrap_or(rest.len());
        let line = start..end;
        start = end + 1;
        if let Some(block) = below {
            match value_below(text, &line, block) {
                Below::Ends => below = None,
                Below::Nothing => continue,
                Below::Value(value) => {
                    search.member(Role::Secret, value);
                    continue;
                }
            }
        }
        settings(search, &line, is_only);
        let entry = entry(text, &line);
        let was_entry = std::mem::replace(&mut is_behind_entry, entry.is_some());
        let Some(entry) = entry else { continue };
        let name = text.get(entry.name.clone()).unwrap_or_default();
        let role = search.role(name);
        if role == Role::Plain {
            continue;
        }
        let has_neighbour = || {
            let rest = text.get(end + 1..).unwrap_or_default();
            let next = end + 1..end + 1 + rest.find('\n').unwrap_or(rest.len());
            was_entry || self::entry(text, &next).is_some()
        };
        if role == Role::Secret && entry.sign == Sign::Colon {
            below = block(text, &entry);
        }
        if below.is_none()
            && is_value(text, &entry, name, is_only, has_neighbour)
            && (role == Role::Name
                || entry.is_exported
                || !*source.get_or_insert_with(|| is_source(text)))
        {
            search.member(role, entry.value);
        }
    }
}

/// Parses a line that consists of a name and a value.
fn entry(text: &str, line: &Range<usize>) -> Option<Entry> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '[' | ']');
    let whole = text.get(line.clone())?.trim_end();
    let mut rest = whole.trim_start();
    // The line is an element of a list, or commented out.
    let mut is_comment = false;
    while let Some(inner) = rest.strip_prefix("- ") {
        rest = inner.trim_start();
    }
    let indent = whole.len() - rest.len();
    if let Some(inner) = rest.strip_prefix(['#', ';', '!']) {
        is_comment = true;
        rest = inner.trim_start();
    }
    let exported = ["export ", "set "]
        .iter()
        .find_map(|word| rest.strip_prefix(word));
    rest = exported.unwrap_or(rest);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let quoted = quote.map_or(rest, |quote| &rest[quote.len_utf8()..]);
    let name = quoted.split(|c: char| !is_name(c)).next()?;
    if name.is_empty() || name.len() > MAX_NAME || is_open(name) {
        return None;
    }
    let behind = quoted.get(name.len()..)?;
    let behind = match quote {
        Some(quote) => behind.strip_prefix(quote)?,
        None => behind,
    };
    let name_start = line.start + whole.len() - quoted.len();
    let spaced = behind.trim_start_matches([' ', '\t']);
    let sign = match spaced.chars().next()? {
        ':' if !is_comment && exported.is_none() => Sign::Colon,
        '=' => Sign::Equals,
        _ => return None,
    };
    let value = spaced.get(1..)?;
    let is_apart = match sign {
        Sign::Colon => value.is_empty() || value.starts_with([' ', '\t']),
        Sign::Equals => !value.starts_with(['=', '>', '~']),
    };
    let mut value = value.trim_start();
    let mut start = line.start + whole.len() - value.len();
    let mut is_quoted = false;
    let first = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    match first.and_then(|quote| value.get(1..)?.rfind(quote)) {
        // Only a comment follows it, if anything.
        Some(len) if is_comment_or_nothing(value.get(len + 2..)?) => {
            value = value.get(1..=len)?;
            start += 1;
            is_quoted = true;
        }
        _ => value = value.split(" #").next()?.trim_end(),
    }
    is_apart.then_some(Entry {
        name: name_start..name_start + name.len(),
        value: start..start + value.len(),
        sign,
        indent,
        is_quoted,
        has_quoted_name: quote.is_some(),
        is_spaced: spaced.len() < behind.len(),
        is_exported: exported.is_some(),
    })
}

/// Whether a name has an unclosed bracket, as in printed objects: `User[password=x]`.
fn is_open(name: &str) -> bool {
    name.matches('[').count() != name.matches(']').count()
}

fn is_comment_or_nothing(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

/// Whether the value of a line with a secret name is a secret.
fn is_value(
    text: &str,
    entry: &Entry,
    name: &str,
    is_only: bool,
    has_neighbour: impl Fn() -> bool,
) -> bool {
    let value = text.get(entry.value.clone()).unwrap_or_default();
    if entry.is_quoted {
        return true;
    }
    match entry.sign {
        Sign::Colon if entry.has_quoted_name || value.starts_with(['{', '[']) => false,
        Sign::Colon if is_type(value) => false,
        // Messages of programs say so what is wrong (`password: invalid`, `password: must not be empty`).
        Sign::Colon
            if value.chars().all(|c| c.is_alphabetic() || c == ' ') || value.contains(' ') =>
        {
            is_of_header(name, value) || is_no_word(value) || has_neighbour()
        }
        Sign::Colon => true,
        Sign::Equals => {
            let is_self = ["this.", "self."].iter().any(|own| name.starts_with(own));
            let is_statement = value.ends_with(';') && (entry.is_spaced || value.starts_with('"'));
            let is_argument = value.ends_with(',') && !is_only;
            !(is_self || is_statement || is_argument || is_expression(value))
        }
    }
}

/// Whether a value fits such a header.
fn is_of_header(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    value.contains('=') && (name.ends_with("cookie") || name.ends_with("authorization"))
}

/// Whether what stands behind a colon is a type, as of a parameter: `password: String,`.
fn is_type(value: &str) -> bool {
    const TYPES: [&str; 8] = [
        "String",
        "CharSequence",
        "CharArray",
        "ByteArray",
        "bytes",
        "any",
        "Any",
        "Secret",
    ];
    let plain = value.trim_end_matches([',', ';', '{', ' ']);
    let is_of_name = |c: char| {
        c.is_alphabetic() || matches!(c, '_' | '.' | '<' | '>' | '[' | ']' | '|' | ' ' | '?')
    };
    TYPES.contains(&plain.trim_end_matches(['?', ')']))
        || value.ends_with(',')
        || plain.len() < value.len() && plain.chars().all(is_of_name)
}

/// Whether a value has a capital letter within it, as no word of a message has.
fn is_no_word(value: &str) -> bool {
    let inner = value.chars().skip(1).any(char::is_uppercase);
    inner && value.contains(char::is_lowercase) && !value.contains(' ')
}

/// Whether the text after an equals sign is an expression: `new Secret(x)`, `read()`.
fn is_expression(value: &str) -> bool {
    let value = value.trim_end_matches(';');
    let callee = value.split('(').next().unwrap_or_default();
    let is_callee = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
    value.starts_with("new ")
        || value.ends_with(')')
            && !callee.is_empty()
            && callee.len() < value.len()
            && callee.chars().all(is_callee)
}

/// Whether a text is program code, judged by lines that hardly occur elsewhere.
fn is_source(text: &str) -> bool {
    const NAMES: [&str; 4] = ["package ", "import ", "from ", "using "];
    const DECLARES: [&str; 15] = [
        "public ",
        "private ",
        "protected ",
        "static ",
        "final ",
        "class ",
        "interface ",
        "record ",
        "enum ",
        "fun ",
        "def ",
        "val ",
        "var ",
        "let ",
        "const ",
    ];
    let is_dotted = |name: &str| {
        let name = name.trim_end_matches([';', '*']);
        name.contains('.')
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    };
    text.lines().any(|line| {
        let line = line.trim();
        let named = NAMES.iter().find_map(|word| line.strip_prefix(word));
        let names = |name: &str| {
            let name = name.strip_prefix("static ").unwrap_or(name);
            is_dotted(name) || name.ends_with(';') || name.contains(" import ")
        };
        let declares = || DECLARES.iter().any(|word| line.starts_with(word));
        let is_block = || ["def ", "class "].iter().any(|word| line.starts_with(word));
        named.is_some_and(names)
            || line.ends_with([';', '{', '(']) && declares()
            || line.ends_with(':') && is_block()
    })
}

/// A value in the lines below its name.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The indentation of the name; the value is indented more.
    indent: usize,
    /// Whether it is only a list, with a dash before each element.
    is_list: bool,
}

fn block(text: &str, entry: &Entry) -> Option<Block> {
    let value = text.get(entry.value.clone()).unwrap_or_default();
    let mut signs = value.chars();
    let is_list = match signs.next() {
        None if !entry.is_quoted => true,
        Some('|' | '>') if signs.all(|sign| matches!(sign, '-' | '+' | '0'..='9')) => false,
        _ => return None,
    };
    Some(Block {
        indent: entry.indent,
        is_list,
    })
}

/// The kind of a line, if the value of the previous one may continue.
enum Below {
    Value(Range<usize>),
    Nothing,
    Ends,
}

fn value_below(text: &str, line: &Range<usize>, block: Block) -> Below {
    let whole = text.get(line.clone()).unwrap_or_default().trim_end();
    let mut value = whole.trim_start();
    if value.is_empty() {
        return Below::Nothing;
    }
    let is_deeper = whole.len() - value.len() > block.indent;
    let is_element = value.starts_with("- ");
    value = value.trim_start_matches("- ");
    let start = line.start + whole.len() - value.len();
    let belongs = match block.is_list {
        true => is_element,
        false => is_deeper,
    };
    // In an object, each member is judged by its own name.
    match entry(text, line) {
        Some(entry) if entry.sign == Sign::Colon => Below::Ends,
        _ if belongs => Below::Value(start..start + value.len()),
        _ => Below::Ends,
    }
}

/// Masks a query, with or without its path, and settings of a connection: a line that consists of
/// names with their values.
fn settings(search: &mut Search<'_>, line: &Range<usize>, is_only: bool) {
    let whole = search.text.get(line.clone()).unwrap_or_default();
    if !whole.contains('=') {
        return;
    }
    // The query follows the path.
    let query = whole.bytes().enumerate().find(|&(at, byte)| {
        let next = whole.as_bytes().get(at + 1);
        byte == b'?' && next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_')
    });
    let mut at = query.map_or(0, |(mark, _)| mark + 1);
    let mut found = Vec::new();
    let mut count = 0;
    let is_statement = whole.trim_end().ends_with(';');
    for part in whole.get(at..).unwrap_or_default().split(['&', ';']) {
        let start = line.start + at;
        at += part.len() + 1;
        if part.trim().is_empty() {
            continue;
        }
        let Some((name, value)) = part.split_once('=') else {
            return;
        };
        let is_name =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '[' | ']');
        let is_spaced = name.ends_with(' ');
        let is_of_program = is_spaced && is_statement
            || name.trim().contains(' ') && (is_spaced || value.starts_with(['"', '\'']));
        if !name.chars().all(is_name) || is_of_program || is_open(name) {
            return;
        }
        count += 1;
        let value_start = start + name.len() + 1 + value.len() - value.trim_start().len();
        let mut value = value.trim();
        if query.is_some() {
            value = value
                .split([' ', '"', '\'', '#'])
                .next()
                .unwrap_or_default();
        }
        if !says_nothing(value) && names_secret(name.trim(), search.is_secret) {
            found.push(value_start..value_start + value.len());
        }
    }
    if count > 1 || query.is_some() || is_only {
        search.found.extend(found);
    }
}

/// Masks the parts of a form by their names (RFC 7578).
pub(super) fn parts(search: &mut Search<'_>) {
    const DISPOSITION: &str = "form-data;";
    const MAX_HEADERS: usize = 10;
    let text = search.text;
    let mut at = 0;
    while let Some(next) = (text.get(at..)).and_then(|rest| rest.find(DISPOSITION)) {
        let behind = at + next + DISPOSITION.len();
        let rest = text.get(behind..).unwrap_or_default();
        let header = rest.split(['\r', '\n']).next().unwrap_or_default();
        // A header is a line of its own and is read once.
        at = behind + header.len();
        let name = header
            .split(';')
            .find_map(|part| part.trim_start().strip_prefix("name="));
        let Some(name) = name.map(|name| name.trim().trim_matches('"')) else {
            continue;
        };
        if !names_secret(name, search.is_secret) {
            continue;
        }
        // The content follows an empty line.
        let mut start = behind;
        let mut lines = rest.split_inclusive('\n').take(MAX_HEADERS);
        let has_value = lines.any(|line| {
            start += line.len();
            line.trim().is_empty()
        });
        if has_value {
            let value = text.get(start..).unwrap_or_default();
            let value = value
                .split("\n--")
                .next()
                .unwrap_or_default()
                .trim_end_matches('\r');
            at = start + value.len();
            search.member(Role::Secret, start..at);
        }
    }
}
