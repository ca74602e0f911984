//! What was found in a secret place, so that it is not stored elsewhere.
//!
//! One object may be a secret parameter in one method and a plain one in the method that is called;
//! its text may have been copied, joined to others, or encoded.

use crate::masks::MASK;
use hindsight_tracelog::crash::Body;
use std::cmp::{Ordering, Reverse};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

/// The most UTF-16 code units, or bytes, of a secret that are looked for: what begins in the same
/// way is taken for it.
const MAX_LEN: usize = 256;
/// The most bytes that these have, in any encoding.
const MAX_FORM: usize = 4 * MAX_LEN;
/// The most bytes of all forms together; with more, every text counts as a secret.
const MAX_BYTES: usize = 64 << 20;
/// The lengths of the shortest secret that is looked for as a whole, and as a part of others.
/// Shorter ones occur in too much that is harmless.
const MIN_WHOLE: usize = 4;
const MIN_PART: usize = 6;

/// The texts found so far.
#[derive(Default)]
pub(crate) struct Secrets {
    /// The texts as strings have them.
    texts: Forms,
    /// The texts as arrays of bytes or characters have them, in all encodings that these may use.
    arrays: Forms,
    /// Whether there are more than can be looked for.
    too_many: bool,
}

/// Contents that are looked for in others, all of them at once.
#[derive(Default)]
struct Forms {
    whole: HashSet<Vec<u8>>,
    /// The forms that may be a part, and whether the secret continues behind them.
    parts: BTreeMap<Part, bool>,
    /// The first bytes of these.
    firsts: HashSet<[u8; MIN_PART]>,
    /// A bit for each two bytes with which one of them begins, so that the table is rarely asked.
    begins: Vec<u64>,
    bytes: usize,
}

/// A form that may be a part of others, at least [`MIN_PART`] bytes. Forms with the same beginning
/// are neighbours, the longest first, which is the one that is masked.
#[derive(PartialEq, Eq)]
struct Part(Vec<u8>);

impl Ord for Part {
    fn cmp(&self, other: &Part) -> Ordering {
        let first = |of: &Part| of.0.first_chunk::<MIN_PART>().copied();
        (first(self), Reverse(self.0.len()), &self.0).cmp(&(
            first(other),
            Reverse(other.0.len()),
            &other.0,
        ))
    }
}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Part) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The place of the bit for two bytes.
fn begin(bytes: &[u8]) -> (usize, u64) {
    let two = usize::from(bytes[0]) | usize::from(bytes[1]) << 8;
    (two >> 6, 1 << (two & 63))
}

impl Forms {
    /// Adds a form; `is_part` if it is looked for in others.
    fn add(&mut self, bytes: Vec<u8>, is_cut: bool, is_part: bool) {
        let len = bytes.len();
        let Some(first) = bytes.first_chunk::<MIN_PART>().filter(|_| is_part) else {
            if !is_cut && self.whole.insert(bytes) {
                self.bytes += len;
            }
            return;
        };
        self.begins.resize(1 << 10, 0);
        let (at, bit) = begin(first);
        self.begins[at] |= bit;
        self.firsts.insert(*first);
        match self.parts.entry(Part(bytes)) {
            Entry::Vacant(place) => {
                place.insert(is_cut);
                self.bytes += len;
            }
            Entry::Occupied(mut place) => *place.get_mut() |= is_cut,
        }
    }

    /// The first form in a content, from a place on, and where it ends.
    fn find(&self, content: &[u8], from: usize) -> Option<(usize, usize)> {
        if from == 0 && self.whole.contains(content) {
            return Some((0, content.len()));
        }
        if self.parts.is_empty() {
            return None;
        }
        let places = content.get(from..)?.windows(MIN_PART).zip(from..);
        places
            .filter(|(window, _)| {
                let (at, bit) = begin(window);
                self.begins[at] & bit != 0 && self.firsts.contains(*window)
            })
            .find_map(|(_, at)| Some((at, at + self.longest(&content[at..])?)))
    }

    /// The length of the longest form with which a content begins; all of it if the secret
    /// continues.
    fn longest(&self, content: &[u8]) -> Option<usize> {
        let mut len = content.len().min(MAX_FORM);
        while len >= MIN_PART {
            let from = Part(content[..len].to_vec());
            let (part, is_cut) = self.parts.range(from..).next()?;
            if part.0[..MIN_PART] != content[..MIN_PART] {
                return None;
            }
            if content.starts_with(&part.0) {
                return Some(if *is_cut { content.len() } else { part.0.len() });
            }
            // The next candidate is shorter than what was looked for, or at most as long as what
            // was found.
            len = (len - 1).min(part.0.len());
        }
        None
    }
}

/// The reason why a text of this length is a hole, which keeps only a rough length.
pub(crate) fn length_class(len: usize) -> &'static str {
    match len {
        0 => "redacted, empty",
        1..=8 => "redacted, length 1 to 8",
        9..=16 => "redacted, length 9 to 16",
        17..=32 => "redacted, length 17 to 32",
        33..=64 => "redacted, length 33 to 64",
        65..=256 => "redacted, length 65 to 256",
        257..=4096 => "redacted, length 257 to 4096",
        _ => "redacted, length above 4096",
    }
}

