//! The `chances` file: which methods get a second chance.
//!
//! ```text
//! # comments, empty lines
//! com.acme.Worker.handle
//! com.acme.Worker$Inner.<init>
//! stackless: java.lang.NullPointerException
//! found: java.lang.NullPointerException
//! found: java.lang.NullPointerException in com.acme.Worker.handle
//! stackless: java.lang.NullPointerException 2
//! ```
//!
//! A line with a dot names methods: the class, and the name that all its overloads share.
//! `stackless:` names an exception that came without a stack trace, so that its methods were not
//! known; `found:` says that they are known now and are in the file. If the exception is thrown
//! elsewhere as well, it is searched for again: `in` names the method where it was found, and the
//! number counts how often.
//!
//! **Invariant:** neither the order nor the repetition of lines means anything, so files of many
//! machines are merged by concatenation.
//!
//! **Invariant:** a line is written in one piece together with its end, and after the end of any
//! line that another writer has left incomplete.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The most bytes of a file that are read; a longer file is not of this format, or of a program
/// that fails everywhere.
const MAX_BYTES: u64 = 64 << 20;

const STACKLESS: &str = "stackless:";
const FOUND: &str = "found:";
const IN: &str = " in ";

/// The content of the lines.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The names of methods, by the names of their classes, with dots.
    pub(super) methods: HashMap<String, HashSet<String>>,
    /// The exceptions that came without a stack trace, with how often their methods were searched
    /// for.
    pub(super) stackless: BTreeMap<String, u32>,
    /// The same exceptions, with how often their methods were found.
    pub(super) found: BTreeMap<String, u32>,
    /// The innermost methods of the exceptions that were found, by exception.
    places: HashMap<String, HashSet<String>>,
}

/// The content of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    Method {
        class: String,
        name: String,
    },
    /// The exception, and the number of the search for it, from 1.
    Stackless(String, u32),
    Found(String, u32),
    /// The exception, and the class and method where it was found.
    Place(String, String),
}

/// A line that cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// The line's number, from 1.
    pub(crate) number: usize,
    pub(crate) start: String,
}

