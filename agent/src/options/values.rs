//! The values of keys: lists, globs, numbers, sizes and rules.

use super::{Error, Rules, SIGNALS, Sample};
use crate::copies::Strategy;
use hindsight_instrument::What;
use hindsight_instrument::glob::{Globs, ReportRule, may_name_method};

pub(super) fn rules(value: &str) -> Result<Rules, Error> {
    let accepted = format!(
        "{}, separated by ; {}",
        ReportRule::ACCEPTED,
        ReportRule::WITHOUT
    );
    let mut rules = Rules::default();
    let (mut escape, mut caught, mut exception) = (vec![], vec![], vec![]);
    for rule in list(value) {
        match ReportRule::parse(rule) {
            Some(ReportRule::Uncaught) => rules.uncaught = true,
            Some(ReportRule::Escape(glob)) => escape.push(glob),
            Some(ReportRule::Caught(glob)) => caught.push(glob),
            Some(ReportRule::Exception(glob)) => exception.push(glob),
            None => return Err(bad("report", rule, &accepted)),
        }
    }
    if !rules.uncaught && escape.is_empty() && caught.is_empty() {
        if exception.is_empty() {
            return Err(bad("report", value, &accepted));
        }
        // It is only narrowed, so the default remains.
        rules.uncaught = true;
    }
    rules.escape = Globs::new(escape);
    rules.caught = Globs::new(caught);
    rules.exception = Globs::new(exception);
    Ok(rules)
}

/// Parses names of signals, with or without `SIG`.
pub(super) fn signals(value: &str) -> Result<Vec<String>, Error> {
    let accepted = format!("QUIT, {}, separated by ;", SIGNALS.join(", "));
    let read = |name: &str| {
        let plain = name.strip_prefix("SIG").unwrap_or(name);
        let known = plain == "QUIT" || SIGNALS.contains(&plain);
        known
            .then(|| plain.to_owned())
            .ok_or_else(|| bad("dump-on", name, &accepted))
    };
    let signals: Vec<String> = list(value).map(read).collect::<Result<_, _>>()?;
    if signals.is_empty() {
        return Err(bad("dump-on", value, &accepted));
    }
    Ok(signals)
}

pub(super) fn told(value: &str) -> Result<What, Error> {
    What::parse(value).map_err(|part| bad("trace-what", part, What::ACCEPTED))
}

/// Parses globs of classes. An empty list is a mistake: it could mean all or none.
pub(super) fn classes(key: &str, value: &str) -> Result<Globs, Error> {
    const ACCEPTED: &str = "globs of class names without blanks and commas, separated by ;";
    let is_foreign = |c: char| c.is_whitespace() || c == ',';
    if list(value).next().is_none() {
        return Err(bad(key, value, ACCEPTED));
    }
    if let Some(part) = list(value).find(|part| part.contains(is_foreign)) {
        return Err(bad(key, part, ACCEPTED));
    }
    Ok(globs(value))
}

/// Parses globs of methods, with their classes.
pub(super) fn members(key: &str, value: &str) -> Result<Globs, Error> {
    const ACCEPTED: &str =
        "globs of methods, CLASS.METHOD without blanks, commas and parameters, separated by ;";
    if list(value).next().is_none() {
        return Err(bad(key, value, ACCEPTED));
    }
    if let Some(part) = list(value).find(|part| !may_name_method(part)) {
        return Err(bad(key, part, ACCEPTED));
    }
    Ok(globs(value))
}

/// Parses `N`, `CLASSES` or `CLASSES/N`.
pub(super) fn sample(value: &str) -> Result<Sample, Error> {
    const ACCEPTED: &str = "N, CLASSES or CLASSES/N: globs of classes or their methods separated by ;, and N from 1 on";
    let bad = || bad("sample", value, ACCEPTED);
    let number = |text: &str| {
        text.parse()
            .ok()
            .filter(|number| (1..1 << 31).contains(number))
    };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // A share, or a number that cannot be used: no class has such a name.
    let share = |text: &str| {
        let number = text.strip_suffix('%').unwrap_or(text);
        !text.starts_with(char::is_alphabetic) && number.parse::<f64>().is_ok()
    };
    if !is_number(value) && list(value).any(share) {
        return Err(bad());
    }
    let (classes, every) = match value.rsplit_once('/') {
        Some((classes, every)) => (classes, number(every.trim()).ok_or_else(bad)?),
        None if is_number(value) => ("", number(value).ok_or_else(bad)?),
        None => (value, 1),
    };
    let is_foreign = |c: char| c.is_whitespace() || matches!(c, ',' | '#' | '(');
    if list(classes).any(|part| part.contains(is_foreign)) {
        return Err(bad());
    }
    if list(classes).next().is_none() && (value.contains('/') || value.trim().is_empty()) {
        return Err(bad());
    }
    Ok(Sample {
        every,
        classes: globs(classes),
    })
}

pub(super) fn strategy(key: &str, value: &str) -> Result<Strategy, Error> {
    const ACCEPTED: &str = "reference, fields, depth:N with N from 1 on, deep";
    Strategy::parse(value).ok_or_else(|| bad(key, value, ACCEPTED))
}

pub(super) fn list(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn globs(value: &str) -> Globs {
    Globs::new(list(value))
}

/// Parses a number of bytes on disk, at least one megabyte.
pub(super) fn size(key: &str, value: &str) -> Result<u64, Error> {
    scaled(value)
        .filter(|number| (1 << 20..=1 << 50).contains(number))
        .ok_or_else(|| bad(key, value, "a size from 1M to 1024T, like 500M or 20G"))
}

/// Parses a count or size.
pub(super) fn number(key: &str, value: &str) -> Result<usize, Error> {
    scaled(value)
        .filter(|number| *number > 0)
        .and_then(|number| u32::try_from(number).ok())
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| {
            bad(
                key,
                value,
                "a number from 1 on and below 4G, like 100000 or 64M",
            )
        })
}

/// Parses digits with an optional `k`, `M`, `G` or `T` (powers of 1024).
fn scaled(value: &str) -> Option<u64> {
    let (digits, shift) = match value.char_indices().last()? {
        (at, 'k' | 'K') => (&value[..at], 10),
        (at, 'm' | 'M') => (&value[..at], 20),
        (at, 'g' | 'G') => (&value[..at], 30),
        (at, 't' | 'T') => (&value[..at], 40),
        _ => (value, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cold]
pub(super) fn bad(key: &str, value: &str, accepted: &str) -> Error {
    Error(format!(
        "bad value \"{value}\" for option {key}; accepted: {accepted}"
    ))
}
