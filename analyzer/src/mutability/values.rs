//! Classes of values. If their objects store something later, as a string does with its hash, it
//! only caches what they can compute at any time.

use crate::java::descriptor;
use crate::program::{MethodId, Program};

/// What is known of a class of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It has no subclasses, and nothing can change its objects.
    Plain,
    /// It has no subclasses, nothing can change its objects, and its methods that take only values
    /// change nothing.
    Final,
    /// These of its methods change nothing, but a program may have a subclass with state that
    /// changes.
    Open,
}

use Kind::{Final, Open, Plain};

/// The classes of values: package, class names separated by blanks, kind.
const VALUES: &[(&str, &str, Kind)] = &[
    (
        "java/lang/",
        "String Integer Long Boolean Character Byte Short Float Double Class Void",
        Plain,
    ),
    (
        "java/time/",
        "DayOfWeek Duration Instant LocalDate LocalDateTime LocalTime Month MonthDay OffsetDateTime OffsetTime Period \
         Year YearMonth ZoneOffset ZonedDateTime",
        Final,
    ),
    ("java/time/", "ZoneId", Open),
    (
        "java/time/chrono/",
        "ChronoLocalDate ChronoLocalDateTime ChronoZonedDateTime",
        Open,
    ),
    ("java/time/format/", "DateTimeFormatter", Open),
    ("java/time/temporal/", "ChronoField ChronoUnit", Final),
    (
        "java/time/temporal/",
        "Temporal TemporalAccessor TemporalAmount TemporalField TemporalUnit",
        Open,
    ),
    ("java/math/", "MathContext", Final),
    ("java/math/", "RoundingMode", Plain),
    ("java/math/", "BigDecimal BigInteger", Open),
    ("java/net/", "URI", Final),
    ("java/nio/charset/", "Charset", Open),
    ("java/nio/file/", "Path Paths", Open),
    (
        "java/util/",
        "Currency Locale OptionalDouble OptionalInt OptionalLong UUID",
        Final,
    ),
    ("java/util/concurrent/", "TimeUnit", Plain),
];

/// Other types that methods of values take and do not change.
const TAKEN: &[&str] = &[
    "java/lang/CharSequence",
    "java/lang/Object",
    "java/lang/String",
    "java/math/RoundingMode",
    "java/time/chrono/Chronology",
    "java/time/format/TextStyle",
    "java/util/Locale$Category",
];

fn kind(class: &[u8]) -> Option<Kind> {
    // Most classes belong to the program.
    if !class.starts_with(b"java/") {
        return None;
    }
    let package = class.iter().rposition(|byte| *byte == b'/');
    let (package, simple) = class.split_at(package.map_or(0, |at| at + 1));
    let is_listed = |names: &str| names.split(' ').any(|name| name.as_bytes() == simple);
    let mut found =
        (VALUES.iter()).filter(|(of, names, _)| of.as_bytes() == package && is_listed(names));
    found.next().map(|found| found.2)
}

/// Whether a class has no subclasses, and its objects have no state that a program could see
/// changing.
pub fn is_trivial(class: &[u8]) -> bool {
    matches!(kind(class), Some(Plain | Final))
}

/// The methods of known classes of values that take only values.
pub fn methods(program: &Program) -> impl Iterator<Item = MethodId> + '_ {
    let known = VALUES.iter().filter(|(_, _, kind)| *kind != Plain);
    let classes = known.flat_map(|(package, names, _)| {
        names.split(' ').map(move |name| format!("{package}{name}"))
    });
    classes.flat_map(|class| of_class(program, &class))
}

fn of_class<'p>(program: &'p Program, class: &str) -> impl Iterator<Item = MethodId> + use<'p> {
    let is_value = |ty: &str| {
        let (_, element) = descriptor::element(ty);
        descriptor::class_name(element).is_none_or(|class| {
            let class = class.replace('.', "/");
            let known = kind(class.as_bytes()).is_some_and(|kind| kind != Plain);
            known || TAKEN.contains(&&*class)
        }) && (element.len() == ty.len() || ty == "[Ljava/lang/String;")
    };
    super::contracts::of_class(program, class).filter(move |&method| {
        let signature = program.names.bytes(program.method(method).signature);
        let text = String::from_utf8_lossy(&signature);
        let types = text.find('(').and_then(|at| descriptor::split(&text[at..]));
        // This method of `Locale` changes static state.
        let sets = text.starts_with("setDefault");
        !text.starts_with('<')
            && !sets
            && types.is_some_and(|(types, _)| types.iter().all(|ty| is_value(ty)))
    })
}
