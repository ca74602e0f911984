//! What a review is made of: items in groups, each with the places in which it stands.

use crate::java::descriptor;
use crate::text::{count, one_line, quote};
use hindsight_tracelog::crash::Text;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Places of one item that are named in text; JSON names all.
const PLACES: usize = 4;
/// Columns of text.
const WIDTH: usize = 100;

/// What is of one kind.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    pub(super) group: &'static str,
    pub(super) what: &'static str,
    pub(super) items: Vec<Item>,
}

/// A text or value, and where it stands.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    /// With U+FFFD for lone surrogates.
    text: String,
    /// Its UTF-16 code units, if some of them are lone surrogates.
    #[serde(skip_serializing_if = "Option::is_none")]
    utf16: Option<Vec<u16>>,
    /// How often it is stored.
    count: usize,
    places: Vec<Place>,
}

#[derive(Debug, Serialize)]
struct Place {
    place: String,
    count: usize,
}

/// Names and meanings of the groups, in order.
const GROUPS: &[(&str, &str)] = &[
    ("circumstances", "the run: JVM, system, command line, times"),
    ("properties", "system properties"),
    ("messages", "messages of exceptions"),
    ("paths", "strings that look like files or directories"),
    (
        "addresses",
        "strings that look like URLs, mail or network addresses",
    ),
    ("strings", "all other strings"),
    (
        "characters",
        "characters and bytes in arrays that read as text",
    ),
    ("arrays", "other arrays of primitive values"),
    (
        "values",
        "values of fields, arguments and captured variables",
    ),
    ("constants", "enum constants and class objects"),
    (
        "classes",
        "names of classes, with hashes of their class files",
    ),
    ("methods", "names of methods"),
    ("fields", "names of fields"),
    ("parameters", "names of parameters"),
    ("sources", "names of source files"),
    (
        "numbered names",
        "names that a compiler has numbered, and what tests find them by",
    ),
    (
        "left out",
        "objects that were not stored, or not restored, and why",
    ),
];

/// Places, and how often something stands in each.
type Places = BTreeMap<String, usize>;

/// Items in the making: places by text.
#[derive(Default)]
pub(super) struct Collection {
    items: HashMap<&'static str, BTreeMap<String, Places>>,
    /// Those of which no `String` can be made.
    lone: HashMap<&'static str, BTreeMap<Vec<u16>, Places>>,
}

impl Collection {
    pub(super) fn add(
        &mut self,
        group: &'static str,
        text: impl AsRef<str>,
        place: impl AsRef<str>,
    ) {
        let (text, place) = (text.as_ref(), place.as_ref());
        let items = self.items.entry(group).or_default();
        // Long texts may stand in very many places.
        if let Some(places) = items.get_mut(text) {
            match places.get_mut(place) {
                Some(count) => *count += 1,
                None => {
                    places.insert(place.to_owned(), 1);
                }
            }
            return;
        }
        let places = BTreeMap::from([(place.to_owned(), 1)]);
        items.insert(text.to_owned(), places);
    }

    /// A string of the program.
    pub(super) fn add_string(&mut self, text: &Text, place: &str) {
        let said = text.to_lossy();
        let group = kind_of(&said);
        match text {
            Text::Utf8(_) => self.add(group, said, place),
            Text::Utf16(_) => {
                let items = self.lone.entry(group).or_default();
                let places = items.entry(text.units()).or_default();
                *places.entry(place.to_owned()).or_default() += 1;
            }
        }
    }

    /// The class that a descriptor names, if it names one.
    pub(super) fn add_type(&mut self, of: &str, place: impl AsRef<str>) {
        if let Some(class) = descriptor::class_name(descriptor::element(of).1) {
            self.add("classes", class, place);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        for &(group, what) in GROUPS {
            let items = self.items.remove(group).unwrap_or_default().into_iter();
            let lone = self.lone.remove(group).unwrap_or_default().into_iter();
            let lone = lone.map(|(units, places)| {
                let text = String::from_utf16_lossy(&units);
                Item::new(text, Some(units), places)
            });
            let items = items.map(|(text, places)| Item::new(text, None, places));
            let items: Vec<Item> = items.chain(lone).collect();
            if !items.is_empty() {
                groups.push(Group { group, what, items });
            }
        }
        groups
    }
}

fn most_frequent(places: Places) -> Vec<Place> {
    let places = places.into_iter();
    let mut places: Vec<Place> = places
        .map(|(place, count)| Place { place, count })
        .collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.count));
    places
}

impl Item {
    fn new(text: String, utf16: Option<Vec<u16>>, places: Places) -> Item {
        Item {
            text,
            utf16,
            count: places.values().sum(),
            places: most_frequent(places),
        }
    }

    pub(super) fn write(&self, group: &str, out: &mut dyn Write) -> io::Result<()> {
        let text = match group {
            "messages" | "paths" | "addresses" | "strings" | "characters" => {
                let units = || self.text.encode_utf16().collect();
                quote(&self.utf16.clone().unwrap_or_else(units), usize::MAX)
            }
            _ => one_line(&self.text, usize::MAX),
        };
        let shown = self.places.iter().take(PLACES).map(|place| {
            let name = one_line(&place.place, 200);
            match place.count {
                1 => name,
                count => format!("{name} ({count} times)").trim_start().to_owned(),
            }
        });
        let mut places: Vec<String> = shown.filter(|place| !place.is_empty()).collect();
        if self.places.len() > PLACES {
            places.push(count(self.places.len() - PLACES, "more place"));
        }
        if places.is_empty() {
            return writeln!(out, "  {text}");
        }
        let lead = if self.places[0].place.is_empty() {
            ""
        } else {
            "in "
        };
        let places = format!("{lead}{}", places.join(", "));
        if text.chars().count() + places.chars().count() + 6 <= WIDTH {
            writeln!(out, "  {text}  {places}")
        } else {
            writeln!(out, "  {text}\n      {places}")
        }
    }
}

/// Which group a string belongs to.
fn kind_of(text: &str) -> &'static str {
    let word = !text.contains(char::is_whitespace) && text.len() > 2;
    let url = text.contains("://") || text.starts_with("jdbc:") || text.starts_with("mailto:");
    let mail = word
        && text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let network = word && text.parse::<std::net::IpAddr>().is_ok();
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes().get(2) == Some(&b'\\');
    if url || mail || network {
        "addresses"
    } else if word && (text.starts_with(['/', '~']) || drive || text.starts_with("./")) {
        "paths"
    } else {
        "strings"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_sorted_by_what_they_look_like() {
        for (text, kind) in [
            ("/etc/passwd", "paths"),
            ("C:\\Users", "paths"),
            ("https://a/b", "addresses"),
            ("jdbc:h2:mem", "addresses"),
            ("a@b.org", "addresses"),
            ("10.0.0.1", "addresses"),
            ("a/b", "strings"),
            ("hello @ home.", "strings"),
            ("/", "strings"),
            ("", "strings"),
        ] {
            assert_eq!(kind_of(text), kind, "{text}");
        }
    }
}
