//! Formats of numbers and dates, and calendars.

use super::super::recipe::{Argument, Recipe};
use super::{code, new, on_first, text};
use crate::graph::Graph;
use hindsight_tracelog::crash::{Body, Value};

pub(super) fn format(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    match class {
        "java.text.SimpleDateFormat" => dates(graph, object, class),
        "java.text.DecimalFormat" => numbers(graph, object, class),
        "java.text.DecimalFormatSymbols" => {
            new(class, vec![Argument::Value(graph.field(object, "locale")?)])
        }
        "java.text.ParsePosition" => {
            let index = code(graph.int(object, "index")?.to_string());
            let mut recipe = new(class, vec![index])?;
            let error = graph.int(object, "errorIndex")?;
            if error != -1 {
                let error = vec![code(error.to_string())];
                recipe.steps.push(on_first(class, "setErrorIndex", error));
            }
            Some(recipe)
        }
        "java.util.GregorianCalendar" => calendar(graph, object, class),
        _ => None,
    }
}

fn is_true(graph: &Graph<'_>, object: u32, field: &str) -> bool {
    graph.field(object, field).map(|field| field.value) == Some(Value::Bool(true))
}

/// The text in a field.
fn string(graph: &Graph<'_>, object: u32, field: &str) -> Option<String> {
    String::from_utf16(&graph.text(graph.reference(object, field)?)?).ok()
}

/// `new SimpleDateFormat("yyyy-MM-dd", Locale.UK)`, with its time zone, which differs between
/// machines.
fn dates(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let pattern = string(graph, object, "pattern")?;
    // It takes a two-digit year for one of the hundred that begin eighty years before it is made.
    if has_short_year(&pattern) {
        return None;
    }
    let pattern = text(&pattern)?;
    let locale = Argument::Value(graph.field(object, "locale")?);
    let mut recipe = new(class, vec![pattern, locale])?;
    let calendar = graph.reference(object, "calendar")?;
    let zone = vec![Argument::Value(graph.field(calendar, "zone")?)];
    recipe.steps.push(on_first(class, "setTimeZone", zone));
    if !is_true(graph, calendar, "lenient") {
        recipe
            .steps
            .push(on_first(class, "setLenient", vec![code("false")]));
    }
    Some(recipe)
}

/// Whether a pattern has a year outside of quotes that may have two digits.
fn has_short_year(pattern: &str) -> bool {
    let unquoted = pattern.split('\'').step_by(2);
    let runs = unquoted.flat_map(|part| part.as_bytes().chunk_by(|one, next| one == next));
    let mut short = runs.filter(|run| run.len() <= 2);
    short.any(|run| matches!(run[0], b'y' | b'Y'))
}

/// `new GregorianCalendar(TimeZone.getTimeZone("UTC"))`, set to its time and to its first day of
/// the week, which differs between machines as well.
fn calendar(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let given = vec![Argument::Value(graph.field(object, "zone")?)];
    let time = code(format!("{}L", graph.int(object, "time")?));
    let mut recipe = new(class, given)?;
    if !is_true(graph, object, "lenient") {
        recipe
            .steps
            .push(on_first(class, "setLenient", vec![code("false")]));
    }
    for (field, setter) in [
        ("firstDayOfWeek", "setFirstDayOfWeek"),
        ("minimalDaysInFirstWeek", "setMinimalDaysInFirstWeek"),
    ] {
        let days = vec![code(graph.int(object, field)?.to_string())];
        recipe.steps.push(on_first(class, setter, days));
    }
    recipe
        .steps
        .push(on_first(class, "setTimeInMillis", vec![time]));
    Some(recipe)
}

/// `new DecimalFormat("#,##0.00", new DecimalFormatSymbols(Locale.UK))`
fn numbers(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let pattern = text(&pattern(graph, object)?)?;
    let symbols = Argument::Value(graph.field(object, "symbols")?);
    let mut recipe = new(class, vec![pattern, symbols])?;
    let rounding = graph.field(object, "roundingMode")?;
    let Value::Ref(mode) = rounding.value else {
        return None;
    };
    if !matches!(graph.body(mode)?, Body::Enum { name, .. } if name == "HALF_EVEN") {
        let mode = vec![Argument::Value(rounding)];
        recipe.steps.push(on_first(class, "setRoundingMode", mode));
    }
    for (field, setter) in [
        ("parseBigDecimal", "setParseBigDecimal"),
        ("parseIntegerOnly", "setParseIntegerOnly"),
    ] {
        if is_true(graph, object, field) {
            recipe
                .steps
                .push(on_first(class, setter, vec![code("true")]));
        }
    }
    Some(recipe)
}

