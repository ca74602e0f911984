//! SQL statements that set a password: `CREATE USER joe PASSWORD 'x'`, `ALTER USER joe IDENTIFIED
//! BY 'x'`, `SET PASSWORD FOR joe = 'x'`, `UPDATE users SET password = 'x'`.

use super::{Role, Search, names_secret};

/// The first words of such statements; others are not examined.
const VERBS: [&str; 5] = ["alter", "create", "grant", "set", "update"];

/// The words that may be between a name and its value.
const BETWEEN: [&str; 7] = ["as", "by", "e", "encrypted", "hash", "n", "with"];

/// Masks the strings after names of secrets, and after `IDENTIFIED BY`.
pub(super) fn passwords(search: &mut Search<'_>) {
    let text = search.text;
    let bytes = text.as_bytes();
    let mut verb = verb(text);
    let (mut is_identified, mut is_named, mut awaits) = (false, false, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b';' => {
                verb = self::verb(text.get(at + 1..).unwrap_or_default());
                (is_identified, is_named, awaits) = (false, false, false);
            }
            _ if verb.is_none() => {}
            b'\'' | b'"' => {
                let Some(end) = string_end(bytes, at) else {
                    // No further string can end.
                    return;
                };
                if std::mem::take(&mut awaits) {
                    search.member(Role::Secret, at + 1..end);
                }
                at = end;
            }
            b'=' => awaits |= is_named && verb == Some("set"),
            _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let rest = &bytes[at..];
                let len = rest.iter().position(|byte| !is_of_word(byte));
                let end = at + len.unwrap_or(rest.len());
                let word = text.get(at..end).unwrap_or_default().to_ascii_lowercase();
                let names = word.len() <= super::MAX_NAME && names_secret(&word, search.is_secret);
                is_named |= names;
                is_identified |= word == "identified";
                awaits = names
                    || word == "by" && is_identified
                    || awaits && BETWEEN.contains(&word.as_str());
                at = end - 1;
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => awaits = false,
        }
        at += 1;
    }
}

/// The verb with which a statement begins, if it is one of these.
fn verb(statement: &str) -> Option<&'static str> {
    let statement = statement.trim_start();
    VERBS.into_iter().find(|verb| {
        let begins = statement.get(..verb.len());
        begins.is_some_and(|begins| begins.eq_ignore_ascii_case(verb))
            && statement[verb.len()..].starts_with(char::is_whitespace)
    })
}

/// The end of a string, in which two quotes stand for one.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let mut at = start + 1;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == quote)?;
        if bytes.get(at + 1) != Some(&quote) {
            return Some(at);
        }
        at += 2;
    }
}
