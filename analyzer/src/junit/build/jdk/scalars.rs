//! Values: numbers, times, texts and the like.

use super::super::recipe::{Argument, Operation, Recipe, Step, is_zero};
use super::{
    MAX_ELEMENTS, STRING, call, code, constant, made, made_with, new, on_first, step, text,
};
use crate::graph::{Graph, Typed};
use crate::java::literal;
use crate::views::{View, view};
use hindsight_tracelog::crash::{Body, Value};

const CLOCK: &str = "java.time.Clock";
const CLOCK_TYPE: &str = "Ljava/time/Clock;";
/// The constant by which `Random` scrambles its seed.
const SCRAMBLED: i64 = 0x5_DEEC_E66D;
/// Locales with a name, by their tags.
const LOCALES: [(&str, &str); 18] = [
    ("ROOT", "ROOT"),
    ("en", "ENGLISH"),
    ("fr", "FRENCH"),
    ("de", "GERMAN"),
    ("it", "ITALIAN"),
    ("ja", "JAPANESE"),
    ("ko", "KOREAN"),
    ("zh", "CHINESE"),
    ("fr-FR", "FRANCE"),
    ("de-DE", "GERMANY"),
    ("it-IT", "ITALY"),
    ("ja-JP", "JAPAN"),
    ("ko-KR", "KOREA"),
    ("zh-CN", "CHINA"),
    ("en-GB", "UK"),
    ("en-US", "US"),
    ("en-CA", "CANADA"),
    ("fr-CA", "CANADA_FRENCH"),
];

