//! Objects that are one value: boxes, numbers, builders, dates, paths.

use super::View;
use crate::graph::{Graph, Typed};
use crate::text::{civil_date, one_line, primitive, short_type};
use hindsight_tracelog::crash::{Body, Value, is_box};

pub(super) fn view(graph: &Graph<'_>, object: u32, class: &str) -> Option<View> {
    let int = |field: &str| graph.int(object, field);
    let inner = |field: &str| match super::view(graph, graph.reference(object, field)?)? {
        View::Scalar(text) => Some(text),
        _ => None,
    };
    let text = |field: &str| text_of(graph, object, field);
    let scalar = match class {
        _ if is_box(class) => primitive(graph.field(object, "value")?),
        "java.util.concurrent.atomic.AtomicInteger" | "java.util.concurrent.atomic.AtomicLong" => {
            int("value")?.to_string()
        }
        "java.util.concurrent.atomic.AtomicBoolean" => (int("value")? != 0).to_string(),
        "java.util.concurrent.atomic.AtomicReference" => {
            return Some(View::List(vec![graph.field(object, "value")?]));
        }
        "java.util.concurrent.atomic.LongAdder" => sum(graph, object)?.to_string(),
        "java.util.concurrent.CountDownLatch" | "java.util.concurrent.Semaphore" => {
            let sync = graph.reference(object, "sync")?;
            graph.int(sync, "state")?.to_string()
        }
        "java.util.concurrent.ThreadPoolExecutor"
        | "java.util.concurrent.ScheduledThreadPoolExecutor" => pool(graph, object)?,
        "java.lang.StringBuilder" | "java.lang.StringBuffer" => return builder(graph, object),
        "java.util.BitSet" => return bits(graph, object),
        "java.math.BigInteger" => big_integer(graph, object)?,
        "java.math.BigDecimal" => big_decimal(graph, object)?,
        "java.util.UUID" => uuid(int("mostSigBits")? as u64, int("leastSigBits")? as u64),
        "java.util.OptionalInt" | "java.util.OptionalLong" | "java.util.OptionalDouble" => {
            match graph.field(object, "isPresent")?.value {
                Value::Bool(true) => primitive(graph.field(object, "value")?),
                _ => "empty".to_owned(),
            }
        }
        "java.sql.Timestamp" => instant(int("fastTime")?.div_euclid(1000), int("nanos")?),
        "java.util.Date" | "java.sql.Date" | "java.sql.Time" => instant(
            int("fastTime")?.div_euclid(1000),
            int("fastTime")?.rem_euclid(1000) * 1_000_000,
        ),
        "java.time.LocalDate" => local_date(graph, object)?,
        "java.time.LocalTime" => local_time(graph, object)?,
        "java.time.LocalDateTime" => format!("{}T{}", inner("date")?, inner("time")?),
        "java.time.Instant" => instant(int("seconds")?, int("nanos")?),
        "java.time.Duration" => {
            // Seconds are rounded down, so for a negative duration they have a larger magnitude
            // than the duration itself.
            let nanos = i128::from(int("seconds")?) * 1_000_000_000 + i128::from(int("nanos")?);
            let sign = if nanos < 0 { "-" } else { "" };
            let (seconds, nanos) = (nanos.abs() / 1_000_000_000, nanos.abs() % 1_000_000_000);
            let fraction = if nanos == 0 {
                String::new()
            } else {
                format!(".{nanos:09}")
            };
            format!("{sign}{seconds}{fraction} s")
        }
        "java.time.Year" => int("year")?.to_string(),
        "java.time.YearMonth" => format!("{}-{:02}", year(int("year")?), int("month")?),
        "java.time.MonthDay" => format!("--{:02}-{:02}", int("month")?, int("day")?),
        "java.time.ZoneOffset" | "java.time.ZoneRegion" => text("id")?,
        "java.time.OffsetTime" => format!("{}{}", inner("time")?, inner("offset")?),
        "java.time.OffsetDateTime" => format!("{}{}", inner("dateTime")?, inner("offset")?),
        "java.time.ZonedDateTime" => {
            format!(
                "{}{}[{}]",
                inner("dateTime")?,
                inner("offset")?,
                inner("zone")?
            )
        }
        "java.lang.StackTraceElement" => stack_trace_element(graph, object)?,
        "java.lang.reflect.Method"
        | "java.lang.reflect.Constructor"
        | "java.lang.reflect.Field" => member(graph, object, class)?,
        "java.util.Locale" => {
            let base = locale(graph, graph.reference(object, "baseLocale")?)?;
            match graph.reference(object, "localeExtensions") {
                Some(extensions) => format!("{base}-{}", text_of(graph, extensions, "id")?),
                None => base,
            }
        }
        "java.io.File" => return string(graph, object, "path"),
        "java.net.URI" => return string(graph, object, "string"),
        "java.util.regex.Pattern" => return string(graph, object, "pattern"),
        "sun.nio.fs.UnixPath" => {
            let Body::Primitives(bytes) = graph.body(graph.reference(object, "path")?)? else {
                return None;
            };
            return Some(View::Text(
                String::from_utf8_lossy(bytes).encode_utf16().collect(),
            ));
        }
        _ => return None,
    };
    Some(View::Scalar(scalar))
}

