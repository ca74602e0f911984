//! Members of JSON and elements of XML with secret names, in any text that has such parts.
//!
//! Texts are often not whole documents: a request has headers in front, a message quotes a part, a
//! buffer holds the beginning. So a member is recognised by its surroundings alone, and so is a
//! document in a string of another one.

use super::{MAX_NAME, Role, Search};
use std::iter;
use std::ops::Range;

/// The possible numbers of backslashes before a quote that begins or ends a string: none in a
/// document, one if the document is in a string of another one, and so on.
const ESCAPES: [usize; 4] = [0, 1, 3, 7];

/// The name of a member, before its colon.
struct Name {
    text: Range<usize>,
    /// The number of backslashes before its quotes; `None` if it has no quotes, as in JavaScript
    /// and GraphQL.
    escapes: Option<usize>,
}

/// Masks members of JSON whose names make them secret: strings, numbers, and the elements of an
/// array of these.
pub(super) fn json(search: &mut Search<'_>) {
    let text = search.text;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(colon) = find(bytes, at, b':') {
        at = colon + 1;
        let Some(name) = name_before(bytes, colon) else {
            continue;
        };
        let start = behind_space(bytes, at);
        let escapes = backslashes_at(bytes, start);
        let quote = bytes.get(start + escapes).copied();
        let is_string = matches!(quote, Some(b'"' | b'\''))
            && name
                .escapes
                .map_or(ESCAPES.contains(&escapes), |of| of == escapes);
        if !is_string && (name.escapes.is_none() || escapes > 0) {
            continue;
        }
        let role = search.role(text.get(name.text).unwrap_or_default());
        if role == Role::Plain {
            continue;
        }
        if is_string {
            let value = string(bytes, start + escapes);
            if role == Role::Secret {
                at = value.end;
            }
            search.member(role, value);
            continue;
        }
        match quote {
            Some(b'-' | b'0'..=b'9') => search.member(role, start..number_end(bytes, start)),
            Some(b'[') if role == Role::Secret => at = array(search, start + 1),
            // It may contain a member called `value`.
            Some(b'{') if role == Role::Secret => search.named = 1,
            _ => {}
        }
    }
}

/// The name of a member before a colon, if the text before it fits an object.
fn name_before(bytes: &[u8], colon: usize) -> Option<Name> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    let end = before_space(bytes, colon);
    let last = *bytes.get(end.checked_sub(1)?)?;
    let lowest = end.saturating_sub(MAX_NAME);
    if matches!(last, b'"' | b'\'') {
        let quote = end - 1;
        let escapes = backslashes_before(bytes, quote);
        let text_end = quote - escapes;
        let opening = bytes
            .get(lowest..text_end)?
            .iter()
            .rposition(|byte| *byte == last)?;
        let text = lowest + opening + 1..text_end;
        let is_plain = bytes[text.clone()]
            .iter()
            .all(|byte| *byte != b'\\' && !byte.is_ascii_control());
        let opens = ESCAPES.contains(&escapes)
            && is_plain
            && backslashes_before(bytes, text.start - 1) == escapes
            && is_behind(bytes, text.start - 1 - escapes, b"{,");
        return opens.then_some(Name {
            text,
            escapes: Some(escapes),
        });
    }
    let others = bytes
        .get(lowest..end)?
        .iter()
        .rposition(|byte| !is_letter(byte));
    let start = others.map_or(lowest, |other| lowest + other + 1);
    let first = bytes[start..end].first()?;
    (!first.is_ascii_digit() && start > 0 && is_behind(bytes, start, b"{,(")).then_some(Name {
        text: start..end,
        escapes: None,
    })
}

/// Whether one of these characters precedes a place, with nothing but space between, or nothing at
/// all does.
fn is_behind(bytes: &[u8], place: usize, signs: &[u8]) -> bool {
    let mut end = before_space(bytes, place);
    // In a document inside a string, space is escaped: `{\n`.
    while let Some(letter @ (b'n' | b'r' | b't')) = end.checked_sub(1).map(|last| bytes[last])
        && backslashes_before(bytes, end - 1) > 0
        && letter.is_ascii()
    {
        end = before_space(bytes, end - 1 - backslashes_before(bytes, end - 1));
    }
    end.checked_sub(1)
        .is_none_or(|last| signs.contains(&bytes[last]))
}

