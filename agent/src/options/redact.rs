//! The value of `redact`, entry by entry. An entry that matches nothing is misspelt, and what it
//! means is stored.

use super::Error;
use super::values::{bad, list};
use hindsight_instrument::glob::Globs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user's rules about what must not be stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redact {
    /// The names of fields and parameters.
    names: Vec<Entry>,
    /// The classes whose objects are not stored.
    types: Vec<Entry>,
    /// The simple names of annotations on what is not stored.
    annotations: Vec<String>,
    /// For each annotation, in the same order, whether it has been found.
    annotated: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// The entry's text, as it was given.
    text: String,
    glob: Globs,
    /// Whether it has matched anything.
    has_named: Arc<AtomicBool>,
}

impl Entry {
    fn new(text: &str, glob: &str) -> Entry {
        Entry {
            text: text.to_owned(),
            glob: Globs::new([glob]),
            has_named: Arc::default(),
        }
    }

    fn matches(&self, name: &str) -> bool {
        let matches = self.glob.matches(name);
        if matches {
            self.found();
        }
        matches
    }

    fn found(&self) {
        // Most have long been found, and threads share the cache line.
        if !self.has_named() {
            self.has_named.store(true, Ordering::Relaxed);
        }
    }

    fn has_named(&self) -> bool {
        self.has_named.load(Ordering::Relaxed)
    }
}

/// Whether one of them matches; all that do are marked.
fn any(entries: &[Entry], name: &str) -> bool {
    let matches = entries.iter().filter(|entry| entry.matches(name));
    matches.count() > 0
}

impl Redact {
    pub(super) fn parse(value: &str) -> Result<Redact, Error> {
        const ACCEPTED: &str =
            "globs of names, type:GLOB, annotation:SIMPLENAME, separated by ; (no commas)";
        if list(value).next().is_none() {
            return Err(bad("redact", value, ACCEPTED));
        }
        let mut redact = Redact::default();
        for entry in list(value) {
            if entry.contains(',') {
                return Err(bad("redact", entry, ACCEPTED));
            }
            match entry.split_once(':') {
                None => redact.names.push(Entry::new(entry, entry)),
                Some(("type", glob)) if !glob.is_empty() => {
                    redact.types.push(Entry::new(entry, glob));
                }
                Some(("annotation", name)) => {
                    // The name is as in source, or with its package.
                    let simple = name.trim_start_matches('@').rsplit(['.', '$']).next();
                    match simple {
                        Some(simple) if !simple.is_empty() && !simple.contains(['*', '?']) => {
                            redact.annotations.push(simple.to_owned());
                            redact.annotated.push(Entry::new(entry, simple));
                        }
                        _ => return Err(bad("redact", entry, ACCEPTED)),
                    }
                }
                Some(_) => return Err(bad("redact", entry, ACCEPTED)),
            }
        }
        Ok(redact)
    }

    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        any(&self.names, name)
    }

    pub(super) fn is_class(&self, name: &str) -> bool {
        any(&self.types, name)
    }

    /// The simple names of annotations on what is not stored.
    pub(crate) fn annotations(&self) -> &[String] {
        &self.annotations
    }

    /// Notes that an annotation of this simple name was found.
    pub(crate) fn annotated(&self, simple: &str) {
        any(&self.annotated, simple);
    }

    /// Each entry as it was given, and whether it has matched anything.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = [&self.names, &self.types, &self.annotated];
        let all = all.into_iter().flatten();
        all.map(|entry| (entry.text.as_str(), entry.has_named()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_knows_whether_it_has_named_anything() {
        let value = "fo*;foo;x y;type:a.B.C;type:B;annotation:@p.Pii;annotation:Nope";
        let redact = Redact::parse(value).unwrap();
        // All that match count, not only the first.
        assert!(redact.is_name("foo") && !redact.is_name("bar"));
        assert!(redact.is_class("a.B$C") && !redact.is_class("a.B"));
        redact.annotated("Pii");
        let named = redact.entries().filter(|(_, has_named)| *has_named);
        let named: Vec<&str> = named.map(|(text, _)| text).collect();
        assert_eq!(named, ["fo*", "foo", "type:a.B.C", "annotation:@p.Pii"]);
    }
}
