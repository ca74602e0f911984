//! Ways to make objects of the JDK through its public API.

use super::recipe::{Argument, Operation, Recipe, Step};
use crate::graph::{Graph, Typed};
use crate::java::literal;
use crate::views::{View, comparator, defaults, view};
use hindsight_tracelog::crash::{Body, Value};

/// Elements of the longest collection that is written into a test.
const MAX_ELEMENTS: usize = 24;

const LIST: &str = "Ljava/util/List;";
const STRING: &str = "Ljava/lang/String;";

/// How to make an object of the JDK; `None` if there is no readable way.
pub fn recipe(graph: &Graph<'_>, object: u32) -> Option<Recipe> {
    let class = graph.class_name(object);
    if !matches!(graph.body(object)?, Body::Instance(_)) {
        return None;
    }
    scalar(graph, object, class)
        .or_else(|| collection(graph, object, class))
        .or_else(|| exception(graph, object, class))
}

fn code(text: impl Into<String>) -> Argument {
    Argument::Code(text.into(), "I")
}

fn text(text: &str) -> Option<Argument> {
    let units: Vec<u16> = text.encode_utf16().collect();
    Some(Argument::Code(literal::string(&units)?, STRING))
}

fn step(operation: Operation, class: &str, name: &str, of: &str, arguments: Vec<Argument>) -> Step {
    Step {
        operation,
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: of.to_owned(),
        on: None,
        field: None,
        roles: vec![String::new(); arguments.len()],
        arguments,
        variadic: true,
    }
}

fn one(step: Step) -> Option<Recipe> {
    Some(Recipe {
        steps: vec![step],
        result: 0,
    })
}

fn new(class: &str, arguments: Vec<Argument>) -> Option<Recipe> {
    one(step(Operation::New, class, "<init>", "", arguments))
}

/// `Class.name(...)`, of the descriptor `of`.
fn call(class: &str, name: &str, of: &str, arguments: Vec<Argument>) -> Option<Recipe> {
    let of = format!("(){of}");
    one(step(Operation::Static, class, name, &of, arguments))
}

fn constant(class: &str, name: &str, of: &str) -> Option<Recipe> {
    one(step(Operation::GetStatic, class, name, of, Vec::new()))
}

