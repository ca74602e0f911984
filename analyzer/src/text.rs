//! Small pieces of text for people: values, places, times.

use crate::graph::Typed;
use hindsight_tracelog::crash::{
    ExceptionInfo, Failure, Fidelity, Frame, Lock, StackElement, ThreadState, Value,
};
use std::error::Error;
use std::path::Path;

/// A primitive value as Java would print it, with characters in quotes.
pub fn primitive(typed: Typed) -> String {
    match (typed.value, typed.kind) {
        (Value::Null, b'L' | b'[') => "null".to_owned(),
        (Value::Null, _) => "(not stored)".to_owned(),
        (Value::Bool(value), _) => value.to_string(),
        (Value::Int(value), b'Z') => (value != 0).to_string(),
        (Value::Int(value), b'C') => {
            let mut out = String::from("'");
            escape_unit(value as u16, &mut out);
            out.push('\'');
            out
        }
        (Value::Int(value), _) => value.to_string(),
        (Value::Float(value), _) => float(value),
        (Value::Double(value), _) => double(value),
        (Value::Ref(object), _) => format!("#{object}"),
    }
}

/// A number as `Float.toString` writes it.
pub fn float(value: f32) -> String {
    floating(&format!("{value:e}"), &format!("{value:.1e}"))
}

/// A number as `Double.toString` writes it.
pub fn double(value: f64) -> String {
    floating(&format!("{value:e}"), &format!("{value:.1e}"))
}

/// A floating-point number as `Double.toString` writes it, given its shortest decimal in Rust's
/// scientific notation (`1.25e-3`, `inf`), and that with two digits.
fn floating(shortest: &str, two_digits: &str) -> String {
    // Java writes two digits in any case, so they may as well be the nearest: 4.9E-324, where
    // 5E-324 would suffice. A zero is added below.
    let is_nearer = !shortest.contains('.') && !two_digits.contains(".0e");
    let scientific = if is_nearer { two_digits } else { shortest };
    let (sign, text) = match scientific.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", scientific),
    };
    let Some((mantissa, exponent)) = text.split_once('e') else {
        let name = if text == "inf" { "Infinity" } else { "NaN" };
        return format!("{sign}{name}");
    };
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let fraction = |digits: &str| match digits {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    };
    match exponent {
        -3..=-1 => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            format!("{sign}0.{zeros}{digits}")
        }
        0..=6 => {
            let whole = exponent as usize + 1;
            let padded = format!("{digits:0<whole$}");
            let (whole, rest) = padded.split_at(whole);
            format!("{sign}{whole}.{}", fraction(rest))
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            format!("{sign}{first}.{}E{exponent}", fraction(rest))
        }
    }
}

/// Quotes a string for people, cut after `limit` code units.
pub fn quote(units: &[u16], limit: usize) -> String {
    quote_beginning(units, limit, units.len())
}

/// Quotes a string with this many code units, of which these are the first.
pub fn quote_beginning(units: &[u16], limit: usize, whole: usize) -> String {
    let shown = &units[..units.len().min(limit)];
    let mut out = String::from("\"");
    for decoded in char::decode_utf16(shown.iter().copied()) {
        match decoded {
            Ok(c) => escape_char(c, &mut out),
            Err(lone) => escape_unit(lone.unpaired_surrogate(), &mut out),
        }
    }
    out.push('"');
    if shown.len() < whole {
        out.push_str(&format!("... ({whole} characters)"));
    }
    out
}

fn escape_unit(unit: u16, out: &mut String) {
    match char::from_u32(u32::from(unit)) {
        Some('\'') => out.push_str("\\'"),
        Some(c) => escape_char(c, out),
        None => out.push_str(&format!("\\u{unit:04x}")),
    }
}

fn escape_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_plain(c) => out.push(c),
        c => {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
}

/// Whether a character is displayed as itself everywhere: letters, digits, the usual signs; no
/// controls, no marks that change the direction of the text.
pub fn is_plain(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => true,
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20bf}' => true,
        '\u{2190}'..='\u{2bff}' | '\u{3001}'..='\u{303f}' | '\u{1f300}'..='\u{1faff}' => true,
        c => c.is_alphanumeric(),
    }
}

/// An error with its causes, as the command prints it.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(of) = cause {
        text += &format!(": {of}");
        cause = of.source();
    }
    text
}

/// Makes text from a recording safe for one line of a terminal or a comment.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            out.push_str("...");
            break;
        }
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_plain(c) => out.push(c),
            c => escape_char(c, &mut out),
        }
    }
    out
}

/// A path for people: whoever names a file chooses what a terminal gets.
pub fn path(path: &Path) -> String {
    one_line(&path.to_string_lossy(), usize::MAX)
}

/// Makes text of several lines safe for a terminal; tabs stay.
pub fn lines(text: &str) -> String {
    let is_kept = |c: char| c == '\n' || c == '\t';
    let parts = text.split_inclusive(is_kept);
    let shown = parts.map(|part| {
        let rest = part.trim_end_matches(is_kept);
        one_line(rest, usize::MAX) + &part[rest.len()..]
    });
    shown.collect()
}

