//! Globs over names with dots: `*` stays within a package, `**` crosses them, `?` is one character.

/// A list of patterns; matches if one of them does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Globs(Vec<String>);

impl Globs {
    /// Takes patterns of names with dots or slashes.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Globs {
        // Users copy names from stack traces and from class files alike.
        Globs(
            patterns
                .into_iter()
                .map(|pattern| pattern.replace('/', "."))
                .collect(),
        )
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a name with dots matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|pattern| matches(pattern.as_bytes(), name.as_bytes()))
    }
}

/// Whether a pattern may match a method's `class.method`: one with neither a dot nor a star can be no method's.
pub fn may_name_method(pattern: &str) -> bool {
    pattern.contains(['.', '*'])
}

/// Matches by the usual two-pointer walk with one remembered star of each kind,
/// so the time is bounded by the product of the lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to resume: (pattern after the star, next name position it may swallow).
    let mut single: Option<(usize, usize)> = None;
    let mut double: Option<(usize, usize)> = None;
    loop {
        if pattern[p..].starts_with(b"**") {
            p += 2;
            double = Some((p, n));
            single = None;
            continue;
        }
        match (pattern.get(p), name.get(n)) {
            (Some(b'*'), _) => {
                p += 1;
                single = Some((p, n));
                continue;
            }
            (None, None) => return true,
            (Some(b'?'), Some(&byte)) if byte != b'.' => {
                p += 1;
                n += 1;
                continue;
            }
            (Some(want), Some(have)) if want == have => {
                p += 1;
                n += 1;
                continue;
            }
            _ => {}
        }
        if let Some((after, from)) = single
            && from < name.len()
            && name[from] != b'.'
        {
            single = Some((after, from + 1));
            (p, n) = (after, from + 1);
        } else if let Some((after, from)) = double
            && from < name.len()
        {
            double = Some((after, from + 1));
            single = None;
            (p, n) = (after, from + 1);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_know_packages() {
        for (pattern, name, expected) in [
            ("a.b.C", "a.b.C", true),
            ("a.b.C", "a.b.CD", false),
            ("a.*", "a.B", true),
            ("a.*", "a.b.C", false),
            ("a.**", "a.b.C", true),
            ("**", "", true),
            ("**.Foo*", "x.y.FooBar", true),
            ("**.Foo*", "x.y.FooBar.z", false),
            ("*", "a.b", false),
            (
                "com.sun.tools.javac.**",
                "com.sun.tools.javac.comp.Attr",
                true,
            ),
            ("**.Main.main", "Main.main", false),
            ("**Main.main", "Main.main", true),
            ("a.?", "a.B", true),
            ("a?b", "a.b", false),
            ("*.*.*", "a.b.c", true),
            ("**.x.*y", "x.a.x.by", true),
        ] {
            assert_eq!(
                Globs::new([pattern]).matches(name),
                expected,
                "{pattern} on {name}"
            );
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        let name = "a".repeat(5000);
        assert!(!Globs::new(["*a*a*a*a*a*a*a*a*a*a*b"]).matches(&name));
        assert!(!Globs::new(["**a**a**a**a**a**a**a**b"]).matches(&name));
    }
}