fn scalar(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
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
                Err(_) if shown.len() < 200 => new(class, vec![text(&shown)?]),
                Err(_) => None,
            }
        }
        "java.math.BigDecimal" => {
            let shown = shown()?;
            match shown.len() < 200 && !shown.contains(' ') {
                true => new(class, vec![text(&shown)?]),
                false => None,
            }
        }
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
        "java.util.Locale" => match shown()?.as_str() {
            "ROOT" => constant(class, "ROOT", &own),
            tag => call(class, "forLanguageTag", &own, vec![text(tag)?]),
        },
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
        "java.util.regex.Pattern" => match int("flags")? & 0x1ff {
            0 => call(class, "compile", &own, vec![string("pattern")?]),
            flags => call(
                class,
                "compile",
                &own,
                vec![string("pattern")?, code(flags.to_string())],
            ),
        },
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
        "java.util.concurrent.atomic.LongAdder" => match (shown()?.parse().ok()?, int("base")?) {
            (0, 0) => new(class, Vec::new()),
            // Of what is in cells there would be none.
            (sum, base) if sum == base => made(class, "add", vec![vec![code(long(sum))]]),
            _ => None,
        },
        "java.util.concurrent.CountDownLatch" => new(class, vec![code(shown()?)]),
        "java.util.concurrent.Semaphore" => {
            let mut arguments = vec![code(shown()?)];
            if graph
                .class_name(graph.reference(object, "sync")?)
                .ends_with("$FairSync")
            {
                arguments.push(code("true"));
            }
            new(class, arguments)
        }
        "java.util.StringJoiner" => joiner(graph, object, class),
        "java.util.concurrent.locks.ReentrantLock" => new(class, Vec::new()),
        "java.io.StringReader" => match int("next")? {
            0 => new(class, vec![Argument::Value(graph.field(object, "str")?)]),
            _ => None,
        },
        "java.io.ByteArrayInputStream" => match int("pos")? {
            0 => new(class, vec![Argument::Value(graph.field(object, "buf")?)]),
            _ => None,
        },
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
            let mut arguments = vec![Argument::Value(graph.field(object, "out")?)];
            if graph.field(object, "autoFlush")?.value == Value::Bool(true) {
                arguments.push(code("true"));
            }
            new(class, arguments)
        }
        "java.io.ByteArrayOutputStream" if int("count")? == 0 => new(class, Vec::new()),
        "java.lang.String$CaseInsensitiveComparator" => constant(
            "java.lang.String",
            "CASE_INSENSITIVE_ORDER",
            "Ljava/util/Comparator;",
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

/// A `Timestamp`, by its milliseconds where it has no more than these.
fn timestamp(seconds: i64, nanos: i64) -> Option<Recipe> {
    const CLASS: &str = "java.sql.Timestamp";
    // Its milliseconds are in its nanoseconds.
    if nanos % 1_000_000 == 0 {
        return new(CLASS, vec![code(long(seconds + nanos / 1_000_000))]);
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

/// A `URL`, if it is one that `URI` takes: its own constructors are deprecated.
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

/// Exceptions of the JDK that take a message and a cause.
const WITH_CAUSE: [&str; 13] = [
    "java.io.IOException",
    "java.lang.AssertionError",
    "java.lang.Error",
    "java.lang.Exception",
    "java.lang.IllegalArgumentException",
    "java.lang.IllegalStateException",
    "java.lang.RuntimeException",
    "java.lang.SecurityException",
    "java.lang.Throwable",
    "java.lang.UnsupportedOperationException",
    "java.util.ConcurrentModificationException",
    "java.util.concurrent.CompletionException",
    "java.util.concurrent.ExecutionException",
];
/// Exceptions of the JDK that take a message.
const WITH_MESSAGE: [&str; 13] = [
    "java.io.EOFException",
    "java.io.FileNotFoundException",
    "java.lang.ArithmeticException",
    "java.lang.ArrayIndexOutOfBoundsException",
    "java.lang.ClassCastException",
    "java.lang.CloneNotSupportedException",
    "java.lang.IndexOutOfBoundsException",
    "java.lang.InterruptedException",
    "java.lang.NullPointerException",
    "java.lang.NumberFormatException",
    "java.lang.StringIndexOutOfBoundsException",
    "java.util.NoSuchElementException",
    "java.util.concurrent.TimeoutException",
];

/// An exception of the JDK by its message, its cause and what it suppresses. Its stack trace is
/// another one, so it is not what was thrown.
fn exception(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let takes_cause = WITH_CAUSE.contains(&class);
    if !takes_cause && !WITH_MESSAGE.contains(&class) {
        return None;
    }
    let mut exceptions = graph.crash.failure.exceptions.iter();
    if exceptions.any(|one| one.class == class) {
        return None;
    }
    let message = graph.field(object, "detailMessage")?;
    let cause = graph.field(object, "cause")?;
    // Until it has a cause, an exception is its own.
    let has_cause = cause.value != Value::Ref(object);
    let mut arguments = Vec::new();
    if message.value != Value::Null || has_cause {
        arguments.push(Argument::Value(message));
    }
    if has_cause && takes_cause {
        arguments.push(Argument::Value(cause));
    }
    let mut steps = vec![step(Operation::New, class, "<init>", "", arguments)];
    if has_cause && !takes_cause {
        steps.push(on_first(class, "initCause", vec![Argument::Value(cause)]));
    }
    let of = suppressed(graph, object)?.into_iter();
    steps.extend(of.map(|one| on_first(class, "addSuppressed", vec![Argument::Value(one)])));
    Some(Recipe { steps, result: 0 })
}

/// The exceptions that an exception suppresses.
pub fn suppressed(graph: &Graph<'_>, object: u32) -> Option<Vec<Typed>> {
    let list = graph.reference(object, "suppressedExceptions")?;
    match view(graph, list)? {
        View::List(elements) => Some(elements),
        _ => None,
    }
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

/// A call of an object's own method, which returns nothing that is of use.
fn on_first(class: &str, name: &str, arguments: Vec<Argument>) -> Step {
    Step {
        on: Some(0),
        ..step(Operation::Virtual, class, name, "()V", arguments)
    }
}

/// An object that is made empty and filled by calls of one method.
fn made(class: &str, name: &str, calls: Vec<Vec<Argument>>) -> Option<Recipe> {
    made_with(class, Vec::new(), name, calls)
}

/// An object that is made of some arguments and filled by calls of one method.
fn made_with(
    class: &str,
    arguments: Vec<Argument>,
    name: &str,
    calls: Vec<Vec<Argument>>,
) -> Option<Recipe> {
    let mut steps = vec![step(Operation::New, class, "<init>", "", arguments)];
    steps.extend(calls.into_iter().map(|call| on_first(class, name, call)));
    Some(Recipe { steps, result: 0 })
}

/// A `long` as a literal.
fn long(number: i64) -> String {
    match number {
        i64::MIN => "Long.MIN_VALUE".to_owned(),
        number => format!("{number}L"),
    }
}

/// What an optional of numbers is made of, of how that is shown.
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

fn collection(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let name = class.strip_prefix("java.util.")?;
    if let Some(recipe) = wrapper(graph, object, name) {
        return Some(recipe);
    }
    if name == "Collections$CopiesList" {
        let count = code(graph.int(object, "n")?.to_string());
        let element = Argument::Value(graph.field(object, "element")?);
        return call(
            "java.util.Collections",
            "nCopies",
            LIST,
            vec![count, element],
        );
    }
    match view(graph, object)? {
        View::List(elements) if elements.len() <= MAX_ELEMENTS => {
            list(graph, object, class, name, elements)
        }
        View::Map(entries) if entries.len() <= MAX_ELEMENTS => {
            map(graph, object, class, name, entries)
        }
        _ => None,
    }
}

/// `List.of(a, b)`, or what may hold null.
fn listing(graph: &Graph<'_>, elements: Vec<Typed>) -> Option<Step> {
    let null = elements.iter().any(|element| element.value == Value::Null);
    let (class, name) = match (null, elements.as_slice()) {
        (true, [_]) => ("java.util.Collections", "singletonList"),
        (true, _) => ("java.util.Arrays", "asList"),
        // An array would be taken for the elements.
        (false, [only]) if is_array(graph, *only) => ("java.util.Collections", "singletonList"),
        (false, _) => ("java.util.List", "of"),
    };
    let arguments = elements.into_iter().map(Argument::Value).collect();
    Some(step(
        Operation::Static,
        class,
        name,
        &format!("(){LIST}"),
        arguments,
    ))
}

fn is_array(graph: &Graph<'_>, typed: Typed) -> bool {
    matches!(typed.value, Value::Ref(object) if graph.class_name(object).starts_with('['))
}

/// A collection that its constructor copies from a list.
fn copied(graph: &Graph<'_>, class: &str, elements: Vec<Typed>) -> Option<Recipe> {
    if elements.is_empty() {
        return new(class, Vec::new());
    }
    let made = step(Operation::New, class, "<init>", "", vec![Argument::Step(0)]);
    Some(Recipe {
        steps: vec![listing(graph, elements)?, made],
        result: 1,
    })
}

fn list(
    graph: &Graph<'_>,
    object: u32,
    class: &str,
    name: &str,
    elements: Vec<Typed>,
) -> Option<Recipe> {
    let calls = || {
        let elements = elements.iter().copied().map(Argument::Value);
        elements.map(|element| vec![element]).collect()
    };
    let values = || elements.iter().copied().map(Argument::Value).collect();
    match name {
        "ArrayList"
        | "LinkedList"
        | "ArrayDeque"
        | "Vector"
        | "HashSet"
        | "LinkedHashSet"
        | "concurrent.CopyOnWriteArrayList"
        | "concurrent.CopyOnWriteArraySet" => copied(graph, class, elements),
        "Stack" => made(class, "push", calls()),
        "TreeSet" | "PriorityQueue" | "concurrent.ConcurrentSkipListSet" => {
            match comparator(graph, object) {
                None => copied(graph, class, elements),
                Some(order) => {
                    let order = Argument::Value(Typed::reference(Value::Ref(order)));
                    made_with(class, vec![order], "add", calls())
                }
            }
        }
        "concurrent.LinkedBlockingQueue" | "concurrent.LinkedBlockingDeque" => {
            match graph.int(object, "capacity")? {
                capacity if capacity == i64::from(i32::MAX) => copied(graph, class, elements),
                capacity => made_with(class, vec![code(capacity.to_string())], "add", calls()),
            }
        }
        "Arrays$ArrayList" => {
            let alone = matches!(elements.as_slice(), [only] if only.value == Value::Null || is_array(graph, *only));
            if alone {
                return None;
            }
            call("java.util.Arrays", "asList", LIST, values())
        }
        "ImmutableCollections$ListN" | "ImmutableCollections$List12" => {
            if elements.iter().any(|element| element.value == Value::Null) {
                return None;
            }
            call("java.util.List", "of", LIST, values())
        }
        "ImmutableCollections$SetN" | "ImmutableCollections$Set12" => {
            call("java.util.Set", "of", "Ljava/util/Set;", values())
        }
        "Collections$EmptyList" => call("java.util.Collections", "emptyList", LIST, values()),
        "Collections$EmptySet" => call(
            "java.util.Collections",
            "emptySet",
            "Ljava/util/Set;",
            values(),
        ),
        "Collections$SingletonList" => {
            call("java.util.Collections", "singletonList", LIST, values())
        }
        "Collections$SingletonSet" => call(
            "java.util.Collections",
            "singleton",
            "Ljava/util/Set;",
            values(),
        ),
        "Optional" => match elements.is_empty() {
            true => call(class, "empty", "Ljava/util/Optional;", Vec::new()),
            false => call(class, "of", "Ljava/util/Optional;", values()),
        },
        "concurrent.atomic.AtomicReference" => new(class, values()),
        "RegularEnumSet" => match elements.is_empty() {
            false => call("java.util.EnumSet", "of", "Ljava/util/EnumSet;", values()),
            true => call(
                "java.util.EnumSet",
                "noneOf",
                "Ljava/util/EnumSet;",
                vec![Argument::Value(graph.field(object, "elementType")?)],
            ),
        },
        _ => None,
    }
}

fn map(
    graph: &Graph<'_>,
    object: u32,
    class: &str,
    name: &str,
    entries: Vec<(Typed, Typed)>,
) -> Option<Recipe> {
    let flat = || {
        let flat = entries.iter().flat_map(|(key, value)| [*key, *value]);
        flat.map(Argument::Value).collect::<Vec<_>>()
    };
    let mut first = Vec::new();
    match name {
        "HashMap"
        | "Hashtable"
        | "IdentityHashMap"
        | "concurrent.ConcurrentHashMap"
        | "WeakHashMap" => {}
        "Properties" => first.extend(defaults(graph, object).map(Argument::Value)),
        "LinkedHashMap" if graph.int(object, "accessOrder") != Some(1) => {}
        "TreeMap" | "concurrent.ConcurrentSkipListMap" => {
            let comparator = graph.field(object, "comparator")?;
            if comparator.value != Value::Null {
                first.push(Argument::Value(comparator));
            }
        }
        "EnumMap" => first.push(Argument::Value(graph.field(object, "keyType")?)),
        "ImmutableCollections$Map1" | "ImmutableCollections$MapN" if entries.len() <= 10 => {
            return call("java.util.Map", "of", "Ljava/util/Map;", flat());
        }
        "Collections$EmptyMap" => {
            return call(
                "java.util.Collections",
                "emptyMap",
                "Ljava/util/Map;",
                flat(),
            );
        }
        "Collections$SingletonMap" => {
            return call(
                "java.util.Collections",
                "singletonMap",
                "Ljava/util/Map;",
                flat(),
            );
        }
        "KeyValueHolder" => {
            return call("java.util.Map", "entry", "Ljava/util/Map$Entry;", flat());
        }
        "AbstractMap$SimpleEntry" | "AbstractMap$SimpleImmutableEntry" => {
            return new(class, flat());
        }
        _ => return None,
    }
    let mut steps = vec![step(Operation::New, class, "<init>", "", first)];
    let put = if name == "Properties" {
        "setProperty"
    } else {
        "put"
    };
    for (key, value) in entries {
        steps.push(Step {
            on: Some(0),
            ..step(
                Operation::Virtual,
                class,
                put,
                "()V",
                vec![Argument::Value(key), Argument::Value(value)],
            )
        });
    }
    Some(Recipe { steps, result: 0 })
}

/// `Collections.unmodifiableList(inner)` and its like.
fn wrapper(graph: &Graph<'_>, object: u32, name: &str) -> Option<Recipe> {
    let kind = name.strip_prefix("Collections$")?;
    let (verb, of) = match kind.strip_prefix("Unmodifiable") {
        Some(of) => ("unmodifiable", of),
        None => ("synchronized", kind.strip_prefix("Synchronized")?),
    };
    let of = match of {
        "RandomAccessList" => "List",
        "Collection" | "List" | "Set" | "Map" | "SortedSet" | "SortedMap" | "NavigableSet"
        | "NavigableMap" => of,
        _ => return None,
    };
    let field = if of.ends_with("Map") { "m" } else { "c" };
    let inner = graph.field(object, field)?;
    call(
        "java.util.Collections",
        &format!("{verb}{of}"),
        &format!("Ljava/util/{of};"),
        vec![Argument::Value(inner)],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
