//! Secrets in what has no fields: command lines, properties, and texts of all kinds.
//!
//! - [`credentials`] finds what is secret in a text, by its form or by the names in it.
//! - [`argument`] decides what an argument of a command line says about secrets.
//! - [`forms`] returns the forms that a secret may have elsewhere.
//! - `documents`, `lines`, `printed`, `statements` and `urls` hold the rules, each for one kind of
//!   text.
//!
//! **Invariant:** each rule takes time in proportion to a text's length, however often something
//! seems to begin in it, because a text may have megabytes.

mod documents;
mod lines;
mod printed;
mod statements;
#[cfg(test)]
mod tests;
mod urls;

use std::ops::Range;
use std::{fs, iter};

/// What stands in place of a secret.
pub(crate) const MASK: &str = "***";

/// Names that are secret on a command line and hardly elsewhere.
const OF_OPTIONS: &[&str] = &["token", "auth", "pass", "credentials"];

/// The length of the shortest token; anything shorter is an ordinary word.
const MIN_TOKEN: usize = 8;

/// The bytes of the longest name that is examined.
const MAX_NAME: usize = 100;

/// The most members between a name and the value that belongs to it.
const MAX_BETWEEN: u8 = 4;

/// How many times a secret may be escaped.
const MAX_NESTED: usize = 3;

/// What an argument of a command line says about secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Says {
    Nothing,
    /// The next argument is a secret: `--password`.
    NextIsSecret,
    /// Parts of the argument are: `--password=...`, `https://user:...@host`.
    HasSecret(Vec<Range<usize>>),
}

/// Whether an option or property of this name holds a secret: `--db-password`, `db.password`.
pub(crate) fn names_secret(text: &str, is_secret: &dyn Fn(&str) -> bool) -> bool {
    let name = text.trim_start_matches(['-', '.']);
    // A user's own patterns do not expect hyphens.
    let named = |name: &str| {
        name.split('.').any(is_secret)
            || name.contains('.')
                && ["", "_"]
                    .iter()
                    .any(|sign| is_secret(&name.replace('.', sign)))
    };
    named(name) || name.contains('-') && named(&name.replace('-', ""))
}

/// Whether a value with this name in a command line or URL is a secret.
fn is_option_secret(name: &str, is_secret: &dyn Fn(&str) -> bool) -> bool {
    names_secret(name, is_secret)
        || OF_OPTIONS
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
}

