//! What was found in a place that is secret, so that it is stored nowhere else.
//!
//! One object may be a secret parameter here and a plain one in the method that
//! is called; its text may have been copied, joined to others, or encoded.

use hindsight_tracelog::crash::Body;

/// Texts that are looked for.
const MAX_TEXTS: usize = 256;
/// UTF-16 code units, or bytes, of the longest one.
const MAX_LEN: usize = 4_096;
/// Of the shortest one that is looked for as a whole, and as a part of others. What is shorter is in
/// too much that is harmless.
const MIN_WHOLE: usize = 4;
const MIN_PART: usize = 6;

/// In place of a secret in a text.
const MASK: &str = "***";

/// The texts found so far.
#[derive(Default)]
pub(crate) struct Secrets(Vec<Secret>);

struct Secret {
    text: Option<String>,
    /// As bytes, by all encodings that it may be in; the first one as a `char[]` has it.
    forms: Vec<Vec<u8>>,
}

/// Why a text of this length is a hole: a rough length is all that is kept.
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

/// How many elements there are before the zeros at the end.
fn filled<T: Copy + Default + PartialEq>(elements: &[T]) -> usize {
    let last = elements.iter().rposition(|one| *one != T::default());
    last.map_or(0, |last| last + 1)
}

impl Secrets {
    /// Takes the text of a string or `char[]`, but for the room behind it in a buffer.
    pub(crate) fn text(&mut self, units: &[u16]) {
        let units = &units[..filled(units)];
        if !(MIN_WHOLE..=MAX_LEN).contains(&units.len()) || self.0.len() >= MAX_TEXTS {
            return;
        }
        let text = String::from_utf16_lossy(units);
        if self
            .0
            .iter()
            .any(|known| known.text.as_ref() == Some(&text))
        {
            return;
        }
        let mut forms = vec![
            units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
            units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
            text.as_bytes().to_vec(),
        ];
        if let Ok(latin1) = units.iter().map(|unit| u8::try_from(*unit)).collect() {
            forms.push(latin1);
        }
        let text = Some(text);
        self.0.push(Secret { text, forms });
    }

    /// Takes the content of a `byte[]`, but for the room behind it in a buffer.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let filled = filled(bytes);
        // As a builder has what is not Latin-1, and so that its last letter may end with a zero.
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
        let room = self.0.len() < MAX_TEXTS;
        if room && (MIN_WHOLE..=MAX_LEN).contains(&bytes.len()) {
            // Latin-1, or no text at all.
            let units: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, 0]).collect();
            self.0.push(Secret {
                text: Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
                forms: vec![units, bytes.to_vec()],
            });
        }
    }

    /// Whether an object's content has a secret in it. `letter` is the type of a primitive array.
    pub(crate) fn are_in(&self, body: &Body, letter: Option<u8>) -> bool {
        if self.0.is_empty() {
            return false;
        }
        match (body, letter) {
            (Body::String(text), _) => {
                let text = text.to_lossy();
                self.0
                    .iter()
                    .filter_map(|secret| secret.text.as_deref())
                    .any(|secret| {
                        text == secret
                            || secret.chars().count() >= MIN_PART && text.contains(secret)
                    })
            }
            (Body::Primitives(bytes), Some(b'C' | b'B')) => {
                let forms = self.0.iter().flat_map(|secret| &secret.forms);
                forms
                    .into_iter()
                    .any(|form| form == bytes || form.len() >= MIN_PART && contains(bytes, form))
            }
            _ => false,
        }
    }

    /// Masks secrets in a text that is stored beside the objects.
    pub(crate) fn mask(&self, text: &mut String) {
        for secret in self.0.iter().filter_map(|secret| secret.text.as_deref()) {
            let part = secret.chars().count() >= MIN_PART && text.contains(secret);
            if part || text == secret {
                *text = text.replace(secret, MASK);
            }
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else {
        return false;
    };
    let starts = bytes.iter().enumerate().filter(|(_, byte)| *byte == first);
    starts
        .into_iter()
        .any(|(at, _)| bytes[at..].starts_with(part))
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
    fn what_is_short_is_no_part_of_others() {
        let mut secrets = Secrets::default();
        secrets.bytes(b"1234");
        secrets.bytes(b"abc");
        assert!(secrets.are_in(&Body::Primitives(b"1234".to_vec()), Some(b'B')));
        assert!(!secrets.are_in(&Body::Primitives(b"12345".to_vec()), Some(b'B')));
        assert!(!secrets.are_in(&Body::Primitives(b"abc".to_vec()), Some(b'B')));
    }
}