/// A thread pool: its least and greatest number of threads, and whether it accepts tasks.
fn pool(graph: &Graph<'_>, object: u32) -> Option<String> {
    let (core, most) = (
        graph.int(object, "corePoolSize")?,
        graph.int(object, "maximumPoolSize")?,
    );
    let threads = match most {
        _ if most == core => core.to_string(),
        _ if most == i64::from(i32::MAX) => format!("{core} or more"),
        _ => format!("{core} to {most}"),
    };
    // The state is in the upper bits of the word, which is negative while the pool accepts tasks.
    let word = graph.reference(object, "ctl");
    let ended = word.is_some_and(|word| graph.int(word, "value").is_some_and(|word| word >= 0));
    let ended = if ended { ", shut down" } else { "" };
    Some(format!("(threads: {threads}{ended})"))
}

/// The text of a string in a field.
fn text_of(graph: &Graph<'_>, object: u32, field: &str) -> Option<String> {
    let units = graph.text(graph.reference(object, field)?)?;
    Some(String::from_utf16_lossy(&units))
}

fn string(graph: &Graph<'_>, object: u32, field: &str) -> Option<View> {
    graph.text(graph.reference(object, field)?).map(View::Text)
}

fn locale(graph: &Graph<'_>, base: u32) -> Option<String> {
    let part = |field: &str| text_of(graph, base, field).filter(|text| !text.is_empty());
    let parts: Vec<String> = ["language", "script", "region", "variant"]
        .into_iter()
        .filter_map(part)
        .collect();
    Some(if parts.is_empty() {
        "ROOT".to_owned()
    } else if part("language").is_none() {
        format!("und-{}", parts.join("-"))
    } else {
        parts.join("-")
    })
}

/// A stack trace element as in a stack trace, without loader and module.
fn stack_trace_element(graph: &Graph<'_>, object: u32) -> Option<String> {
    let text = |field: &str| text_of(graph, object, field);
    let (class, method) = (text("declaringClass")?, text("methodName")?);
    let file = text("fileName").unwrap_or_else(|| "Unknown Source".to_owned());
    let place = match graph.int(object, "lineNumber")? {
        -2 => "Native Method".to_owned(),
        line if line > 0 => format!("{file}:{line}"),
        _ => file,
    };
    Some(format!("{class}.{method}({place})"))
}

/// A member as reflection names it: `Method Shop.book(Customer, int)`.
fn member(graph: &Graph<'_>, object: u32, kind: &str) -> Option<String> {
    let class = |class: u32| match graph.body(class)? {
        Body::Class(name) => Some(short_type(name)),
        _ => None,
    };
    let owner = class(graph.reference(object, "clazz")?)?;
    let kind = short_type(kind);
    let name = || Some(one_line(&text_of(graph, object, "name")?, 100));
    if kind == "Field" {
        return Some(format!("{kind} {owner}.{}", name()?));
    }
    let types = graph.elements(graph.reference(object, "parameterTypes")?)?;
    let types = types.iter().map(|of| match of.value {
        Value::Ref(of) => class(of),
        _ => None,
    });
    let types = types.collect::<Option<Vec<String>>>()?.join(", ");
    Some(match kind.as_str() {
        "Method" => format!("{kind} {owner}.{}({types})", name()?),
        _ => format!("{kind} {owner}({types})"),
    })
}

/// A `StringBuilder`: Latin-1 bytes or little-endian UTF-16, of which `count` characters are used.
fn builder(graph: &Graph<'_>, object: u32) -> Option<View> {
    let bytes = graph.elements(graph.reference(object, "value")?)?;
    let byte = |element: &Typed| match element.value {
        Value::Int(byte) => byte as u8,
        _ => 0,
    };
    let bytes: Vec<u8> = bytes.iter().map(byte).collect();
    let count = usize::try_from(graph.int(object, "count")?).ok()?;
    let units: Vec<u16> = match graph.int(object, "coder")? {
        0 => bytes.iter().map(|&byte| u16::from(byte)).collect(),
        _ => bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect(),
    };
    units.get(..count).map(|used| View::Text(used.to_vec()))
}

/// The value of a `LongAdder`. Threads that contend with each other add to separate cells.
fn sum(graph: &Graph<'_>, object: u32) -> Option<i64> {
    let base = graph.int(object, "base")?;
    let Some(cells) = graph.reference(object, "cells") else {
        return Some(base);
    };
    let cells = graph.elements(cells)?.into_iter();
    let cells = cells.filter_map(|cell| match cell.value {
        Value::Ref(cell) => graph.int(cell, "value"),
        _ => None,
    });
    Some(cells.fold(base, i64::wrapping_add))
}

