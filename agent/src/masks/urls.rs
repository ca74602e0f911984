//! Credentials that are recognised by the form of a URL, a header or a key.

use super::{MAX_NAME, MIN_TOKEN, Search, is_option_secret};
use std::ops::Range;

/// The bytes of the longest password in an Oracle login.
const MAX_PASSWORD: usize = 500;

/// Masks the passwords of URLs: between the first colon and the at sign of the authority (RFC 3986,
/// section 3.2.1).
pub(super) fn passwords(search: &mut Search<'_>) {
    let text = search.text;
    for (scheme, _) in text.match_indices("://") {
        let start = scheme + 3;
        let rest = text.get(start..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '<' | '>');
        let authority = rest.split(ends).next().unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@')
            && let Some(colon) = user.find(':')
            && colon + 1 < user.len()
        {
            search.found.push(start + colon + 1..start + user.len());
        }
    }
}

/// Masks the passwords of Oracle's drivers, which are not part of a URL's authority:
/// `jdbc:oracle:thin:scott/X@db:1521/x`, `...:scott/X@//host`, `...:scott/X@(DESCRIPTION=...)`.
pub(super) fn oracle(search: &mut Search<'_>) {
    const VENDOR: &str = "oracle:";
    let text = search.text;
    let ends = |c: char| c.is_whitespace() || matches!(c, '@' | '"' | '\'' | '<' | '>');
    let mut from = 0;
    for (at, _) in text.match_indices(VENDOR) {
        if at < from {
            continue;
        }
        let login = text.get(at + VENDOR.len()..).unwrap_or_default();
        let Some((user, password)) = within(login, MAX_NAME).split_once('/') else {
            continue;
        };
        if user.contains(ends) {
            continue;
        }
        let start = text.len() - login.len() + user.len() + 1;
        // A quoted password may contain any characters.
        let is_quoted = password.starts_with('"');
        let start = start + usize::from(is_quoted);
        let password = within(text.get(start..).unwrap_or_default(), MAX_PASSWORD);
        let (rest, len) = match is_quoted {
            true => (password, password.find("\"@")),
            false => {
                let ends = |c: char| c != '@' && ends(c);
                let rest = password.split(ends).next().unwrap_or_default();
                let len = (rest.find("@//"))
                    .or_else(|| rest.find("@("))
                    .or_else(|| rest.split('?').next()?.rfind('@'));
                (rest, len)
            }
        };
        // Another login that begins in it has no other end, unless that is further away, or this
        // one is too long.
        from = start
            + match len {
                Some(len) => rest.find('@').unwrap_or(len),
                None if rest.len() < password.len() => rest.len(),
                None => rest.len() / 2,
            };
        let found = len.filter(|len| *len > 0);
        search.found.extend(found.map(|len| start..start + len));
    }
}

/// The beginning of a text, of at most this many bytes: many logins may seem to begin before one
/// end.
fn within(text: &str, len: usize) -> &str {
    &text[..text.floor_char_boundary(len)]
}

/// Masks secret parameters of URLs: `?password=X&ssl=true`, or as some database drivers require,
/// `;password=X;encrypt=true`, even if they connect to a file (`jdbc:h2:./db;password=X`).
pub(super) fn parameters(search: &mut Search<'_>) {
    let text = search.text;
    let Some(mut at) = text.find("jdbc:").or_else(|| text.find("://")) else {
        return;
    };
    while let Some(next) = (text.get(at..)).and_then(|rest| rest.find(['?', '&', ';'])) {
        at += next + 1;
        let rest = text.get(at..).unwrap_or_default();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
        let name = rest.split(|c: char| !is_name(c)).next().unwrap_or_default();
        let Some(value) = (rest.get(name.len()..)).and_then(|rest| rest.strip_prefix('=')) else {
            continue;
        };
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '&' | ';' | '#' | '"' | '\'' | '<' | '>');
        if is_option_secret(name, search.is_secret) {
            let value = value.split(ends).next().unwrap_or_default();
            let start = at + name.len() + 1;
            at = start + value.len();
            if !value.is_empty() {
                search.found.push(start..at);
            }
        }
    }
}

/// Masks what follows the scheme in an HTTP header (`Authorization: Bearer X`, RFC 9110, section
/// 11.6.2), or in the value of such a header alone.
pub(super) fn headers(search: &mut Search<'_>) {
    const NAME: &str = "uthorization:";
    let text = search.text;
    for (at, _) in text.match_indices(NAME) {
        let start = at + NAME.len();
        let rest = text.get(start..).unwrap_or_default();
        let start = start + rest.len() - rest.trim_start().len();
        let value = text.get(start..).unwrap_or_default();
        // After the header's name this is not an ordinary word.
        let of_header = || scheme_and_token(value, &["token"]);
        if let Some(token) = scheme_and_token(value, &SCHEMES).or_else(of_header) {
            search.found.push(start + token.start..start + token.end);
        }
    }
    search.found.extend(token(text));
}

/// The place of the token in the value of such a header.
pub(super) fn token(text: &str) -> Option<Range<usize>> {
    let value = text.trim_start();
    let before = text.len() - value.len();
    let token = scheme_and_token(value, &SCHEMES)?;
    (token.end == value.trim_end().len()).then_some(before + token.start..before + token.end)
}

/// The authentication schemes.
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// The place of a token in a text that begins with one of these schemes.
fn scheme_and_token(text: &str, schemes: &[&str]) -> Option<Range<usize>> {
    let is_known = |scheme: &&&str| {
        let said = text.get(..scheme.len());
        said.is_some_and(|said| said.eq_ignore_ascii_case(scheme))
            && text.as_bytes().get(scheme.len()) == Some(&b' ')
    };
    let start = schemes.iter().find(is_known)?.len() + 1;
    let ends = [' ', '\r', '\n', '"', '\'', ',', '\\'];
    let token = text.get(start..)?.split(ends).next()?;
    (token.len() >= MIN_TOKEN).then_some(start..start + token.len())
}

/// Masks private keys in text form (RFC 7468, section 10).
pub(super) fn private_keys(search: &mut Search<'_>) {
    const LABEL: &str = "PRIVATE KEY-----";
    const END: &str = "-----END";
    let text = search.text;
    let mut at = 0;
    while let Some(label) = (text.get(at..)).and_then(|rest| rest.find(LABEL)) {
        let start = at + label + LABEL.len();
        let rest = text.get(start..).unwrap_or_default();
        let end = rest.find(END).map_or(text.len(), |end| start + end);
        if end - start >= MIN_TOKEN {
            search.found.push(start..end);
        }
        // The label also follows the key.
        let behind = text.get(end..).unwrap_or_default();
        at = end + behind.find(LABEL).map_or(0, |label| label + LABEL.len());
        if at == end {
            break;
        }
    }
}

/// A text with percent encoding (RFC 3986, section 2.1) and the plus signs of forms decoded.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| {
        bytes
            .get(at)
            .and_then(|byte| char::from(*byte).to_digit(16))
    };
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        plain.push(match (byte, digit(at), digit(at + 1)) {
            (b'%', Some(high), Some(low)) => {
                at += 2;
                (high << 4 | low) as u8
            }
            (b'+', ..) => b' ',
            _ => *byte,
        });
    }
    String::from_utf8_lossy(&plain).into_owned()
}