/// The name of a class or of a member for people. The JVM allows nearly any text as a name, with
/// several lines and terminal controls.
pub fn name(text: &str) -> String {
    one_line(text, 300)
}

/// `class: message`, or only the class.
pub fn exception(info: &ExceptionInfo) -> String {
    exception_up_to(info, 2000)
}

/// The same, with at most this many characters of the message.
pub fn exception_up_to(info: &ExceptionInfo, limit: usize) -> String {
    match &info.message {
        Some(message) => format!("{}: {}", name(&info.class), one_line(message, limit)),
        None => name(&info.class),
    }
}

/// `Class.method(File.java:12)`, as stack traces have it.
pub fn stack_element(element: &StackElement) -> String {
    let place = match (&element.file, element.line) {
        _ if element.is_native() => "native method".to_owned(),
        (Some(file), line) if line >= 0 => format!("{file}:{line}"),
        (Some(file), _) => file.clone(),
        (None, line) if line >= 0 => format!("line {line}"),
        (None, _) => "unknown source".to_owned(),
    };
    one_line(
        &format!("{}.{}({place})", element.class, element.method),
        500,
    )
}

/// The reason of a frame that stands for frames which were not kept.
pub fn gap(frame: &Frame) -> Option<&str> {
    let is_gap = frame.method == "..." && frame.fidelity == Fidelity::None;
    is_gap.then_some(match frame.reason.as_str() {
        "" => "frames were not kept",
        reason => reason,
    })
}

/// The reason why a frame was not captured, if the recording has one.
pub fn absence(frame: &Frame) -> Option<&str> {
    let reason = frame.reason.as_str();
    let reason = reason.strip_prefix("not captured").unwrap_or(reason);
    Some(reason.trim_start_matches([':', ' '])).filter(|reason| !reason.is_empty())
}

/// The relation of an exception to the one that was recorded: `cause 1` is its cause.
pub fn role(failure: &Failure, exception: u32) -> String {
    let mut at = 0;
    for depth in 1..=failure.exceptions.len() {
        let info = failure.exceptions.get(at as usize);
        match info.and_then(|info| info.cause) {
            Some(cause) if cause == exception => return format!("cause {depth}"),
            Some(cause) => at = cause,
            None => break,
        }
    }
    let mut all = failure.exceptions.iter();
    if all.any(|info| info.suppressed.contains(&exception)) {
        format!("the suppressed exception {exception}")
    } else {
        format!("exception {exception}")
    }
}

/// The heading of frames that another exception passed through than those before; `None` for an
/// exception that is not in the file.
pub fn heading(failure: &Failure, index: u32) -> Option<String> {
    let info = failure.exceptions.get(index as usize)?;
    if let Some(state) = failure.threads.get(index as usize) {
        return Some(thread(failure, state));
    }
    Some(match index {
        0 => format!("frames of {}", exception(info)),
        _ => format!("frames of {}: {}", role(failure, index), exception(info)),
    })
}

/// A thread with what it waits for and who owns that.
pub fn thread(failure: &Failure, thread: &ThreadState) -> String {
    let name = |owner: u32| {
        let owner = failure.threads.get(owner as usize);
        owner.map_or_else(String::new, |owner| {
            format!(", which thread {} has", one_line(&owner.name, 200))
        })
    };
    let wants = thread.wants.as_ref().map(|lock| {
        format!(
            ", waits for {}{}",
            locked(lock),
            lock.owner.map_or_else(String::new, name)
        )
    });
    // The JVM reports the monitors of virtual threads only if that was requested at its start.
    let untold = thread.is_virtual && thread.wants.is_none() && thread.state == "BLOCKED";
    let untold = untold.then(|| ", for a monitor that is told with dump-on alone".to_owned());
    let alike = match thread.alike {
        0 => String::new(),
        1 => " (and 1 more virtual thread at the same place)".to_owned(),
        more => format!(" (and {more} more virtual threads at the same place)"),
    };
    format!(
        "{}thread {}: {}{}{alike}",
        if thread.is_virtual { "virtual " } else { "" },
        one_line(&thread.name, 200),
        one_line(&thread.state, 40),
        wants.or(untold).unwrap_or_default()
    )
}

/// The locked object.
pub fn locked(lock: &Lock) -> String {
    let number = lock
        .object
        .map_or_else(String::new, |object| format!(" #{object}"));
    format!("{}{number}", one_line(simple_name(&lock.class), 200))
}

/// Threads that wait for each other, as indices; each cycle once.
pub fn deadlocks(failure: &Failure) -> Vec<Vec<usize>> {
    let threads = &failure.threads;
    let next = |at: usize| {
        let owner = threads.get(at)?.wants.as_ref()?.owner?;
        Some(owner as usize).filter(|owner| *owner < threads.len())
    };
    let mut circles = Vec::new();
    let mut seen = vec![false; threads.len()];
    for start in 0..threads.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(here) = at.filter(|here| !seen[*here]) {
            seen[here] = true;
            path.push(here);
            at = next(here);
        }
        // The cycle is on this path, not on an earlier one.
        if let Some(first) = at.and_then(|here| path.iter().position(|step| *step == here)) {
            circles.push(path.split_off(first));
        }
    }
    circles
}