impl Entry {
    fn parse(line: &str) -> Option<Entry> {
        let exception = |name: &str| is_name(name.trim()).then(|| name.trim().to_owned());
        let numbered = |rest: &str| {
            let (name, number) = match rest.trim().rsplit_once(' ') {
                Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    (name, number.parse().ok()?)
                }
                _ => (rest, 1),
            };
            Some((exception(name)?, number))
        };
        if let Some(rest) = line.strip_prefix(STACKLESS) {
            return numbered(rest).map(|(name, number)| Entry::Stackless(name, number));
        }
        if let Some(rest) = line.strip_prefix(FOUND) {
            if let Some((name, place)) = rest.split_once(IN) {
                let place = Entry::parse_method(place.trim())?;
                return Some(Entry::Place(
                    exception(name)?,
                    place.line().trim().to_owned(),
                ));
            }
            return numbered(rest).map(|(name, number)| Entry::Found(name, number));
        }
        Entry::parse_method(line)
    }

    /// Parses an entry that names a method.
    fn parse_method(line: &str) -> Option<Entry> {
        // It was copied from a stack trace: `at app//a.B.c(B.java:12)`, with loader and module in
        // front. In the name of a hidden class, its number follows a slash.
        let line = match line.split_once('(') {
            None => line,
            Some((method, _)) => {
                let method = method.strip_prefix("at ").map_or(method, str::trim_start);
                let known = method.rsplit_once('/');
                let known = known.filter(|(_, name)| !name.starts_with("0x"));
                known.map_or(method, |(_, name)| name)
            }
        };
        let (class, name) = line.rsplit_once('.')?;
        let is_method = name == "<init>" || name == "<clinit>" || is_name(name);
        (is_name(class) && is_method).then(|| Entry::Method {
            class: class.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The method of an element of a stack trace, if it can be written to the file and found again.
    pub(crate) fn method(class: &str, name: &str) -> Option<Entry> {
        let entry = Entry::parse_method(&format!("{class}.{name}"))?;
        let same = matches!(&entry, Entry::Method { class: c, name: n } if c == class && n == name);
        same.then_some(entry)
    }

    fn line(&self) -> String {
        match self {
            Entry::Method { class, name } => format!("{class}.{name}\n"),
            Entry::Stackless(exception, 1) => format!("{STACKLESS} {exception}\n"),
            Entry::Stackless(exception, number) => format!("{STACKLESS} {exception} {number}\n"),
            Entry::Found(exception, 1) => format!("{FOUND} {exception}\n"),
            Entry::Found(exception, number) => format!("{FOUND} {exception} {number}\n"),
            Entry::Place(exception, place) => format!("{FOUND} {exception}{IN}{place}\n"),
        }
    }
}

/// Whether this may be a name that means the same class in another run; the names of hidden classes
/// have a slash.
fn is_name(text: &str) -> bool {
    const FORBIDDEN: &[char] = &['/', ';', '[', '<', '>', '(', ':', '#', '\u{fffd}'];
    !text.is_empty()
        && text.trim() == text
        && !text.split('.').any(str::is_empty)
        && !text
            .chars()
            .any(|c| c.is_control() || FORBIDDEN.contains(&c))
}

/// Stores a number if it is greater than the present one. Returns whether it is.
fn more(of: &mut BTreeMap<String, u32>, exception: &str, number: u32) -> bool {
    let known = of.entry(exception.to_owned()).or_default();
    let is_more = number > *known;
    *known = number.max(*known);
    is_more
}

impl Known {
    /// Adds an entry. Returns whether it is new.
    pub(crate) fn add(&mut self, entry: &Entry) -> bool {
        match entry {
            Entry::Method { class, name } => match self.methods.get_mut(class) {
                Some(names) => names.insert(name.clone()),
                None => {
                    let names = HashSet::from([name.clone()]);
                    self.methods.insert(class.clone(), names);
                    true
                }
            },
            Entry::Stackless(exception, number) => more(&mut self.stackless, exception, *number),
            Entry::Found(exception, number) => more(&mut self.found, exception, *number),
            Entry::Place(exception, place) => {
                let places = self.places.entry(exception.clone()).or_default();
                places.insert(place.clone())
            }
        }
    }

    /// How often the methods of an exception were searched for, and found.
    pub(crate) fn times(&self, exception: &str) -> (u32, u32) {
        let of = |all: &BTreeMap<String, u32>| all.get(exception).copied().unwrap_or(0);
        (of(&self.stackless), of(&self.found))
    }

    /// Whether an exception was found before with this method as the innermost one of its way.
    pub(crate) fn is_place(&self, exception: &str, (class, name): &(String, String)) -> bool {
        let places = self.places.get(exception);
        places.is_some_and(|places| places.contains(&format!("{class}.{name}")))
    }

    /// Whether there are exceptions whose methods are not known, so that they may be any.
    pub(crate) fn everything(&self) -> bool {
        let mut asked = self.stackless.iter();
        asked.any(|(exception, times)| self.found.get(exception).is_none_or(|found| found < times))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.methods.is_empty() && !self.everything()
    }

    /// Parses lines. Those that cannot be parsed are returned second.
    pub(crate) fn parse(text: &str) -> (Known, Vec<BadLine>) {
        let mut known = Known::default();
        let mut bad = Vec::new();
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (at, line) in text.split('\n').enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match Entry::parse(line) {
                Some(entry) => {
                    known.add(&entry);
                }
                None => bad.push(BadLine {
                    number: at + 1,
                    start: line
                        .chars()
                        .take(60)
                        .collect::<String>()
                        .escape_debug()
                        .to_string(),
                }),
            }
        }
        // The writer of the last line was interrupted, which needs no repair.
        let last = text.split('\n').count();
        if !text.ends_with('\n') {
            bad.retain(|bad| bad.number != last);
        }
        (known, bad)
    }

    /// Reads a file. A missing one is empty; `Err` says why another one cannot be used.
    pub(crate) fn read(path: &Path) -> Result<(Known, Vec<BadLine>), String> {
        let cannot = |what: &str| format!("cannot use the chances file {}: {what}", path.display());
        let found = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Default::default()),
            Err(error) => return Err(cannot(&error.to_string())),
            Ok(found) => found,
        };
        // Reading a pipe would never end.
        if !found.is_file() {
            return Err(cannot("it is no regular file"));
        }
        if found.len() > MAX_BYTES {
            return Err(cannot("it has more than 64 MB"));
        }
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
            .map_err(|error| cannot(&error.to_string()))?;
        Ok(Known::parse(&String::from_utf8_lossy(&bytes)))
    }
}

