//! Sets of signatures that may contain too many, never too few.
//!
//! The JDK's methods call methods of their arguments, and what a program overrides is not known
//! when the JDK is analysed. So each of its methods is kept with the signatures that it may call
//! through its arguments; if a program overrides one of them by a method that changes something,
//! the proof does not hold.

/// The number of 64-bit words of a set.
const WORDS: usize = 4;

/// A set of signatures, as bits by their hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signatures([u64; WORDS]);

impl Signatures {
    /// All signatures.
    pub const ALL: Signatures = Signatures([u64::MAX; WORDS]);

    /// The number of classes of signatures that are distinguished.
    pub const BITS: u32 = 64 * WORDS as u32;

    /// The set of one signature, given as name and descriptor.
    pub fn one(signature: &[u8]) -> Signatures {
        let hash = crc32fast::hash(signature) as usize;
        let mut set = Signatures::default();
        set.0[hash / 64 % WORDS] = 1 << (hash % 64);
        set
    }

    /// Adds the signatures of another set; returns whether there were new ones.
    pub fn join(&mut self, other: &Signatures) -> bool {
        let before = self.0;
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own |= other;
        }
        self.0 != before
    }

    /// Whether the two sets may have a signature in common.
    pub fn meets(&self, other: &Signatures) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .any(|(own, other)| own & other != 0)
    }

    /// The bits of the set, as numbers below [`Signatures::BITS`].
    pub fn bits(&self) -> impl Iterator<Item = u32> + use<> {
        let words = self.0;
        (0..Signatures::BITS).filter(move |bit| words[(bit / 64) as usize] >> (bit % 64) & 1 == 1)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The bytes of the set in a file.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads the bytes of a file; all signatures if the bytes are not understood.
    pub fn read(bytes: &[u8]) -> Signatures {
        let (words, rest) = bytes.as_chunks::<8>();
        match (<[[u8; 8]; WORDS]>::try_from(words), rest) {
            (Ok(words), []) => Signatures(words.map(u64::from_le_bytes)),
            _ => Signatures::ALL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let (one, other) = (Signatures::one(b"next()V"), Signatures::one(b"run()V"));
        assert!(one.meets(&one) && !one.meets(&other) && !one.is_empty());
        let mut both = one;
        assert!(both.join(&other) && !both.join(&other));
        assert!(both.meets(&one) && both.meets(&other) && Signatures::ALL.meets(&both));
        assert_eq!(
            (both.bits().count(), Signatures::ALL.bits().count()),
            (2, 256)
        );
        assert_eq!(Signatures::read(&both.bytes()), both);
        assert_eq!(Signatures::read(b"cut"), Signatures::ALL);
        assert!(Signatures::default().is_empty());
    }
}