pub(super) fn scalar(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let int = |field: &str| graph.int(object, field);
    let number = |field: &str| Some(code(int(field)?.to_string()));
    let string = |field: &str| {
        let units = graph.text(graph.reference(object, field)?)?;
        Some(Argument::Code(literal::string(&units)?, STRING))
    };
    let shown = || match view(graph, object)? {
        View::Scalar(shown) => Some(shown),
        View::Text(units) => String::from_utf16(&units).ok(),
        _ => None,
    };
    let own = format!("L{};", class.replace('.', "/"));
    let parsed = || call(class, "parse", &own, vec![text(&shown()?)?]);
    match class {
        "java.lang.Object" => new(class, Vec::new()),
        "java.lang.StringBuilder" | "java.lang.StringBuffer" => match shown()?.as_str() {
            "" => new(class, Vec::new()),
            shown => new(class, vec![text(shown)?]),
        },
        "java.math.BigInteger" => {
            let shown = shown()?;
            match shown.parse::<i64>() {
                Ok(number) => call(class, "valueOf", &own, vec![code(long(number))]),
                Err(_) => digits(class, &shown),
            }
        }
        "java.math.BigDecimal" => digits(class, &shown()?),
        "java.util.UUID" => call(class, "fromString", &own, vec![text(&shown()?)?]),
        "java.util.OptionalInt" | "java.util.OptionalLong" | "java.util.OptionalDouble" => {
            match shown()?.as_str() {
                "empty" => call(class, "empty", &own, Vec::new()),
                shown => call(class, "of", &own, vec![code(number_in(class, shown))]),
            }
        }
        "java.util.Date" | "java.sql.Date" | "java.sql.Time" => {
            new(class, vec![code(long(int("fastTime")?))])
        }
        "java.sql.Timestamp" => timestamp(int("fastTime")?, int("nanos")?),
        "java.time.MonthDay" => call(class, "of", &own, vec![number("month")?, number("day")?]),
        "java.time.LocalDate" => call(
            class,
            "of",
            &own,
            vec![number("year")?, number("month")?, number("day")?],
        ),
        "java.time.LocalTime"
        | "java.time.LocalDateTime"
        | "java.time.Instant"
        | "java.time.OffsetDateTime"
        | "java.time.OffsetTime"
        | "java.time.ZonedDateTime"
        | "java.time.YearMonth" => parsed(),
        "java.time.Year" => call(class, "of", &own, vec![number("year")?]),
        "java.time.Period" => call(
            class,
            "of",
            &own,
            vec![number("years")?, number("months")?, number("days")?],
        ),
        "java.time.Duration" => match (int("seconds")?, int("nanos")?) {
            (seconds, 0) => call(class, "ofSeconds", &own, vec![code(long(seconds))]),
            (seconds, nanos) => call(
                class,
                "ofSeconds",
                &own,
                vec![code(long(seconds)), code(nanos.to_string())],
            ),
        },
        "java.time.ZoneOffset" => match int("totalSeconds")? {
            0 => constant(class, "UTC", &own),
            _ => call(class, "of", &own, vec![string("id")?]),
        },
        "java.time.ZoneRegion" => call(
            "java.time.ZoneId",
            "of",
            "Ljava/time/ZoneId;",
            vec![string("id")?],
        ),
        "java.util.Locale" => {
            let shown = shown()?;
            match LOCALES.iter().find(|(tag, _)| *tag == shown) {
                Some((_, name)) => constant(class, name, &own),
                None => call(class, "forLanguageTag", &own, vec![text(&shown)?]),
            }
        }
        "java.time.Clock$FixedClock" => {
            let held = |name: &str| Some(Argument::Value(graph.field(object, name)?));
            call(
                CLOCK,
                "fixed",
                CLOCK_TYPE,
                vec![held("instant")?, held("zone")?],
            )
        }
        "java.time.Clock$SystemClock" => {
            let zone = graph.field(object, "zone")?;
            let utc = match zone.value {
                Value::Ref(zone) => graph.int(zone, "totalSeconds") == Some(0),
                _ => return None,
            };
            match utc {
                true => call(CLOCK, "systemUTC", CLOCK_TYPE, Vec::new()),
                false => call(CLOCK, "system", CLOCK_TYPE, vec![Argument::Value(zone)]),
            }
        }
        "java.util.Currency" => call(class, "getInstance", &own, vec![string("currencyCode")?]),
        "sun.util.calendar.ZoneInfo" => call(
            "java.util.TimeZone",
            "getTimeZone",
            "Ljava/util/TimeZone;",
            vec![string("ID")?],
        ),
        "java.io.File" => new(class, vec![string("path")?]),
        "sun.nio.fs.UnixPath" => call(
            "java.nio.file.Paths",
            "get",
            "Ljava/nio/file/Path;",
            vec![text(&shown()?)?],
        ),
        "java.net.URL" => url(graph, object),
        "java.math.MathContext" => {
            let rounding = graph.reference(object, "roundingMode")?;
            let Body::Enum { name, .. } = graph.body(rounding)? else {
                return None;
            };
            let mut arguments = vec![number("precision")?];
            if name != "HALF_UP" {
                arguments.push(Argument::Value(graph.field(object, "roundingMode")?));
            }
            new(class, arguments)
        }
        "java.net.URI" => call(class, "create", &own, vec![string("string")?]),
        "java.util.regex.Pattern" => {
            let mut arguments = vec![string("pattern")?];
            arguments.extend(flags(int("flags")?));
            call(class, "compile", &own, arguments)
        }
        "java.util.Random" => {
            let seed = graph.int(graph.reference(object, "seed")?, "value")?;
            match graph.field(object, "haveNextNextGaussian")?.value {
                Value::Bool(false) => new(class, vec![code(long(seed ^ SCRAMBLED))]),
                _ => None,
            }
        }
        "java.util.StringTokenizer" if int("currentPosition")? == 0 => {
            let mut arguments = vec![string("str")?];
            let delimiters = graph.text(graph.reference(object, "delimiters")?)?;
            let returned = graph.field(object, "retDelims")?.value == Value::Bool(true);
            if returned || delimiters != " \t\n\r\u{c}".encode_utf16().collect::<Vec<_>>() {
                arguments.push(string("delimiters")?);
            }
            arguments.extend(returned.then(|| code("true")));
            new(class, arguments)
        }
        "java.util.IntSummaryStatistics" if int("count")? == 0 => new(class, Vec::new()),
        "java.util.LongSummaryStatistics" if int("count")? == 0 => new(class, Vec::new()),
        "java.nio.HeapByteBuffer" => buffer(graph, object),
        "java.util.BitSet" => bits(graph, object, class),
        "java.util.concurrent.atomic.AtomicInteger" => match int("value")? {
            0 => new(class, Vec::new()),
            value => new(class, vec![code(value.to_string())]),
        },
        "java.util.concurrent.atomic.AtomicLong" => match int("value")? {
            0 => new(class, Vec::new()),
            value => new(class, vec![code(long(value))]),
        },
        "java.util.concurrent.atomic.AtomicBoolean" => match int("value")? {
            0 => new(class, Vec::new()),
            _ => new(class, vec![code("true")]),
        },
        "java.util.concurrent.atomic.AtomicIntegerArray"
        | "java.util.concurrent.atomic.AtomicLongArray" => {
            new(class, vec![Argument::Value(graph.field(object, "array")?)])
        }
        "java.util.concurrent.atomic.AtomicReferenceArray" => {
            let elements = graph.elements(graph.reference(object, "array")?)?;
            let length = vec![code(elements.len().to_string())];
            let held = elements.into_iter().enumerate();
            let set = held.filter(|(_, element)| element.value != Value::Null);
            let set = set.map(|(place, held)| vec![code(place.to_string()), Argument::Value(held)]);
            let set: Vec<_> = set.take(MAX_ELEMENTS + 1).collect();
            match set.len() <= MAX_ELEMENTS {
                true => made_with(class, length, "set", set),
                false => None,
            }
        }
        "java.util.concurrent.atomic.LongAdder" => match (shown()?.parse().ok()?, int("base")?) {
            (0, 0) => new(class, Vec::new()),
            // Otherwise the value in cells would be lost.
            (sum, base) if sum == base => made(class, "add", vec![vec![code(long(sum))]]),
            _ => None,
        },
        "java.util.StringJoiner" => joiner(graph, object, class),
        "java.io.StringReader" => {
            // From JDK 24 on, it delegates to another reader.
            let (reader, text) = match graph.reference(object, "r") {
                Some(inner) => (inner, "val$cs"),
                None => (object, "str"),
            };
            begun(graph, reader, class, "next", given(graph, reader, text)?)
        }
        "java.io.ByteArrayInputStream" => {
            let whole = Argument::Value(graph.field(object, "buf")?);
            begun(graph, object, class, "pos", whole)
        }
        "java.io.StringWriter" => {
            let buffer = graph.reference(object, "buf")?;
            let View::Text(units) = view(graph, buffer)? else {
                return None;
            };
            let text = Argument::Code(literal::string(&units)?, STRING);
            let text = Some(vec![text]).filter(|_| !units.is_empty());
            made(class, "write", text.into_iter().collect())
        }
        "java.io.PrintWriter" => {
            let mut arguments = vec![given(graph, object, "out")?];
            if graph.field(object, "autoFlush")?.value == Value::Bool(true) {
                arguments.push(code("true"));
            }
            new(class, arguments)
        }
        // It has read nothing, and has the default size.
        "java.io.BufferedReader" if int("nChars")? == 0 => {
            let room = graph.elements(graph.reference(object, "cb")?)?.len();
            match room {
                8192 => new(class, vec![Argument::Value(graph.field(object, "in")?)]),
                _ => None,
            }
        }
        "java.io.ByteArrayOutputStream" if int("count")? == 0 => new(class, Vec::new()),
        "java.lang.String$CaseInsensitiveComparator" => constant(
            "java.lang.String",
            "CASE_INSENSITIVE_ORDER",
            "Ljava/util/Comparator;",
        ),
        "java.util.Collections$ReverseComparator2" => call(
            "java.util.Collections",
            "reverseOrder",
            "Ljava/util/Comparator;",
            vec![Argument::Value(graph.field(object, "cmp")?)],
        ),
        "java.util.Collections$EmptyIterator" => call(
            "java.util.Collections",
            "emptyIterator",
            "Ljava/util/Iterator;",
            Vec::new(),
        ),
        "java.util.Collections$ReverseComparator" => call(
            "java.util.Collections",
            "reverseOrder",
            "Ljava/util/Comparator;",
            Vec::new(),
        ),
        _ => charset(graph, object),
    }
}