/// The pattern of a format of numbers, if it is written in the usual way.
fn pattern(graph: &Graph<'_>, object: u32) -> Option<String> {
    let count = |field: &str| usize::try_from(graph.int(object, field)?).ok();
    let affix = |field: &str| string(graph, object, field).and_then(|affix| unquoted(&affix));
    let (prefix, suffix) = (affix("posPrefixPattern")?, affix("posSuffixPattern")?);
    let negative = affix("negPrefixPattern")? == format!("-{prefix}");
    if !negative
        || affix("negSuffixPattern")? != suffix
        || is_true(graph, object, "useExponentialNotation")
    {
        return None;
    }
    let grouping = match is_true(graph, object, "groupingUsed") {
        true => Some(count("groupingSize")?),
        false => None,
    };
    let digits = [
        "minimumIntegerDigits",
        "minimumFractionDigits",
        "maximumFractionDigits",
    ]
    .map(count);
    let [Some(whole), Some(least), Some(most)] = digits else {
        return None;
    };
    let point = is_true(graph, object, "decimalSeparatorAlwaysShown");
    Some(prefix + &digits_pattern(whole, grouping, (least, most), point)? + &suffix)
}

/// The part of a pattern between its affixes.
fn digits_pattern(
    whole: usize,
    grouping: Option<usize>,
    (least, most): (usize, usize),
    point: bool,
) -> Option<String> {
    const MOST: usize = 40;
    let shown = match grouping {
        Some(size) => whole.max(size + 1),
        None => whole.max(1),
    };
    if shown > MOST || most > MOST || least > most {
        return None;
    }
    let mut out = String::new();
    for place in (0..shown).rev() {
        out.push(if place < whole { '0' } else { '#' });
        if place > 0 && grouping.is_some_and(|size| size > 0 && place % size == 0) {
            out.push(',');
        }
    }
    if most > 0 || point {
        out.push('.');
    }
    out.push_str(&"0".repeat(least));
    out.push_str(&"#".repeat(most - least));
    Some(out)
}

/// The text before or after the digits in a pattern, from the form in which a format keeps it:
/// there a quote precedes what has a meaning, and all else stands for itself. `None` if it would
/// have to be quoted.
fn unquoted(kept: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = kept.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => match chars.next()? {
                meant @ ('%' | '\u{2030}' | '\u{a4}' | '-') => out.push(meant),
                _ => return None,
            },
            '0'..='9' | '#' | '.' | ',' | ';' | '%' | '\u{2030}' | '\u{a4}' | '-' | 'E' => {
                return None;
            }
            plain => out.push(plain),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_of_two_digits_are_known() {
        for pattern in ["dd.MM.yy", "d.M.y", "'at' YY-w", "yyyy yy"] {
            assert!(has_short_year(pattern), "{pattern}");
        }
        for pattern in ["dd.MM.yyyy", "'yy' yyyy", "MM/dd", ""] {
            assert!(!has_short_year(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_of_numbers_are_those_that_people_write() {
        let of = |whole, grouping, fraction, point| {
            digits_pattern(whole, grouping, fraction, point).unwrap()
        };
        assert_eq!(of(1, Some(3), (2, 2), false), "#,##0.00");
        assert_eq!(of(1, None, (0, 3), false), "0.###");
        assert_eq!(of(0, None, (1, 1), false), "#.0");
        assert_eq!(of(5, Some(3), (0, 0), true), "00,000.");
        assert_eq!(digits_pattern(1, None, (0, 340), false), None);
        assert_eq!(unquoted("'%").as_deref(), Some("%"));
        assert_eq!(unquoted(" EUR"), None);
        assert_eq!(unquoted(" kg").as_deref(), Some(" kg"));
    }
}