/// Appends entries, which are on disk when this returns.
pub(crate) fn append(path: &Path, entries: &[Entry]) -> io::Result<()> {
    if let Some(directory) = path.parent()
        && !directory.as_os_str().is_empty()
    {
        fs::create_dir_all(directory)?;
    }
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    let mut text = String::new();
    let len = file.metadata()?.len();
    if len == 0 {
        text.push_str(
            "# Methods to record from their first call on: mode=second-chance, chances=FILE.\n",
        );
    } else {
        let mut last = [0];
        file.seek(SeekFrom::Start(len - 1))?;
        if file.read(&mut last)? == 1 && last != *b"\n" {
            text.push('\n');
        }
    }
    text.extend(entries.iter().map(Entry::line));
    // It is written in one piece, because other JVMs may append to the same file.
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Known {
        let (known, bad) = Known::parse(text);
        assert_eq!(bad, [], "{text}");
        known
    }

    #[test]
    fn lines_are_read_in_any_order_and_number() {
        let once = known(
            "# comment\na.B.c\n\nstackless: x.E\na.B$D.<init>\r\na.B.e(B.java:12)\nfound: x.E\n",
        );
        let twice = known(
            "found: x.E\na.B.e\n  a.B$D.<init>\na.B.c\nstackless: x.E\n#\nstackless: x.E\na.B.c\n",
        );
        assert_eq!(once, twice);
        assert_eq!(once.methods["a.B"].len(), 2);
        assert!(once.methods["a.B$D"].contains("<init>"));
        assert!(!once.everything());
        assert!(known("stackless: x.E\nfound: x.F\n").everything());
        let copied = known(
            "\u{feff}a.B.c\r\n\tat a.B.d(B.java:1)\r\n\tat app//a.B.e(B.java:2)\nat java.base@25/a.B.f(Native Method)\n",
        );
        assert_eq!(copied.methods["a.B"].len(), 4);
        assert_eq!(copied.methods.len(), 1);
    }

    #[test]
    fn a_long_line_takes_no_stack() {
        let (known, bad) = Known::parse(&format!("{}\n", "found: x.E in ".repeat(1 << 20)));
        assert_eq!((known, bad.len()), (Known::default(), 1));
    }

    #[test]
    fn an_exception_is_looked_for_again_elsewhere() {
        let text = "stackless: x.E\nfound: x.E\nfound: x.E in a.B.<init>\n";
        let first = known(text);
        assert_eq!(first.times("x.E"), (1, 1));
        let place = |class: &str, name: &str| (class.to_owned(), name.to_owned());
        assert!(first.is_place("x.E", &place("a.B", "<init>")));
        assert!(!first.is_place("x.E", &place("a.B", "c")) && !first.everything());
        let again = known(&format!("stackless: x.E 2\n{text}"));
        assert!(again.everything());
        assert!(!known(&format!("found: x.E 2\n{text}stackless: x.E 2\n")).everything());
        for entry in [
            Entry::Stackless("x.E".to_owned(), 2),
            Entry::Found("x.E".to_owned(), 1),
            Entry::Place("x.E".to_owned(), "a.B.c".to_owned()),
        ] {
            assert_eq!(Entry::parse(entry.line().trim()), Some(entry));
        }
        assert_eq!(Entry::parse("found: x.E in nothing"), None);
        assert_eq!(Entry::parse("found: x.E in found: x.E"), None);
    }

    #[test]
    fn unknown_lines_are_named_and_half_a_last_one_is_not() {
        let (known, bad) = Known::parse("a.B.c\nnothing\na..b\nfuture: 1/2\na.B.d\nstackl");
        let numbers: Vec<usize> = bad.iter().map(|bad| bad.number).collect();
        assert_eq!(numbers, [2, 3, 4]);
        assert_eq!(bad[0].start, "nothing");
        assert_eq!(known.methods["a.B"].len(), 2);
        let (_, bad) = Known::parse("\0\u{1b}[31m\n");
        assert_eq!(bad[0].start, "\\0\\u{1b}[31m");
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        assert!(Entry::method("a.B", "lambda$main$0").is_some());
        assert!(Entry::method("a.Bé", "über").is_some());
        for (class, method) in [
            ("a.B$$Lambda/0x12", "run"),
            ("a.B", "x\ny"),
            ("a.B", "f(x"),
            ("", "f"),
            ("#a.B", "f"),
            (" a.B", "f"),
            ("a.B", ""),
        ] {
            assert_eq!(Entry::method(class, method), None, "{class} {method}");
        }
    }

    #[test]
    fn appending_goes_on_behind_half_a_line() {
        let directory = std::env::temp_dir().join(format!("chances-{}", std::process::id()));
        let path = directory.join("below/chances");
        let entry = |name| Entry::method("a.B", name).unwrap();
        append(&path, &[entry("c"), Entry::Stackless("x.E".to_owned(), 1)]).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"a.B.hal").unwrap();
        append(&path, &[entry("d")]).unwrap();
        let (known, bad) = Known::read(&path).unwrap();
        assert_eq!(bad, []);
        let mut names: Vec<&String> = known.methods["a.B"].iter().collect();
        names.sort();
        assert_eq!(names, ["c", "d", "hal"]);
        assert!(known.everything());
        assert_eq!(Known::read(&directory.join("none")), Ok(Default::default()));
        let error = Known::read(&directory).unwrap_err();
        assert!(error.contains("no regular file"), "{error}");
        fs::remove_dir_all(directory).unwrap();
    }
}