/// A number with more digits than `long` has; a very large one is only shown by its size.
fn digits(class: &str, shown: &str) -> Option<Recipe> {
    match shown.len() < 200 && !shown.contains(' ') {
        true => new(class, vec![text(shown)?]),
        false => None,
    }
}

/// A reader or stream of a text or an array, of which some may have been read.
fn begun(
    graph: &Graph<'_>,
    reader: u32,
    class: &str,
    read: &str,
    whole: Argument,
) -> Option<Recipe> {
    // A mark is set where it reads.
    if graph.int(reader, "mark")? != 0 {
        return None;
    }
    let read = graph.int(reader, read)?;
    let skipped = (read > 0).then(|| vec![code(read.to_string())]);
    made_with(class, vec![whole], "skip", skipped.into_iter().collect())
}

/// The argument of a reader or writer, unless it is closed, as most drop it then.
fn given(graph: &Graph<'_>, object: u32, field: &str) -> Option<Argument> {
    let closed = graph
        .field(object, "isClosed")
        .is_some_and(|closed| closed.value == Value::Bool(true));
    let given = graph.field(object, field)?;
    (!closed && given.value != Value::Null).then_some(Argument::Value(given))
}

/// The flags of a pattern, by their names.
fn flags(flags: i64) -> Option<Argument> {
    const NAMES: [(i64, &str); 9] = [
        (0x01, "UNIX_LINES"),
        (0x02, "CASE_INSENSITIVE"),
        (0x04, "COMMENTS"),
        (0x08, "MULTILINE"),
        (0x10, "LITERAL"),
        (0x20, "DOTALL"),
        (0x40, "UNICODE_CASE"),
        (0x80, "CANON_EQ"),
        (0x100, "UNICODE_CHARACTER_CLASS"),
    ];
    let set = NAMES.iter().filter(|(flag, _)| flags & flag != 0);
    let names: Vec<&str> = set.map(|(_, name)| *name).collect();
    (!names.is_empty()).then_some(Argument::Flags("java.util.regex.Pattern", names))
}