/// The most numbers of a `BitSet` that are listed: each is one bit in the file, and 24 bytes in a
/// list.
const MAX_BITS: u64 = 100_000;

/// A `BitSet`: the numbers that it contains, from words of 64 bits.
fn bits(graph: &Graph<'_>, object: u32) -> Option<View> {
    let words = graph.each(graph.reference(object, "words")?)?;
    let used = usize::try_from(graph.int(object, "wordsInUse")?).ok()?;
    if used > words.len() {
        return None;
    }
    let words = (0_i64..).zip(words.take(used)).map(|(at, word)| {
        let Value::Int(bits) = word.value else {
            return (64 * at, 0);
        };
        (64 * at, bits as u64)
    });
    let (count, last) = words.clone().fold((0, 0), |(count, last), (first, bits)| {
        let highest = bits
            .checked_ilog2()
            .map_or(last, |bit| first + i64::from(bit));
        (count + u64::from(bits.count_ones()), highest)
    });
    if count > MAX_BITS {
        return Some(View::Scalar(format!("{count} numbers up to {last}")));
    }
    let numbers = words.flat_map(|(first, bits)| {
        let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| Typed::new(Value::Int(first + bit), "I"))
    });
    Some(View::List(numbers.collect()))
}

/// A `BigInteger`: sign and magnitude, the most significant 32 bits first.
fn big_integer(graph: &Graph<'_>, object: u32) -> Option<String> {
    let signum = graph.int(object, "signum")?;
    let words = graph.elements(graph.reference(object, "mag")?)?;
    // A longer number is far beyond what anybody reads, and the conversion takes quadratic time.
    if words.len() > 64 {
        return Some(format!("a number of {} bits", words.len() * 32));
    }
    let mut magnitude: Vec<u32> = words
        .iter()
        .map(|word| match word.value {
            Value::Int(bits) => bits as u32,
            _ => 0,
        })
        .collect();
    let mut digits = Vec::new();
    while magnitude.iter().any(|&word| word != 0) {
        let mut remainder = 0u64;
        for word in &mut magnitude {
            let value = (remainder << 32) | u64::from(*word);
            *word = (value / 10) as u32;
            remainder = value % 10;
        }
        digits.push(b'0' + remainder as u8);
    }
    if digits.is_empty() {
        digits.push(b'0');
    }
    if signum < 0 {
        digits.push(b'-');
    }
    digits.reverse();
    String::from_utf8(digits).ok()
}

/// A `BigDecimal`: an unscaled value, which is compact if it fits a `long`, and a scale.
fn big_decimal(graph: &Graph<'_>, object: u32) -> Option<String> {
    let unscaled = match graph.int(object, "intCompact")? {
        i64::MIN => big_integer(graph, graph.reference(object, "intVal")?)?,
        compact => compact.to_string(),
    };
    let scale = graph.int(object, "scale")?;
    // A value that is too long to be shown is not a number.
    let is_number = unscaled
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Some(format!("{unscaled}, scale {scale}"));
    }
    // So many zeros are of no use, and Java reads the other form, too.
    if !(0..=40).contains(&scale) {
        return Some(format!("{unscaled}E{}", -i128::from(scale)));
    }
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled.as_str()),
    };
    let scale = scale as usize;
    if scale == 0 {
        return Some(unscaled);
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    Some(format!("{sign}{whole}.{fraction}"))
}

fn uuid(high: u64, low: u64) -> String {
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

fn local_date(graph: &Graph<'_>, object: u32) -> Option<String> {
    let int = |field: &str| graph.int(object, field);
    Some(format!(
        "{}-{:02}-{:02}",
        year(int("year")?),
        int("month")?,
        int("day")?
    ))
}

fn local_time(graph: &Graph<'_>, object: u32) -> Option<String> {
    let int = |field: &str| graph.int(object, field);
    let nano = int("nano")?;
    let fraction = if nano == 0 {
        String::new()
    } else {
        format!(".{nano:09}")
    };
    Some(format!(
        "{:02}:{:02}:{:02}{fraction}",
        int("hour")?,
        int("minute")?,
        int("second")?
    ))
}

fn instant(seconds: i64, nanos: i64) -> String {
    let (year, month, day) = civil_date(seconds.div_euclid(86_400));
    let time = seconds.rem_euclid(86_400);
    let fraction = if nanos == 0 {
        String::new()
    } else {
        format!(".{nanos:09}")
    };
    format!(
        "{}-{month:02}-{day:02}T{:02}:{:02}:{:02}{fraction}Z",
        self::year(year),
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// A year in the form of ISO 8601: with four digits, or with a sign.
fn year(year: i64) -> String {
    match year {
        10_000.. => format!("+{year}"),
        0.. => format!("{year:04}"),
        _ => format!("-{:04}", year.unsigned_abs()),
    }
}

/// The content of a box.
pub(crate) fn unboxed(graph: &Graph<'_>, object: u32) -> Option<Typed> {
    is_box(graph.class_name(object))
        .then(|| graph.field(object, "value"))
        .flatten()
}
