//! Values of the JDK that a source makes of a text: those whose texts a trace records.

/// How an object of a class is made of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// The class as a source names it.
    pub class: &'static str,
    /// The static method that takes the text, or what the text is split into ([`parts`]); `None` for
    /// a constructor.
    pub method: Option<&'static str>,
}

/// The classes with a static method that takes the text, and the method's name.
const PARSED: &[(&str, &str)] = &[
    ("java.net.URI", "create"),
    ("java.nio.charset.Charset", "forName"),
    ("java.nio.file.Path", "of"),
    ("java.time.Clock", "fixed"),
    ("java.time.Duration", "parse"),
    ("java.time.Instant", "parse"),
    ("java.time.LocalDate", "parse"),
    ("java.time.LocalDateTime", "parse"),
    ("java.time.LocalTime", "parse"),
    ("java.time.MonthDay", "parse"),
    ("java.time.OffsetDateTime", "parse"),
    ("java.time.OffsetTime", "parse"),
    ("java.time.Period", "parse"),
    ("java.time.Year", "parse"),
    ("java.time.YearMonth", "parse"),
    ("java.time.ZoneId", "of"),
    ("java.time.ZoneOffset", "of"),
    ("java.time.ZonedDateTime", "parse"),
    ("java.util.Currency", "getInstance"),
    ("java.util.Locale", "forLanguageTag"),
    ("java.util.UUID", "fromString"),
    ("java.util.regex.Pattern", "compile"),
];

/// The classes with a constructor that takes the text.
const MADE: &[&str] = &[
    "java.io.File",
    "java.math.BigDecimal",
    "java.math.BigInteger",
];

/// How objects of a class are made of their texts. The class is named as it was recorded, or as
/// sources name it.
pub fn way(class: &str) -> Option<Way> {
    let named = match class {
        "java.time.Clock$FixedClock" | "java.time.Clock$SystemClock" => "java.time.Clock",
        "java.time.ZoneRegion" => "java.time.ZoneId",
        _ if class.starts_with("sun.nio.cs.") => "java.nio.charset.Charset",
        _ if class.starts_with("sun.nio.fs.") => "java.nio.file.Path",
        _ => class,
    };
    if let Some(class) = MADE.iter().find(|made| **made == named) {
        return Some(Way {
            class,
            method: None,
        });
    }
    let (class, method) = PARSED.iter().find(|(parsed, _)| *parsed == named)?;
    Some(Way {
        class,
        method: Some(method),
    })
}

/// The static method of a class that takes other values instead, and these: classes and texts.
pub fn parts<'t>(
    class: &str,
    text: &'t str,
) -> Option<(&'static str, Vec<(&'static str, &'t str)>)> {
    if class != "java.time.Clock" {
        return None;
    }
    const ZONE: &str = "java.time.ZoneId";
    // A clock that goes has a zone alone.
    Some(match text.split_once(' ') {
        Some((instant, zone)) => ("fixed", vec![("java.time.Instant", instant), (ZONE, zone)]),
        None if text == "Z" => ("systemUTC", Vec::new()),
        None => ("system", vec![(ZONE, text)]),
    })
}

/// The constant that a source names for a value: its class, and its name.
pub fn constant(class: &str, text: &str) -> Option<(&'static str, &'static str)> {
    let is_zone = matches!(class, "java.time.ZoneId" | "java.time.ZoneOffset");
    (is_zone && text == "Z").then_some(("java.time.ZoneOffset", "UTC"))
}

/// Whether `toString` of an object of a class returns its text.
pub fn says_its_text(class: &str) -> bool {
    !matches!(class, "java.time.Clock" | "java.util.Locale")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_ways() {
        let of = |class| way(class).map(|way| (way.class, way.method));
        assert_eq!(
            of("java.time.LocalDate"),
            Some(("java.time.LocalDate", Some("parse")))
        );
        assert_eq!(of("java.io.File"), Some(("java.io.File", None)));
        assert_eq!(
            of("sun.nio.cs.UTF_8"),
            Some(("java.nio.charset.Charset", Some("forName")))
        );
        assert_eq!(
            of("java.time.ZoneRegion"),
            Some(("java.time.ZoneId", Some("of")))
        );
        assert_eq!(of("java.util.Date"), None);
        let clock = of("java.time.Clock$FixedClock").unwrap().0;
        let instant = ("java.time.Instant", "2024-05-01T08:00:00Z");
        let zone = ("java.time.ZoneId", "Z");
        assert_eq!(
            parts(clock, "2024-05-01T08:00:00Z Z"),
            Some(("fixed", vec![instant, zone]))
        );
        assert_eq!(parts(clock, "Z"), Some(("systemUTC", Vec::new())));
        assert_eq!(parts("java.time.LocalDate", "2024-05-01"), None);
    }
}
