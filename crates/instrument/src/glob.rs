//! Globs over names with dots: `*` stays within a package, `**` crosses them, `?` is one character. Nested classes
//! are named as in source (`a.Outer.Inner`) or as their class files are (`a.Outer$Inner`).

/// A list of patterns, which matches a name if one of the patterns does.
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

    /// Takes patterns of names that are not names of classes, such as names of threads: each `*`
    /// stands for any text.
    pub fn of_names<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Globs {
        let across = |pattern: &str| pattern.replace("**", "*").replace('*', "**");
        Globs(patterns.into_iter().map(across).collect())
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The patterns, with dots.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Turns patterns of methods (`class.method`) into patterns of the classes that can have such
    /// methods.
    pub fn of_classes(&self) -> Globs {
        let of_classes = |pattern: &String| {
            let class = pattern.rsplit_once('.').map(|(class, _)| class);
            let last = class.map_or(0, |class| class.len() + 1);
            // The end of the pattern may stand for the rest of the class's name, too.
            let across = pattern[last..].find("**");
            let across = across.map(|at| &pattern[..last + at + 2]);
            [class, across].map(|pattern| pattern.map(str::to_owned))
        };
        Globs(
            self.0
                .iter()
                .flat_map(of_classes)
                .flatten()
                .collect::<Vec<_>>(),
        )
    }

    /// Whether a name with dots matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, name))
    }
}

/// Reads globs separated by `;`.
pub fn globs(text: &str) -> Globs {
    let parts = text.split(';').map(str::trim);
    Globs::new(parts.filter(|part| !part.is_empty()))
}