/// The text between the quotes of a string, whose quotes have the same number of backslashes as
/// this first one.
fn string(bytes: &[u8], quote: usize) -> Range<usize> {
    let escapes = backslashes_before(bytes, quote);
    let mut at = quote + 1;
    while let Some(next) = find(bytes, at, bytes[quote]) {
        let before =
            backslashes_before(bytes.get(quote + 1..).unwrap_or_default(), next - quote - 1);
        // A quote inside it has more backslashes, because it is escaped once more.
        if !(before + 1).is_multiple_of(2 * (escapes + 1)) {
            return quote + 1..next - before.min(escapes);
        }
        at = next + 1;
    }
    quote + 1..bytes.len()
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let is_digit =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    let digits = bytes[start..].iter().take_while(|byte| is_digit(byte));
    start + digits.count()
}

/// Masks the strings and numbers of an array whose name makes them secret. Returns where it has
/// stopped.
fn array(search: &mut Search<'_>, start: usize) -> usize {
    let bytes = search.text.as_bytes();
    let mut at = start;
    loop {
        at = behind_space(bytes, at);
        let quote = at + backslashes_at(bytes, at);
        let value = match bytes.get(quote) {
            Some(b'"' | b'\'') => string(bytes, quote),
            Some(b'-' | b'0'..=b'9') => at..number_end(bytes, at),
            _ => return at,
        };
        at = value.end;
        if value.start > quote {
            at += backslashes_at(bytes, at) + 1;
        }
        at = behind_space(bytes, at);
        search.member(Role::Secret, value);
        match bytes.get(at) {
            Some(b',') => at += 1,
            _ => return at.min(bytes.len()),
        }
    }
}

/// Masks elements and attributes of XML and HTML whose names, with any prefix, make them secret,
/// and values of elements that are named by an attribute: `<property name="password" value="X"/>`.
pub(super) fn xml(search: &mut Search<'_>) {
    let text = search.text;
    let bytes = text.as_bytes();
    let mut data = DataEnds::default();
    let mut at = 0;
    while let Some(open) = find(bytes, at, b'<') {
        at = open + 1;
        let name = xml_name(bytes, at);
        if name.is_empty() {
            continue;
        }
        let outer = std::mem::take(&mut search.named);
        let content = attributes(search, name.end);
        let is_named = search.named > 0;
        if !is_named {
            search.named = outer;
        }
        if let Some(value) = content.and_then(|content| leaf(bytes, &name, content, &mut data)) {
            let role = match is_named {
                true => Role::Secret,
                false => search.role(local(text.get(name).unwrap_or_default())),
            };
            if role == Role::Secret {
                // What seems to begin in a section is a part of it.
                at = value.end;
            }
            search.member(role, value);
        }
    }
}

/// A name without the prefix of its namespace.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

/// The name at a place; empty if there is none.
fn xml_name(bytes: &[u8], start: usize) -> Range<usize> {
    let is_letter = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-' | b'.' | b':')
            || !byte.is_ascii()
    };
    let rest = bytes.get(start..).unwrap_or_default();
    let len = match rest.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
            rest.iter().take_while(|byte| is_letter(byte)).count()
        }
        _ => 0,
    };
    start..start + len
}

/// Handles the attributes of a tag, from the end of its name on. Returns where the content begins;
/// `None` if there is none, or it is not a tag.
fn attributes(search: &mut Search<'_>, start: usize) -> Option<usize> {
    let text = search.text;
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        let next = behind_space(bytes, at);
        if bytes.get(next) == Some(&b'>') {
            return Some(next + 1);
        }
        let name = xml_name(bytes, next);
        if next == at || name.is_empty() {
            return None;
        }
        let equals = behind_space(bytes, name.end);
        if bytes.get(equals) != Some(&b'=') {
            // HTML allows this: `disabled`.
            at = name.end;
            continue;
        }
        let start = behind_space(bytes, equals + 1);
        // In a string of a document the quotes are escaped.
        let quote = start + backslashes_at(bytes, start);
        let value = match bytes.get(quote)? {
            mark @ (b'"' | b'\'') => {
                let is_end = |byte: &u8| byte == mark || *byte == b'<';
                let len = bytes.get(quote + 1..)?.iter().position(is_end)?;
                let end = quote + 1 + len;
                if bytes[end] == b'<' {
                    return None;
                }
                at = end + 1;
                quote + 1..end - backslashes_before(bytes, end).min(quote - start)
            }
            // HTML allows this: `name=password`.
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b"<>\"'=".contains(byte);
                at = start + bytes.get(start..)?.iter().position(ends)?;
                start..at
            }
        };
        let role = search.role(local(text.get(name).unwrap_or_default()));
        search.member(role, value);
    }
}