/// The number of elements before the zeros at the end.
fn filled<T: Copy + Default + PartialEq>(elements: &[T]) -> usize {
    let last = elements.iter().rposition(|one| *one != T::default());
    last.map_or(0, |last| last + 1)
}

impl Secrets {
    /// Adds the text of a string or `char[]`, except the unused room at the end of a buffer.
    pub(crate) fn text(&mut self, units: &[u16]) {
        self.take(units, true);
    }

    /// Adds a text that is only looked for as a whole.
    pub(crate) fn word(&mut self, units: &[u16]) {
        self.take(units, false);
    }

    fn take(&mut self, units: &[u16], may_be_part: bool) {
        let units = &units[..filled(units)];
        if units.len() < MIN_WHOLE {
            return;
        }
        let is_cut = units.len() > MAX_LEN;
        let mut units = &units[..units.len().min(MAX_LEN)];
        if let [before @ .., 0xd800..0xdc00] = units {
            // Half of a surrogate pair is another text.
            units = before;
        }
        let text = String::from_utf16_lossy(units);
        let is_part = text.chars().count() >= MIN_PART;
        let arrays = [
            units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
            units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
            text.as_bytes().to_vec(),
        ];
        let latin1: Result<Vec<u8>, _> = units.iter().map(|unit| u8::try_from(*unit)).collect();
        let arrays = arrays.into_iter().chain(latin1.ok());
        self.add(text, is_part && may_be_part, arrays, is_cut, may_be_part);
    }