/// One rule of the option `report`. Patterns of methods have the form `class.method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportRule<'r> {
    /// A thread ends by an exception.
    Uncaught,
    /// An exception leaves a method that matches the pattern.
    Escape(&'r str),
    /// An exception is caught in a method that matches the pattern.
    Caught(&'r str),
    /// Only exceptions of the classes that match the pattern are failures.
    Exception(&'r str),
}

impl<'r> ReportRule<'r> {
    /// The forms of rules, for messages.
    pub const ACCEPTED: &'static str =
        "uncaught, escape:GLOB, caught:GLOB (of CLASS.METHOD), exception:GLOB";
    /// What a glob of methods cannot contain, for messages.
    pub const WITHOUT: &'static str = "(no blanks, commas, # or parentheses: ? stands for one)";

    /// Reads a rule; `None` if the text is no rule, or if its pattern cannot match any method.
    pub fn parse(rule: &'r str) -> Option<Self> {
        let parts = rule.split_once(':');
        match parts.map(|(kind, glob)| (kind.trim_end(), glob.trim_start())) {
            None if rule == "uncaught" => Some(Self::Uncaught),
            Some(("escape", glob)) if may_name_method(glob) => Some(Self::Escape(glob)),
            Some(("caught", glob)) if may_name_method(glob) => Some(Self::Caught(glob)),
            Some(("exception", glob)) if !glob.is_empty() && !glob.contains(',') => {
                Some(Self::Exception(glob))
            }
            _ => None,
        }
    }
}

/// Whether a pattern may match a method's `class.method`. A pattern cannot if it has neither a dot
/// nor `**`, or an empty part, or a suffix that other notations put behind names
/// (`Worker#handle(int)`), or a comma, where two rules were meant.
pub fn may_name_method(pattern: &str) -> bool {
    let mut parts = pattern.split(['.', '/']);
    let is_qualified = pattern.contains(['.', '/']) || pattern.contains("**");
    let is_foreign = |c: char| c.is_whitespace() || matches!(c, ',' | '#' | '(' | ')');
    is_qualified && parts.all(|part| !part.is_empty()) && !pattern.contains(is_foreign)
}

/// The number of bytes of a character in UTF-8, given the first byte.
fn len_of_character(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match name.contains('$') {
        true => leads_to_end(pattern, name),
        false => walks_to_end(pattern.as_bytes(), name.as_bytes()),
    }
}

/// Follows all ways through the pattern at once. A dot of it takes a `$`, too, which the star before
/// it could have swallowed, so that no star knows where it is to end. The time is bounded by the
/// product of the lengths.
fn leads_to_end(pattern: &str, name: &str) -> bool {
    // For each place in the pattern, whether a way through the name so far leads there.
    let mut reached = vec![false; pattern.len() + 1];
    // A star may swallow nothing.
    let reach = |reached: &mut [bool], mut at: usize| {
        reached[at] = true;
        while let Some(length) = star(pattern, at) {
            at += length;
            reached[at] = true;
        }
    };
    reach(&mut reached, 0);
    for have in name.chars() {
        reached[pattern.len()] = false;
        // Backwards, since ways lead forwards: where one has just led is not looked at again.
        for (at, want) in pattern.char_indices().rev() {
            if !std::mem::take(&mut reached[at]) {
                continue;
            }
            let (is_taken, next) = match star(pattern, at) {
                Some(length) => (length == 2 || have != '.', at),
                None if want == '?' => (have != '.', at + 1),
                None => {
                    let is_taken = want == have || (want, have) == ('.', '$');
                    (is_taken, at + want.len_utf8())
                }
            };
            if is_taken {
                reach(&mut reached, next);
            }
        }
        if !reached.contains(&true) {
            return false;
        }
    }
    reached[pattern.len()]
}

/// The length of the star at a place of a pattern, if there is one.
fn star(pattern: &str, at: usize) -> Option<usize> {
    let rest = &pattern.as_bytes()[at..];
    match rest.starts_with(b"**") {
        true => Some(2),
        false => rest.starts_with(b"*").then_some(1),
    }
}

/// Matches a name without `$` by the usual two-pointer walk, with one remembered star of each kind,
/// so that the time is bounded by the product of the lengths.
fn walks_to_end(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to resume: the pattern after the star, and the next position in the name that the star
    // may swallow.
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
                n += len_of_character(byte);
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
    use proptest::prelude::*;

    #[test]
    fn stars_of_other_names_know_no_packages() {
        let names = Globs::of_names(["http-*", "pool/worker-1", "**akka?"]);
        for name in ["http-nio-127.0.0.1-8080", "pool/worker-1", "sys.akka5"] {
            assert!(names.matches(name), "{name}");
        }
        assert!(!names.matches("pool.worker-1") && !names.matches("xhttp-1"));
    }

    #[test]
    fn stars_know_packages() {
        for (pattern, name, expected) in [
            ("a.b.C", "a.b.C", true),
            ("a.b.C", "a.b.CD", false),
            ("a.Pr?fer", "a.Pr\u{fc}fer", true),
            ("a.Pr?fer", "a.Prufer", true),
            ("a.?.B", "a.\u{1f600}.B", true),
            ("a.??.B", "a.\u{fc}.B", false),
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
            ("a.Outer.Inner", "a.Outer$Inner", true),
            ("a.Outer.Inner.run", "a.Outer$Inner.run", true),
            ("a.Outer.*", "a.Outer$Inner$Deep", true),
            ("**.Inner", "a.Outer$Inner", true),
            ("a.Outer$Inner", "a.Outer.Inner", false),
            ("a.Inner", "a.Outer$Inner", false),
            ("a.*.*", "a.Outer$Inner.run", true),
            ("a.*.*", "a.Outer$Inner", true),
            ("a.*.*", "a.b.Outer$Inner.run", false),
            ("**.*Server.*", "a.HttpServer$AdminServer.run", true),
            ("a.Pr?fer.*", "a.Pr\u{fc}fer$Inner", true),
        ] {
            assert_eq!(
                Globs::new([pattern]).matches(name),
                expected,
                "{pattern} on {name}"
            );
        }
    }

    #[test]
    fn what_can_be_no_method_is_told() {
        for pattern in ["a.B.c", "a/B/c", "B.<init>", "**", "**c", "a.**", "a.?*.c"] {
            assert!(may_name_method(pattern), "{pattern}");
        }
        for pattern in [
            "",
            "c",
            "*",
            "*c",
            " a.B.c",
            "a.B.c d",
            "a.B#c",
            "a.B.c(int)",
            "a.B.c,escape:a.B.d",
            "a.B.",
            ".c",
            "a..c",
        ] {
            assert!(!may_name_method(pattern), "{pattern}");
        }
    }

    #[test]
    fn the_classes_of_methods_are_known() {
        for (pattern, class, expected) in [
            ("a.B.c", "a.B", true),
            ("a.B.c", "a.C", false),
            ("a.B.*", "a.B", true),
            ("a.**", "a.b.C", true),
            ("a.**", "a", true),
            ("a.**", "b.C", false),
            ("**.B.c", "x.y.B", true),
            ("**.B.c", "x.y.C", false),
            ("**c", "x.Y", true),
            ("a.**Test.t*", "a.b.BTest", true),
            ("a.**Test.t*", "a.b.Test2", false),
            ("a.b**", "a.bc.D", true),
            ("a.b**", "a", true),
        ] {
            let classes = Globs::new([pattern]).of_classes();
            assert_eq!(classes.matches(class), expected, "{pattern} on {class}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        for name in ["a".repeat(5000), "a$".repeat(2500)] {
            assert!(!Globs::new(["*a*a*a*a*a*a*a*a*a*a*b"]).matches(&name));
            assert!(!Globs::new(["**a**a**a**a**a**a**a**b"]).matches(&name));
        }
    }

    proptest! {
        #[test]
        fn both_ways_to_match_agree(pattern in "[ab\u{fc}.?*]{0,9}", name in "[ab\u{fc}.]{0,9}") {
            let walks = walks_to_end(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(walks, leads_to_end(&pattern, &name));
        }
    }
}