/// A `ByteBuffer` with an array of its own, at its present position.
fn buffer(graph: &Graph<'_>, object: u32) -> Option<Recipe> {
    const CLASS: &str = "java.nio.ByteBuffer";
    let int = |name: &str| graph.int(object, name);
    let array = graph.field(object, "hb")?;
    let Value::Ref(bytes) = array.value else {
        return None;
    };
    let elements = graph.elements(bytes)?;
    let is = |name: &str, value: bool| {
        graph.field(object, name).map(|field| field.value) == Some(Value::Bool(value))
    };
    let whole = int("offset")? == 0
        && int("capacity")? == elements.len() as i64
        && int("mark")? == -1
        && is("bigEndian", true)
        && is("isReadOnly", false);
    if !whole {
        return None;
    }
    let (name, given) = match elements.iter().all(|element| is_zero(*element)) {
        true => ("allocate", code(elements.len().to_string())),
        false => ("wrap", Argument::Value(array)),
    };
    let of = "()Ljava/nio/ByteBuffer;";
    let mut steps = vec![step(Operation::Static, CLASS, name, of, vec![given])];
    if int("limit")? != int("capacity")? {
        steps.push(on_first(
            CLASS,
            "limit",
            vec![code(int("limit")?.to_string())],
        ));
    }
    if int("position")? != 0 {
        steps.push(on_first(
            CLASS,
            "position",
            vec![code(int("position")?.to_string())],
        ));
    }
    Some(Recipe { steps, result: 0 })
}

/// A `Timestamp`, by its milliseconds if it has no smaller unit.
fn timestamp(seconds: i64, nanos: i64) -> Option<Recipe> {
    const CLASS: &str = "java.sql.Timestamp";
    // Its milliseconds are part of its nanoseconds. Java's sum may overflow, too.
    if nanos % 1_000_000 == 0 {
        let millis = seconds.wrapping_add(nanos / 1_000_000);
        return new(CLASS, vec![code(long(millis))]);
    }
    let given = vec![
        code(long(seconds.div_euclid(1000))),
        code(nanos.to_string()),
    ];
    let instant = step(
        Operation::Static,
        "java.time.Instant",
        "ofEpochSecond",
        "()Ljava/time/Instant;",
        given,
    );
    let of = "()Ljava/sql/Timestamp;";
    let from = step(
        Operation::Static,
        CLASS,
        "from",
        of,
        vec![Argument::Step(0)],
    );
    Some(Recipe {
        steps: vec![instant, from],
        result: 1,
    })
}