/// A frame in the form of [`stack_element`].
pub fn frame(frame: &Frame) -> String {
    if let Some(reason) = gap(frame) {
        return one_line(&format!("... ({reason})"), 500);
    }
    stack_element(&StackElement {
        class: frame.class.clone(),
        method: frame.method.clone(),
        file: frame.file.clone(),
        line: frame.line.unwrap_or(-1),
    })
}

/// The class name without its package.
pub fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// A class name as people write it: `int[]` for `[I`, without packages.
pub fn short_type(class: &str) -> String {
    let dimensions = class.bytes().take_while(|&byte| byte == b'[').count();
    let element = &class[dimensions..];
    let name = match element {
        _ if dimensions == 0 => simple_name(class),
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        _ => simple_name(element_class(element)),
    };
    one_line(&(name.to_owned() + &"[]".repeat(dimensions)), 200)
}

/// The class of an array's elements, from its form in `Class.getName` of the array
/// (`Lshop.Order;`).
pub fn element_class(element: &str) -> &str {
    let class = element.strip_prefix('L').unwrap_or(element);
    class.strip_suffix(';').unwrap_or(class)
}

/// Year, month and day of a day counted from 1970 (Howard Hinnant's algorithm).
pub fn civil_date(days: i64) -> (i64, u32, u32) {
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month + 2) / 5 + 1) as u32;
    let month = if month < 10 { month + 3 } else { month - 9 } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Milliseconds since 1970 as `2026-11-21 09:18:37 UTC`.
pub fn utc(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    let (year, month, day) = civil_date(seconds.div_euclid(86_400));
    let time = seconds.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// The stack of a failure, one line for each element: that of its exception, or else its frames.
pub fn stack(failure: &Failure) -> Vec<String> {
    let thrown = failure.exceptions.first();
    match thrown.map_or(&[][..], |info| &info.stack) {
        [] => failure.frames.iter().map(frame).collect(),
        stack => stack.iter().map(stack_element).collect(),
    }
}

/// Bytes as two digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `1 object`, `2 objects`; `2 classes`, `2 entries`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        return format!("1 {noun}");
    }
    let stem = noun.strip_suffix('y');
    match stem.filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{number} {stem}ies"),
        None if ["s", "x", "sh", "ch"].iter().any(|end| noun.ends_with(end)) => {
            format!("{number} {noun}es")
        }
        None => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_plurals() {
        assert_eq!(count(1, "class"), "1 class");
        for (noun, plural) in [
            ("frame", "0 frames"),
            ("class", "0 classes"),
            ("crash", "0 crashes"),
            ("entry", "0 entries"),
            ("array", "0 arrays"),
        ] {
            assert_eq!(count(0, noun), plural);
        }
    }

    #[test]
    fn times_are_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
        utc(i64::MAX);
        utc(i64::MIN);
    }

    /// The expected values are those of `Double.toString` and `Float.toString`.
    #[test]
    fn floating_point_numbers_are_javas() {
        let double = |value: f64| primitive(Typed::new(Value::Double(value), "D"));
        for (value, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-0.25, "-0.25"),
            (0.001, "0.001"),
            (0.00025, "2.5E-4"),
            (1_234_567.0, "1234567.0"),
            (1e7, "1.0E7"),
            (123.456, "123.456"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::from_bits(1), "4.9E-324"),
            (-f64::from_bits(2), "-9.9E-324"),
            (f64::from_bits(3), "1.5E-323"),
            (f64::from_bits(4), "2.0E-323"),
            (9e-323, "8.9E-323"),
            (2e23, "2.0E23"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(double(value), expected);
        }
        let float = |value: f32| primitive(Typed::new(Value::Float(value), "F"));
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(f32::NEG_INFINITY), "-Infinity");
        assert_eq!(float(f32::from_bits(1)), "1.4E-45");
        assert_eq!(float(f32::from_bits(2)), "2.8E-45");
        assert_eq!(float(16_777_216.0), "1.6777216E7");
    }

    #[test]
    fn strings_are_quoted_and_cut() {
        let units: Vec<u16> = "a\"\\\n\u{202e}é😀".encode_utf16().collect();
        assert_eq!(quote(&units, 80), r#""a\"\\\n\u202eé😀""#);
        assert_eq!(quote(&[0x61, 0xd800], 80), r#""a\ud800""#);
        assert_eq!(quote(&[0x61; 100], 3), "\"aaa\"... (100 characters)");
    }

    #[test]
    fn types_are_short() {
        assert_eq!(short_type("[[I"), "int[][]");
        assert_eq!(short_type("[Ljava.lang.String;"), "String[]");
        assert_eq!(short_type("[[LLevel;"), "Level[][]");
        assert_eq!(short_type("a.b.C$D"), "C$D");
        assert_eq!(short_type(""), "");
        assert_eq!(short_type("["), "[]");
    }
}