/// The end of a `CDATA` section, searched once however many seem to begin.
#[derive(Default)]
struct DataEnds {
    next: usize,
    /// The end without the space before the terminator.
    text: usize,
    /// The place behind the terminator and the space that follows it.
    behind: usize,
}

impl DataEnds {
    const SIGN: &[u8] = b"]]>";

    /// The first end from a place on, or the end of the text: the content up to there, without
    /// surrounding space, and the place behind it.
    fn from(&mut self, bytes: &[u8], place: usize) -> (Range<usize>, usize) {
        if self.next < place {
            let mut parts = bytes[place..].windows(Self::SIGN.len());
            let end = parts.position(|part| part == Self::SIGN);
            self.next = end.map_or(bytes.len(), |end| place + end);
            self.text = before_space(bytes, self.next);
            self.behind = behind_space(bytes, self.next + Self::SIGN.len());
        }
        let start = behind_space(&bytes[..self.text.max(place)], place);
        (start..self.text.max(start), self.behind)
    }
}

/// The text of an element that contains nothing else.
fn leaf(
    bytes: &[u8],
    name: &Range<usize>,
    start: usize,
    data: &mut DataEnds,
) -> Option<Range<usize>> {
    const DATA: &[u8] = b"<![CDATA[";
    let mut end = find(bytes, start, b'<')?;
    let first = behind_space(&bytes[..end], start);
    let mut value = first..before_space(bytes, end).max(first);
    if value.is_empty() && bytes[end..].starts_with(DATA) {
        (value, end) = data.from(bytes, end + DATA.len());
    }
    let closing = bytes.get(end..)?.strip_prefix(b"</")?;
    let closing = closing.strip_prefix(&bytes[name.clone()])?;
    let closing = &closing[..closing.len().min(MAX_NAME)];
    let is_closed = closing.trim_ascii_start().first() == Some(&b'>');
    (is_closed && !value.is_empty()).then_some(value)
}

/// The text that a string literal of JSON, or of most languages, stands for.
pub(super) fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('u') => match escaped(rest.as_str()) {
                Some((decoded, behind)) => {
                    plain.push(decoded);
                    rest = behind.chars();
                }
                None => plain.push('u'),
            },
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}

/// The character with these hexadecimal digits, and the text behind it: two UTF-16 units may be one
/// character.
fn escaped(digits: &str) -> Option<(char, &str)> {
    let unit = |digits: &str| u16::from_str_radix(digits.get(..4)?, 16).ok();
    let second = digits.get(4..).and_then(|rest| rest.strip_prefix("\\u"));
    let units = iter::once(unit(digits)?).chain(second.and_then(unit));
    let decoded = char::decode_utf16(units).next()?.ok()?;
    let behind = match decoded.len_utf16() {
        1 => &digits[4..],
        _ => &second?[4..],
    };
    Some((decoded, behind))
}

/// The text that a text in XML stands for.
pub(super) fn without_entities(text: &str) -> String {
    let mut plain = without_numbers(text);
    for (entity, sign) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(entity, sign);
    }
    plain
}

/// A text with its numeric character references replaced.
fn without_numbers(text: &str) -> String {
    let character = |number: &str| {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        code.ok().and_then(char::from_u32)
    };
    let mut parts = text.split("&#");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let decoded = part.split_once(';');
        match decoded.and_then(|(number, behind)| Some((character(number)?, behind))) {
            Some((decoded, behind)) => {
                plain.push(decoded);
                plain.push_str(behind);
            }
            None => {
                plain.push_str("&#");
                plain.push_str(part);
            }
        }
    }
    plain
}

fn find(bytes: &[u8], from: usize, sign: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter()
        .position(|byte| *byte == sign)
        .map(|at| from + at)
}

fn behind_space(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.len() - rest.trim_ascii_start().len()
}

fn before_space(bytes: &[u8], to: usize) -> usize {
    bytes[..to].trim_ascii_end().len()
}

fn backslashes_before(bytes: &[u8], to: usize) -> usize {
    let before = bytes[..to].iter().rev();
    before.take_while(|byte| **byte == b'\\').count()
}

fn backslashes_at(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default().iter();
    rest.take_while(|byte| **byte == b'\\').count()
}