/// What an argument says about secrets.
pub(crate) fn argument(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Says {
    match option(text, is_secret) {
        Says::Nothing if !is_own(text) => {
            match search(text, is_secret, &BY_NAME, printed::BEFORE_SETTINGS) {
                parts if parts.is_empty() => Says::Nothing,
                parts => Says::HasSecret(parts),
            }
        }
        says => says,
    }
}

/// What an argument says by its name alone.
pub(crate) fn option(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Says {
    if text.starts_with("-agent") {
        // The text before the first `=` is a library.
        return Says::Nothing;
    }
    let is_option = text.starts_with(['-', '/']);
    let end = match text.find('=') {
        Some(end) => Some(end),
        None => text.find(':').filter(|_| is_option),
    };
    let key = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let key = key.strip_prefix("-D").unwrap_or(key);
    let key = key.trim_start_matches(['-', '/']);
    // It is a line of code, or a sentence.
    if key.contains(char::is_whitespace) {
        return Says::Nothing;
    }
    match end {
        Some(end) if is_option_secret(key, is_secret) => {
            Says::HasSecret(iter::once(end + 1..text.len()).collect())
        }
        None if text.starts_with('-') && is_option_secret(key, is_secret) => Says::NextIsSecret,
        _ => Says::Nothing,
    }
}

/// Whether it has this agent's own options, which name secrets and contain none.
fn is_own(text: &str) -> bool {
    let library = text.strip_prefix("-agent").unwrap_or_default();
    let library = library.split('=').next().unwrap_or_default();
    let file = library.rsplit(['/', ':']).next().unwrap_or_default();
    file.contains("hindsight")
}

/// The rules that depend on names.
const BY_NAME: [fn(&mut Search<'_>); 6] = [
    documents::json,
    documents::xml,
    lines::entries,
    lines::parts,
    printed::components,
    statements::passwords,
];

/// The parts of a text that grant access, in the order of the text: in URLs and headers ([`urls`]),
/// by the names of members and elements ([`documents`]), of lines and settings ([`lines`]), of what
/// objects print ([`printed`]), and in SQL ([`statements`]). The parts may overlap.
pub(crate) fn credentials(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    search(text, is_secret, &BY_NAME, printed::BEFORE_COMPONENTS)
}

/// The same for a text without names of secrets, except those of options.
pub(crate) fn credentials_by_form(
    text: &str,
    is_secret: &dyn Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    search(text, is_secret, &[], printed::BEFORE_COMPONENTS)
}

fn search(
    text: &str,
    is_secret: &dyn Fn(&str) -> bool,
    by_name: &[fn(&mut Search<'_>)],
    before_names: &'static [char],
) -> Vec<Range<usize>> {
    let by_form = [
        urls::passwords,
        urls::oracle,
        urls::parameters,
        urls::headers,
        urls::private_keys,
    ];
    let mut search = Search::new(text, is_secret, before_names);
    for rule in by_form.iter().chain(by_name) {
        search.named = 0;
        rule(&mut search);
    }
    let mut found = search.found;
    found.sort_by_key(|part| (part.start, part.end));
    found.dedup();
    found
}

/// Whether it is worthwhile to look for credentials in a text: most texts have none of the signs of
/// which credentials have at least one.
pub(crate) fn may_let_in<U: Copy + Into<u16>>(units: &[U]) -> bool {
    const BEGINNINGS: [&[u8]; 7] = [
        b"bearer ", b"basic ", b"-----", b"create ", b"alter ", b"grant ", b"set pas",
    ];
    // Without an early exit from the loop, the compiler compares many at once.
    let has_sign = |units: &[U]| {
        units.iter().fold(false, |found, unit| {
            let unit: u16 = (*unit).into();
            found
                | (unit == u16::from(b':'))
                | (unit == u16::from(b'='))
                | (unit == u16::from(b'<'))
        })
    };
    if units.chunks(256).any(has_sign) {
        return true;
    }
    // In bytes of UTF-16, every other byte is zero.
    let lower = |unit: &U| u8::try_from((*unit).into()).map_or(0, |byte| byte.to_ascii_lowercase());
    let letters = units.iter().take(100).map(lower).filter(|byte| *byte != 0);
    let first: Vec<u8> = letters
        .skip_while(u8::is_ascii_whitespace)
        .take(7)
        .collect();
    BEGINNINGS
        .iter()
        .any(|beginning| first.starts_with(beginning))
}

/// A text that is searched for secrets.
struct Search<'a> {
    text: &'a str,
    is_secret: &'a dyn Fn(&str) -> bool,
    found: Vec<Range<usize>>,
    /// The characters after which a name stands in what objects print.
    before_names: &'static [char],
    /// The number of members from here on among which one called `value` is a secret, because an
    /// earlier one was the name of one: `{"name": "password", "value": "X"}`.
    named: u8,
}

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Secret,
    /// The value is the name of another value.
    Name,
    Plain,
}

impl<'a> Search<'a> {
    fn new(
        text: &'a str,
        is_secret: &'a dyn Fn(&str) -> bool,
        before_names: &'static [char],
    ) -> Search<'a> {
        Search {
            text,
            is_secret,
            found: Vec::new(),
            before_names,
            named: 0,
        }
    }

    /// The role of the next member of a document, by its name.
    fn role(&mut self, name: &str) -> Role {
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        if is(&["name", "key"]) {
            self.named = 0;
            return Role::Name;
        }
        let was_named = self.named > 0;
        self.named = self.named.saturating_sub(1);
        match was_named && is(&["value", "content"]) || names_secret(name, self.is_secret) {
            true => Role::Secret,
            false => Role::Plain,
        }
    }

    /// Handles the value of a member.
    fn member(&mut self, role: Role, value: Range<usize>) {
        let said = self.text.get(value.clone()).unwrap_or_default();
        match role {
            Role::Secret if !says_nothing(said) => self.found.push(value),
            Role::Name if said.len() <= MAX_NAME && names_secret(said, self.is_secret) => {
                self.named = MAX_BETWEEN;
            }
            _ => {}
        }
    }
}

/// Whether a value is not a secret, whatever its name: it is empty, a boolean, a small number, a
/// type, masked before, or a reference to the secret (`${PASSWORD}`).
fn says_nothing(value: &str) -> bool {
    const WORDS: [&str; 17] = [
        "null",
        "nil",
        "none",
        "~",
        "undefined",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "required",
        "optional",
        "string",
        "str",
        "text",
        "password",
    ];
    let value = value.trim();
    let is_reference = || {
        let inner = value
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'));
        // The part after a colon may be a default value.
        inner.is_some_and(|inner| !inner.contains([':', '{']))
    };
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.chars().all(|c| matches!(c, '*' | '\u{2022}'))
        || value.len() < 3 && value.bytes().all(|byte| byte.is_ascii_digit())
        || is_reference()
}

/// The forms of a secret: as it is in a text, and as a reader of the text decodes it.
pub(crate) fn forms(secret: &str) -> Vec<String> {
    let mut all = vec![secret.to_owned()];
    let mut add = |form: String| {
        if !all.contains(&form) {
            all.push(form);
        }
    };
    let mut plain = secret.to_owned();
    // A document may be a string in another one, repeatedly.
    for _ in 0..MAX_NESTED {
        if !plain.contains('\\') {
            break;
        }
        plain = documents::without_escapes(&plain);
        add(plain.clone());
    }
    if secret.contains('&') {
        add(documents::without_entities(secret));
    }
    if secret.contains('%') {
        add(urls::decoded(secret));
    }
    if let Some(token) = urls::token(secret) {
        add(secret.get(token).unwrap_or_default().to_owned());
    }
    all
}

/// A text with parts masked, which are in order and may overlap.
pub(crate) fn masked(text: &str, parts: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for part in parts {
        if part.start >= done {
            masked += text.get(done..part.start).unwrap_or_default();
            masked += MASK;
        }
        done = done.max(part.end);
    }
    masked + text.get(done..).unwrap_or_default()
}

/// Passes on what was masked, unless it is an insignificant word: it is a secret elsewhere as well.
fn tell(found: &mut dyn FnMut(&str), secret: &str) {
    if !says_nothing(secret) {
        found(secret);
    }
}

/// The value of a property, with its secrets masked and passed to `found`.
pub(crate) fn property(
    name: &str,
    value: &str,
    is_secret: &dyn Fn(&str) -> bool,
    found: &mut dyn FnMut(&str),
) -> String {
    if names_secret(name, is_secret) {
        tell(found, value);
        return MASK.to_owned();
    }
    let parts = credentials(value, is_secret);
    tell_parts(found, value, &parts);
    masked(value, &parts)
}

fn tell_parts(found: &mut dyn FnMut(&str), text: &str, parts: &[Range<usize>]) {
    let secrets = parts.iter().filter_map(|part| text.get(part.clone()));
    secrets.for_each(|secret| tell(found, secret));
}

/// The command line of this process, with what looks like a secret masked and passed to `found`.
pub(crate) fn command_line(
    is_secret: &dyn Fn(&str) -> bool,
    found: &mut dyn FnMut(&str),
) -> Vec<String> {
    let raw = fs::read("/proc/self/cmdline").unwrap_or_default();
    let parts = raw.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    arguments(
        parts.map(|part| String::from_utf8_lossy(part).into_owned()),
        is_secret,
        found,
    )
}

fn arguments(
    parts: impl Iterator<Item = String>,
    is_secret: &dyn Fn(&str) -> bool,
    found: &mut dyn FnMut(&str),
) -> Vec<String> {
    let mut mask_next = false;
    let mask = |part: String| {
        if std::mem::take(&mut mask_next) {
            tell(found, &part);
            return MASK.to_owned();
        }
        match argument(&part, is_secret) {
            Says::Nothing => part,
            Says::NextIsSecret => {
                mask_next = true;
                part
            }
            Says::HasSecret(parts) => {
                tell_parts(found, &part, &parts);
                masked(&part, &parts)
            }
        }
    };
    parts.map(mask).collect()
}
