//! Secrets in what has no fields: command lines, properties, URLs.

use std::fs;

/// What stands in place of a secret.
pub(crate) const MASK: &str = "***";

/// Names that hold a secret on a command line and hardly elsewhere.
const OF_OPTIONS: &[&str] = &["token", "auth", "pass", "credentials"];

/// What is shorter is a word as any other.
const MIN_TOKEN: usize = 8;

/// What an argument of a command line says of secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    Nothing,
    /// The next one is a secret: `--password`.
    NextIsSecret,
    /// A part of it is, which has this range: `--password=...`, `https://user:...@host`.
    HasSecret(usize, usize),
}

/// Whether an option or property of this name holds a secret: `--db-password`, `db.password`.
pub(crate) fn names_secret(text: &str, is_secret: &dyn Fn(&str) -> bool) -> bool {
    let name = text.trim_start_matches(['-', '.']);
    // A user's own patterns know nothing of hyphens.
    let plain = name.replace('-', "");
    let named = |name: &str| name.split('.').any(is_secret) || is_secret(&name.replace('.', ""));
    named(name) || plain != name && named(&plain)
}

/// Whether what has such a name in a command line or URL is a secret.
fn is_option_secret(name: &str, is_secret: &dyn Fn(&str) -> bool) -> bool {
    names_secret(name, is_secret)
        || OF_OPTIONS
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
}