    /// Adds the content of a `byte[]`, except the unused room at the end of a buffer.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let filled = filled(bytes);
        // This is how a builder has what is not Latin-1; its last character may end with a zero.
        let wide = &bytes[..(filled + filled % 2).min(bytes.len())];
        let bytes = &bytes[..filled];
        if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() {
            let units = wide.chunks_exact(2);
            let units: Vec<u16> = units
                .map(|two| u16::from_ne_bytes([two[0], two[1]]))
                .collect();
            self.text(&units);
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.text(&text.encode_utf16().collect::<Vec<u16>>());
        }
        if bytes.len() >= MIN_WHOLE {
            // It is Latin-1, or no text at all.
            let is_cut = bytes.len() > MAX_LEN;
            let bytes = &bytes[..bytes.len().min(MAX_LEN)];
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            let units: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, 0]).collect();
            let is_part = bytes.len() >= MIN_PART;
            let arrays = [units, bytes.to_vec()].into_iter();
            self.add(text, is_part, arrays, is_cut, true);
        }
    }

    /// Adds the forms of a secret: as a string, and as arrays; both may be parts of others.
    fn add(
        &mut self,
        text: String,
        is_part: bool,
        arrays: impl Iterator<Item = Vec<u8>>,
        is_cut: bool,
        are_parts: bool,
    ) {
        if self.texts.bytes + self.arrays.bytes > MAX_BYTES {
            self.too_many = true;
            return;
        }
        self.texts.add(text.into_bytes(), is_cut, is_part);
        for form in arrays {
            self.arrays.add(form, is_cut, are_parts);
        }
    }

    /// Whether there are more than are looked for: then no text is stored.
    pub(crate) fn are_too_many(&self) -> bool {
        self.too_many
    }

    /// Whether an object's content has a secret in it. `letter` is the type of a primitive array.
    pub(crate) fn are_in(&self, body: &Body, letter: Option<u8>) -> bool {
        match (body, letter) {
            (Body::String(text), _) => {
                self.too_many || self.texts.find(text.to_lossy().as_bytes(), 0).is_some()
            }
            (Body::Primitives(bytes), Some(b'C' | b'B')) => {
                self.too_many || self.arrays.find(bytes, 0).is_some()
            }
            _ => false,
        }
    }

    /// Masks secrets in a text that is stored beside the objects.
    pub(crate) fn mask(&self, text: &mut String) {
        if self.too_many {
            *text = MASK.to_owned();
        }
        let (mut masked, mut from) = (String::new(), 0);
        while let Some((start, end)) = self.texts.find(text.as_bytes(), from) {
            masked += text.get(from..start).unwrap_or_default();
            masked += MASK;
            from = end;
        }
        if from > 0 {
            *text = masked + text.get(from..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::Text;

    #[test]
    fn room_behind_a_text_is_no_part_of_it() {
        let string = |text: &str| Body::String(Text::Utf8(text.into()));
        let mut secrets = Secrets::default();
        secrets.bytes(b"hunter2\0\0\0\0");
        assert!(secrets.are_in(&string("hunter2"), None));
        let mut secrets = Secrets::default();
        let mut units: Vec<u16> = "x\u{100}hunter".encode_utf16().collect();
        units.resize(40, 0);
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_ne_bytes()).collect();
        secrets.bytes(&bytes);
        assert!(secrets.are_in(&string("x\u{100}hunter"), None));
        let mut secrets = Secrets::default();
        secrets.text(&units);
        assert!(secrets.are_in(&string("an x\u{100}hunter!"), None));
    }

    #[test]
    fn secrets_are_found_in_every_form() {
        let mut secrets = Secrets::default();
        let units: Vec<u16> = "hünter2".encode_utf16().collect();
        secrets.text(&units);
        let string =
            |text: &str| Body::String(Text::from_utf16(&text.encode_utf16().collect::<Vec<_>>()));
        assert!(secrets.are_in(&string("hünter2"), None));
        assert!(secrets.are_in(&string("wrong: hünter2!"), None));
        assert!(!secrets.are_in(&string("hünter"), None));
        let le: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let latin1: Vec<u8> = units.iter().map(|unit| *unit as u8).collect();
        for bytes in [le, latin1, b"xh\xc3\xbcnter2".to_vec()] {
            assert!(secrets.are_in(&Body::Primitives(bytes), Some(b'B')));
        }
        let mut message = "no user hünter2 here".to_owned();
        secrets.mask(&mut message);
        assert_eq!(message, "no user *** here");
    }

    #[test]
    fn words_are_found_as_a_whole() {
        let string = |text: &str| Body::String(Text::Utf8(text.into()));
        let mut secrets = Secrets::default();
        secrets.word(&"strict".encode_utf16().collect::<Vec<u16>>());
        assert!(secrets.are_in(&string("strict"), None));
        assert!(!secrets.are_in(&string("restricted"), None));
        assert!(secrets.are_in(&Body::Primitives(b"strict".to_vec()), Some(b'B')));
        assert!(!secrets.are_in(&Body::Primitives(b"strictly".to_vec()), Some(b'B')));
        let mut message = "strict".to_owned();
        secrets.mask(&mut message);
        assert_eq!(message, MASK);
    }

    #[test]
    fn many_and_long_ones_are_found() {
        let string = |text: &str| Body::String(Text::Utf8(text.into()));
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let mut secrets = Secrets::default();
        for number in 0..5_000 {
            secrets.text(&units(&format!("planted-{number}-x")));
        }
        let letters = (b'a'..b'x').cycle().map(char::from);
        let long: String = letters.take(5_000).collect();
        secrets.text(&units(&long));
        for number in [0, 255, 256, 4_999] {
            let text = format!("planted-{number}-x");
            assert!(secrets.are_in(&string(&text), None));
            let within = format!("<{text}>").into_bytes();
            assert!(secrets.are_in(&Body::Primitives(within), Some(b'B')));
        }
        assert!(!secrets.are_in(&string("planted-5000-x"), None));
        assert!(secrets.are_in(&string(&long), None));
        assert!(secrets.are_in(&Body::Primitives(long.clone().into_bytes()), Some(b'B')));
        let mut message = format!("planted-1-x, planted-300-x and {long}!");
        secrets.mask(&mut message);
        assert_eq!(message, "***, *** and ***");
    }

    /// Tokens with the same header are like this: of those with the same beginning the longest is
    /// found, and each is.
    #[test]
    fn many_that_begin_alike_are_found() {
        let mut secrets = Secrets::default();
        let token = |number: usize| format!("eyJhbGciOiJIUzI1NiJ9.{number}");
        for number in 0..20_000 {
            let units: Vec<u16> = token(number).encode_utf16().collect();
            secrets.text(&units);
        }
        let mut message = (0..20_000).map(token).collect::<Vec<_>>().join(" ");
        message += " eyJhbGciOiJIUzI1NiJ";
        secrets.mask(&mut message);
        let (masks, rest) = message.rsplit_once(' ').unwrap();
        assert!(masks.split(' ').all(|mask| mask == MASK) && rest == "eyJhbGciOiJIUzI1NiJ");
    }

    #[test]
    fn with_more_than_can_be_looked_for_no_text_is_stored() {
        let string = |text: &str| Body::String(Text::Utf8(text.into()));
        let mut secrets = Secrets::default();
        let mut number = 0;
        while !secrets.too_many {
            let text = format!("{number}{}", "x".repeat(250));
            secrets.text(&text.encode_utf16().collect::<Vec<u16>>());
            number += 1;
        }
        assert!(number > 10_000 && secrets.are_in(&string("harmless"), None));
    }

    #[test]
    fn what_is_short_is_no_part_of_others() {
        let mut secrets = Secrets::default();
        secrets.bytes(b"1234");
        secrets.bytes(b"abc");
        assert!(secrets.are_in(&Body::Primitives(b"1234".to_vec()), Some(b'B')));
        assert!(!secrets.are_in(&Body::Primitives(b"12345".to_vec()), Some(b'B')));
        assert!(!secrets.are_in(&Body::Primitives(b"abc".to_vec()), Some(b'B')));
    }
}