/// A `URL`, if `URI` accepts it: its own constructors are deprecated.
fn url(graph: &Graph<'_>, object: u32) -> Option<Recipe> {
    let part = |name: &str| match graph.field(object, name)?.value {
        Value::Null => Some(String::new()),
        Value::Ref(part) => String::from_utf16(&graph.text(part)?).ok(),
        _ => None,
    };
    let (protocol, authority) = (part("protocol")?, part("authority")?);
    let mut shown = format!("{protocol}:");
    if !authority.is_empty() {
        shown.push_str(&format!("//{authority}"));
    }
    shown.push_str(&part("file")?);
    if graph.reference(object, "ref").is_some() {
        shown.push_str(&format!("#{}", part("ref")?));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=".contains(c);
    if !matches!(&*protocol, "http" | "https" | "file") || !shown.chars().all(plain) {
        return None;
    }
    let class = "java.net.URI";
    let uri = step(
        Operation::Static,
        class,
        "create",
        "()Ljava/net/URI;",
        vec![text(&shown)?],
    );
    let url = step(
        Operation::Virtual,
        class,
        "toURL",
        "()Ljava/net/URL;",
        Vec::new(),
    );
    Some(Recipe {
        steps: vec![uri, Step { on: Some(0), ..url }],
        result: 1,
    })
}

/// A `BitSet`, number by number.
fn bits(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let View::List(numbers) = view(graph, object)? else {
        return None;
    };
    if numbers.len() > MAX_ELEMENTS {
        return None;
    }
    let number = |number: Typed| match number.value {
        Value::Int(number) => Some(vec![code(number.to_string())]),
        _ => None,
    };
    let numbers: Option<Vec<_>> = numbers.into_iter().map(number).collect();
    made(class, "set", numbers?)
}

/// A `StringJoiner`, text by text.
fn joiner(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let string = |object: u32| {
        let units = graph.text(object)?;
        Some(Argument::Code(literal::string(&units)?, STRING))
    };
    let part = |name: &str| string(graph.reference(object, name)?);
    if graph.field(object, "emptyValue")?.value != Value::Null {
        return None;
    }
    let (prefix, suffix) = (part("prefix")?, part("suffix")?);
    let arguments = vec![part("delimiter")?, prefix, suffix];
    let mut made = step(Operation::New, class, "<init>", "", arguments);
    let ends = ["prefix", "suffix"].map(|name| graph.text(graph.reference(object, name)?));
    if ends
        .iter()
        .all(|end| end.as_ref().is_some_and(Vec::is_empty))
    {
        made.arguments.truncate(1);
        made.roles.truncate(1);
    }
    let count = usize::try_from(graph.int(object, "size")?).ok()?;
    if count > MAX_ELEMENTS {
        return None;
    }
    let mut steps = vec![made];
    if count > 0 {
        let elements = graph.elements(graph.reference(object, "elts")?)?;
        for element in elements.get(..count)? {
            let Value::Ref(element) = element.value else {
                return None;
            };
            steps.push(on_first(class, "add", vec![string(element)?]));
        }
    }
    Some(Recipe { steps, result: 0 })
}

/// A `long` as a literal.
fn long(number: i64) -> String {
    match number {
        i64::MIN => "Long.MIN_VALUE".to_owned(),
        number => format!("{number}L"),
    }
}

/// The number in an optional, from the text that shows it.
fn number_in(class: &str, shown: &str) -> String {
    let double = || shown.parse().ok().and_then(literal::special);
    match class {
        "java.util.OptionalLong" => format!("{shown}L"),
        "java.util.OptionalDouble" => match double() {
            Some(constant) => format!("Double.{constant}"),
            None => shown.to_owned(),
        },
        _ => shown.to_owned(),
    }
}

fn charset(graph: &Graph<'_>, object: u32) -> Option<Recipe> {
    const OF: &str = "Ljava/nio/charset/Charset;";
    let class = graph.class(object)?;
    if !class
        .supers
        .iter()
        .any(|name| name == "java.nio.charset.Charset")
    {
        return None;
    }
    let name = String::from_utf16(&graph.text(graph.reference(object, "name")?)?).ok()?;
    let standard = match name.as_str() {
        "UTF-8" => "UTF_8",
        "US-ASCII" => "US_ASCII",
        "ISO-8859-1" => "ISO_8859_1",
        "UTF-16" => "UTF_16",
        "UTF-16BE" => "UTF_16BE",
        "UTF-16LE" => "UTF_16LE",
        _ => {
            return call(
                "java.nio.charset.Charset",
                "forName",
                OF,
                vec![text(&name)?],
            );
        }
    };
    constant("java.nio.charset.StandardCharsets", standard, OF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_at_the_end_of_time_are_times() {
        // This is the result of `new Timestamp(Long.MIN_VALUE)` in Java.
        let recipe = timestamp(9_223_372_036_854_775_616, 192_000_000).unwrap();
        let [Argument::Code(millis, _)] = recipe.steps[0].arguments.as_slice() else {
            panic!("{recipe:?}");
        };
        assert_eq!(millis, "Long.MIN_VALUE");
    }

    #[test]
    fn numbers_in_optionals_are_java() {
        for (class, shown, written) in [
            ("Int", "-2147483648", "-2147483648"),
            ("Long", "7", "7L"),
            ("Double", "1.5E10", "1.5E10"),
            ("Double", "NaN", "Double.NaN"),
            ("Double", "Infinity", "Double.POSITIVE_INFINITY"),
            ("Double", "-Infinity", "Double.NEGATIVE_INFINITY"),
        ] {
            let class = format!("java.util.Optional{class}");
            assert_eq!(number_in(&class, shown), written);
        }
    }
}
