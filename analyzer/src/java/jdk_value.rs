//! Values of the JDK that a source makes of a text: those whose texts a trace records.

/// How an object of a class is made of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// The class as a source names it.
    pub class: &'static str,
    /// The static method that takes the text; `None` for a constructor.
    pub method: Option<&'static str>,
}

/// The classes with a static method that takes the text, and the method's name.
const PARSED: &[(&str, &str)] = &[
    ("java.net.URI", "create"),
    ("java.nio.charset.Charset", "forName"),
    ("java.nio.file.Path", "of"),
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

/// Whether `toString` of an object of a class returns its text.
pub fn says_its_text(class: &str) -> bool {
    class != "java.util.Locale"
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
    }
}
