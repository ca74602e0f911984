//! Sets of object numbers, many of which are consecutive.

use rustc_hash::FxHashMap;

/// A set of numbers: one bit each, in pages. It takes half a gigabyte at the most.
#[derive(Default)]
pub(super) struct Serials {
    pages: FxHashMap<u64, Box<[u64; WORDS]>>,
}

/// The number of words in a page.
const WORDS: usize = 64;

/// The most pages. A run needs so many for four billion objects; numbers far apart from each other
/// are of a trace that no run has written.
const MOST: usize = 1 << 20;

/// The page of a number, the word in the page, and the bit in the word.
fn place(serial: u64) -> (u64, usize, u64) {
    let bits = 64 * WORDS as u64;
    let word = (serial % bits / 64) as usize;
    (serial / bits, word, 1 << (serial % 64))
}

impl Serials {
    /// Adds a number; returns whether it is new. One for which there is no page is not.
    pub(super) fn insert(&mut self, serial: u64) -> bool {
        let (page, word, bit) = place(serial);
        if self.pages.len() >= MOST && !self.pages.contains_key(&page) {
            return false;
        }
        let page = self
            .pages
            .entry(page)
            .or_insert_with(|| Box::new([0; WORDS]));
        let is_new = page[word] & bit == 0;
        page[word] |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_there_once_added_and_take_a_bit_each() {
        let mut serials = Serials::default();
        for serial in (0..100_000).step_by(3).chain([u64::MAX]) {
            assert!(serials.insert(serial));
            assert!(!serials.insert(serial));
        }
        assert!(serials.pages.len() <= 100_000 / (64 * WORDS) + 2);
        for serial in 0..99_999 {
            assert_eq!(serials.insert(serial), serial % 3 != 0, "{serial}");
        }
        assert!(serials.insert(u64::MAX - 1));
    }
}
