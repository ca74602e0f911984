//! The format's own encoding of strings (JVMS 4.4.7).

use std::borrow::Cow;
use std::fmt;

/// A string as it stands in the constant pool, in modified UTF-8.
///
/// The encoding writes U+0000 in two bytes, and characters beyond U+FFFF as two surrogates of three
/// bytes each; surrogates may stand alone. The bytes are kept as they are, so nothing is lost by
/// passing them around.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Utf8<'a>(&'a [u8]);

impl<'a> Utf8<'a> {
    /// Takes bytes as modified UTF-8; nothing is checked.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes as they stand in the file.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The string, if its bytes are valid UTF-8 as well.
    ///
    /// This holds for every name without zero characters and surrogates, and so for almost all
    /// names.
    #[inline]
    pub fn as_str(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The UTF-16 units of the string, without loss. Bytes that are not modified UTF-8 become
    /// U+FFFD.
    #[inline]
    pub fn to_utf16(self) -> Vec<u16> {
        let mut units = Vec::with_capacity(self.0.len());
        let mut rest = self.0;
        while let Some((&first, tail)) = rest.split_first() {
            let (unit, len) = match (first, tail) {
                (0x01..=0x7f, _) => (u16::from(first), 1),
                (0xc0..=0xdf, [b, ..]) if b & 0xc0 == 0x80 => {
                    (u16::from(first & 0x1f) << 6 | u16::from(b & 0x3f), 2)
                }
                (0xe0..=0xef, [b, c, ..]) if b & 0xc0 == 0x80 && c & 0xc0 == 0x80 => (
                    u16::from(first & 0x0f) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f),
                    3,
                ),
                _ => (0xfffd, 1),
            };
            units.push(unit);
            rest = &rest[len..];
        }
        units
    }

    /// The string; a lone surrogate becomes U+FFFD.
    #[inline]
    pub fn to_string_lossy(self) -> Cow<'a, str> {
        match self.as_str() {
            Some(str) => Cow::Borrowed(str),
            None => Cow::Owned(String::from_utf16_lossy(&self.to_utf16())),
        }
    }
}

impl PartialEq<str> for Utf8<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Utf8<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string_lossy())
    }
}

impl fmt::Debug for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string_lossy(), f)
    }
}

/// Encodes UTF-16 units in modified UTF-8; surrogates may stand alone.
#[inline]
pub fn encode_mutf8(units: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in units {
        // The mask keeps each piece below 256.
        let low = |shift: u16, mask: u16| ((unit >> shift) & mask) as u8;
        match unit {
            0x01..=0x7f => bytes.push(low(0, 0x7f)),
            0 | 0x80..=0x7ff => bytes.extend([0xc0 | low(6, 0x1f), 0x80 | low(0, 0x3f)]),
            _ => bytes.extend([
                0xe0 | low(12, 0x0f),
                0x80 | low(6, 0x3f),
                0x80 | low(0, 0x3f),
            ]),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_and_zeros_survive() {
        let units = [0x41, 0, 0xd800, 0x42, 0xdc00, 0xd83d, 0xde00];
        let bytes = encode_mutf8(units);
        let text = Utf8::new(&bytes);
        assert_eq!(text.to_utf16(), units);
        assert_eq!(text.as_str(), None);
        assert_eq!(text.to_string_lossy(), "A\0\u{fffd}B\u{fffd}\u{1f600}");
    }

    #[test]
    fn broken_bytes_become_replacement_characters() {
        assert_eq!(
            Utf8::new(&[0x41, 0xff, 0xc3, 0x41, 0xe2]).to_string_lossy(),
            "A\u{fffd}\u{fffd}A\u{fffd}"
        );
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(units: Vec<u16>) {
            let bytes = encode_mutf8(units.iter().copied());
            prop_assert_eq!(Utf8::new(&bytes).to_utf16(), units);
        }

        #[test]
        fn any_bytes_decode(bytes: Vec<u8>) {
            let _ = Utf8::new(&bytes).to_string_lossy();
        }
    }
}
