//! Quotes around values, and separators outside of them.

use super::{Error, KEYS, LISTS, NO_VALUE};

const QUOTES: [char; 2] = ['"', '\''];

/// The value of a key without the quotes around it.
pub(super) fn unquote(key: &str, value: &str) -> Result<String, Error> {
    match quoted(value) {
        None => Ok(value.to_owned()),
        Some((_, _, None)) => Err(Error(format!(
            "the quote of {key} is never closed: {value}"
        ))),
        Some((_, text, Some(""))) => Ok(text.to_owned()),
        Some((quote, text, Some(rest))) => Err(Error(format!(
            "there is text behind the closing quote of {key}, \"{rest}\"; \
             write {quote}{text}{quote} without it, or the quotes around it all"
        ))),
    }
}

/// A list without the quotes around its members, which [`split`] honours; as part of a glob they
/// would go unnoticed. Quotes elsewhere are parts of names, such as Kotlin's.
pub(super) fn unquote_members(key: &str, list: &str) -> Result<String, Error> {
    let members = list.split(';').map(|member| {
        let member = member.trim();
        // The form is `type:"GLOB"`.
        let start = match quoted(member) {
            None => member.find(':').map_or(0, |colon| colon + 1),
            Some(_) => 0,
        };
        let (kind, name) = member.split_at(start);
        Ok(kind.to_owned() + &unquote(key, name.trim_start())?)
    });
    Ok(members.collect::<Result<Vec<String>, Error>>()?.join(";"))
}

/// Whether a text that begins with a quote is the first member of a list, and not all of it.
pub(super) fn begins_with_member(list: &str) -> bool {
    let behind = quoted(list).and_then(|(_, _, behind)| behind);
    behind.is_some_and(|behind| behind.trim_start().starts_with(';'))
}

/// Splits a value that begins with a quote: the quote, the text behind it, and the text behind the
/// closing quote, if there is one.
pub(super) fn quoted(value: &str) -> Option<(char, &str, Option<&str>)> {
    let quote = value.chars().next().filter(|c| QUOTES.contains(c))?;
    let behind = &value[1..];
    Some(match behind.split_once(quote) {
        Some((text, rest)) => (quote, text, Some(rest)),
        None => (quote, behind, None),
    })
}

/// Refuses a value with `,KEY=` or `;KEY=` outside of quotes: it is meant as a key, in a command
/// line that was pasted into a file, or between wrong separators. As part of a name it would go
/// unnoticed.
pub(super) fn refuse_further_key(key: &str, value: &str, depth: usize) -> Result<(), Error> {
    let open = match quoted(value) {
        Some((_, _, rest)) => rest.unwrap_or_default(),
        None => value,
    };
    let key_at = |at: usize| {
        let (name, _) = open[at + 1..].split_once('=')?;
        KEYS.split(", ").find(|known| *known == name.trim())
    };
    let Some((separator, further)) = open
        .match_indices([',', ';'])
        .find_map(|(at, separator)| Some((separator, key_at(at)?)))
    else {
        return Ok(());
    };
    let instead = match depth {
        0 => "put a comma between keys",
        _ => "give each key a line of its own",
    };
    Err(Error(format!(
        "the value of {key} has \"{separator}{further}=\" in it: {instead}, or quote the value if it is meant so: {value}"
    )))
}

/// A line of an option file without the comment at its end: a `#` after white space, outside of a
/// quoted value. As part of a glob it would go unnoticed.
pub(super) fn without_comment(line: &str) -> &str {
    let (mut quote, mut last) = (None, None);
    let mut is_behind_space = true;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '#' && is_behind_space => return line[..at].trim_end(),
            // A value begins here.
            None if QUOTES.contains(&c) && matches!(last, None | Some('=' | '@')) => {
                quote = Some(c);
            }
            None => {}
        }
        is_behind_space = c.is_whitespace();
        if !is_behind_space {
            last = Some(c);
        }
    }
    line
}

/// The keys with their values in a command line that was split at its commas, and the files. The
/// commas of a list are among those: the members of `trace-what` are a few words, none of which is
/// a key; other members could be anything.
pub(super) fn pairs(parts: Vec<String>) -> Result<Vec<String>, Error> {
    let mut pairs: Vec<String> = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let is_member = !part.contains('=') && !part.starts_with('@') && !is_quoted_file(&part);
        let list = pairs.last_mut().filter(|_| is_member).and_then(|pair| {
            let key = pair.split_once('=')?.0.trim();
            LISTS.iter().find(|list| **list == key).zip(Some(pair))
        });
        match list {
            Some((&"trace-what", pair)) => *pair = format!("{pair};{part}"),
            Some((key, pair)) => {
                return Err(Error(format!(
                    "option \"{part}\" {NO_VALUE}; if it is of the list of {key}, that is separated by ; as in \
                     {pair};{part}"
                )));
            }
            None => pairs.push(part),
        }
    }
    Ok(pairs)
}

/// Whether this is a file name quoted as a whole, as one would write it for a shell.
pub(super) fn is_quoted_file(pair: &str) -> bool {
    quoted(pair).is_some_and(|(_, text, _)| text.starts_with('@'))
}

/// Splits at a separator that is not inside quotes.
pub(super) fn split(text: &str, separator: char) -> Result<Vec<String>, Error> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if QUOTES.contains(&c) => quote = Some(c),
            None if c == separator => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("never empty").push(c);
    }
    match quote {
        Some(open) => Err(Error(format!(
            "the quote {open} is never closed in the options \"{text}\""
        ))),
        None => Ok(parts),
    }
}