/// What an argument says.
pub(crate) fn argument(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Says {
    // `-agentpath:...` carries option names, not secrets of the program.
    if text.starts_with("-agent") {
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
    match end {
        Some(end) if is_option_secret(key, is_secret) => Says::HasSecret(end + 1, text.len()),
        None if text.starts_with('-') && is_option_secret(key, is_secret) => Says::NextIsSecret,
        _ => match credentials(text, is_secret) {
            Some((start, end)) => Says::HasSecret(start, end),
            None => Says::Nothing,
        },
    }
}

/// Where a text has what lets somebody in: the password of a URL, a parameter of one whose name says that it
/// is secret, a private key, or what follows the scheme in an HTTP header (`Authorization: Bearer X`, RFC 9110,
/// section 11.6.2).
pub(crate) fn credentials(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Option<(usize, usize)> {
    password(text)
        .or_else(|| parameter(text, is_secret))
        .or_else(|| header(text))
        .or_else(|| private_key(text))
}

/// Where a URL has a secret parameter: `?password=X&ssl=true`, or as some drivers of databases want it,
/// `;password=X;encrypt=true`.
fn parameter(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Option<(usize, usize)> {
    let Some(scheme) = text.find("://") else {
        return pair(text, is_secret);
    };
    let mut at = scheme + 3;
    loop {
        at += text.get(at..)?.find(['?', '&', ';'])? + 1;
        let rest = text.get(at..)?;
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '&' | ';' | '#' | '"' | '\'' | '<' | '>');
        let rest = rest.split(ends).next()?;
        if let Some((name, value)) = rest.split_once('=')
            && !value.is_empty()
            && is_option_secret(name, is_secret)
        {
            return Some((at + name.len() + 1, at + rest.len()));
        }
    }
}

/// The same of a query without its URL, or with the path alone, and of settings of a connection: a line that has
/// nothing else but names with their values.
fn pair(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Option<(usize, usize)> {
    if text.contains(['\n', '\r']) {
        return None;
    }
    let mut at = text.find('?').map_or(0, |mark| mark + 1);
    let mut found = None;
    for part in text.get(at..)?.split(['&', ';']) {
        if !part.trim().is_empty() {
            let (name, value) = part.split_once('=')?;
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
            if !name.chars().all(is_name) {
                return None;
            }
            if found.is_none() && !value.is_empty() && names_secret(name.trim(), is_secret) {
                found = Some((at + name.len() + 1, at + part.len()));
            }
        }
        at += part.len() + 1;
    }
    found
}

/// A private key as text (RFC 7468, section 10).
fn private_key(text: &str) -> Option<(usize, usize)> {
    const LABEL: &str = "PRIVATE KEY-----";
    let start = text.find(LABEL)? + LABEL.len();
    let end = text.get(start..)?.find("-----END");
    let end = end.map_or(text.len(), |end| start + end);
    (end - start >= MIN_TOKEN).then_some((start, end))
}

/// As it is in a header's line, or alone.
fn header(text: &str) -> Option<(usize, usize)> {
    const NAME: &str = "uthorization:";
    let value = match text.find(NAME) {
        Some(at) => at + NAME.len(),
        None => 0,
    };
    let rest = text.get(value..)?;
    let value = value + rest.len() - rest.trim_start().len();
    let rest = text.get(value..)?;
    let (scheme, token) = rest.split_once(' ')?;
    let token = token.split([' ', '\r', '\n', '"', '\'', ',']).next()?;
    let is_alone = value > 0 || scheme.len() + 1 + token.len() == rest.len();
    let known = ["bearer", "basic"].contains(&scheme.to_ascii_lowercase().as_str());
    let start = value + scheme.len() + 1;
    (known && is_alone && token.len() >= MIN_TOKEN).then_some((start, start + token.len()))
}

/// Where a URL has a password: between the first colon and the at sign of its authority (RFC 3986,
/// section 3.2.1).
fn password(text: &str) -> Option<(usize, usize)> {
    let start = text.find("://")? + 3;
    let rest = text.get(start..)?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let user = authority.get(..authority.rfind('@')?)?;
    let colon = user.find(':')?;
    (colon + 1 < user.len()).then_some((start + colon + 1, start + user.len()))
}

/// A text with a part masked.
pub(crate) fn masked(text: &str, (start, end): (usize, usize)) -> String {
    let (before, after) = (text.get(..start), text.get(end..));
    [before.unwrap_or_default(), MASK, after.unwrap_or_default()].concat()
}

/// The command line of this process, with what looks like a secret masked.
pub(crate) fn command_line(is_secret: &dyn Fn(&str) -> bool) -> Vec<String> {
    let raw = fs::read("/proc/self/cmdline").unwrap_or_default();
    let parts = raw.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    arguments(
        parts.map(|part| String::from_utf8_lossy(part).into_owned()),
        is_secret,
    )
}

fn arguments(parts: impl Iterator<Item = String>, is_secret: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut mask_next = false;
    let mask = |part: String| {
        if std::mem::take(&mut mask_next) {
            return MASK.to_owned();
        }
        match argument(&part, is_secret) {
            Says::Nothing => part,
            Says::NextIsSecret => {
                mask_next = true;
                part
            }
            Says::HasSecret(start, end) => masked(&part, (start, end)),
        }
    };
    parts.map(mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lets_somebody_in_is_found_in_texts() {
        let is_secret = |name: &str| name.to_lowercase().contains("password");
        let found = |text: &str| {
            credentials(text, &is_secret).map(|(start, end)| text[start..end].to_owned())
        };
        for (text, expected) in [
            ("jdbc:pg://bob:secret@h/db", Some("secret")),
            ("Authorization: Bearer abcdefgh.i", Some("abcdefgh.i")),
            (
                "GET / HTTP/1.1\r\nauthorization: basic Ym9iOnNlY3JldA==\r\nHost: h",
                Some("Ym9iOnNlY3JldA=="),
            ),
            ("Bearer abcdefgh.i", Some("abcdefgh.i")),
            ("Basic understanding of it", None),
            ("Bearer of news", None),
            ("Authorization: none", None),
            ("http://h/a?b", None),
            (
                "jdbc:postgresql://h/db?user=a&password=s3cret&ssl=true",
                Some("s3cret"),
            ),
            (
                "jdbc:sqlserver://h:1;user=a;Password=s3cret",
                Some("s3cret"),
            ),
            ("see https://h/?token=abc or so", Some("abc")),
            ("https://h/?password=&a=b;c", None),
            ("a?password=b", Some("b")),
            ("/login?user=joe&password=s3cret", Some("s3cret")),
            ("user=joe&password=s3cret", Some("s3cret")),
            (
                "Server=my host;User Id=joe;Password=s3cret;",
                Some("s3cret"),
            ),
            ("if (password == null) password=b;", None),
            ("a = 1\npassword=b", None),
            ("the password is a=b&c", None),
            (
                "-----BEGIN RSA PRIVATE KEY-----abcdefgh-----END RSA PRIVATE KEY-----",
                Some("abcdefgh"),
            ),
            (
                "-----BEGIN PUBLIC KEY-----abcdefgh-----END PUBLIC KEY-----",
                None,
            ),
        ] {
            assert_eq!(found(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn secrets_of_a_command_line_are_masked() {
        let is_secret = |name: &str| name.to_lowercase().contains("password");
        for (line, expected) in [
            (
                "java -cp a:b Main x=1 /etc/a:b",
                "java -cp a:b Main x=1 /etc/a:b",
            ),
            ("--db-password s --port 1", "--db-password *** --port 1"),
            (
                "--db.password=s=t -Ddb.password=u",
                "--db.password=*** -Ddb.password=***",
            ),
            (
                "--token=s /token:s --auth s -token s",
                "--token=*** /token:*** --auth *** -token ***",
            ),
            ("tokens=3 --author me", "tokens=3 --author me"),
            (
                "postgres://u:s@h/db?x=1 --url=https://u:s@h:80 https://h:80/a@b",
                "postgres://u:***@h/db?x=1 --url=https://u:***@h:80 https://h:80/a@b",
            ),
            (
                "-agentpath:/a/password=out=b",
                "-agentpath:/a/password=out=b",
            ),
        ] {
            let parts = line.split(' ').map(str::to_owned);
            assert_eq!(arguments(parts, &is_secret).join(" "), expected);
        }
    }
}
