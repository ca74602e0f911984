//! The texts of objects, for showing them again.

use rustc_hash::{FxHashMap, FxHashSet};

/// The most texts of one generation.
const MOST: usize = 1 << 18;
/// The number of bits that record which objects had a text that was forgotten; now and then, a bit
/// also stands for another object.
const MARKS: usize = 1 << 23;

/// A bounded number of texts, by the numbers of their objects. Those of classes and enum constants
/// stay; of the others, those that have been neither recorded nor shown for the longest time are
/// forgotten first.
pub(super) struct Texts {
    lasting: FxHashMap<u64, String>,
    young: FxHashMap<u64, String>,
    old: FxHashMap<u64, String>,
    most: usize,
    /// A bit for each forgotten text, by the object's number; empty if there is none.
    marks: Vec<u64>,
    /// The classes of all objects whose texts may be forgotten.
    passing: FxHashSet<u32>,
    misses: u64,
}

impl Default for Texts {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Texts {
    /// Makes a memory with at most `most` texts in each generation.
    pub(super) fn of(most: usize) -> Self {
        Self {
            lasting: FxHashMap::default(),
            young: FxHashMap::default(),
            old: FxHashMap::default(),
            most,
            marks: Vec::new(),
            passing: FxHashSet::default(),
            misses: 0,
        }
    }

    /// Remembers the text of an object of a class.
    pub(super) fn add(&mut self, object: u64, class: u32, lasts: bool, text: String) {
        // A made-up trace may have any number of enum constants.
        if lasts && self.lasting.len() < self.most {
            self.lasting.insert(object, text);
            return;
        }
        self.passing.insert(class);
        self.old.remove(&object);
        self.put(object, text);
    }

    fn put(&mut self, object: u64, text: String) {
        if self.young.len() >= self.most {
            let young = std::mem::take(&mut self.young);
            for gone in std::mem::replace(&mut self.old, young).into_keys() {
                let (word, bit) = mark(gone);
                self.marks.resize(MARKS / 64, 0);
                self.marks[word] |= bit;
            }
        }
        self.young.insert(object, text);
    }

    /// The text of an object that is shown.
    pub(super) fn get(&mut self, object: u64, class: u32) -> Option<&str> {
        if let Some(text) = self.old.remove(&object) {
            self.put(object, text);
        }
        let found = self.lasting.get(&object);
        let found = found.or_else(|| self.young.get(&object));
        if found.is_none() {
            let (word, bit) = mark(object);
            let had = self.marks.get(word).is_some_and(|word| word & bit != 0);
            self.misses += u64::from(had && self.passing.contains(&class));
        }
        found.map(String::as_str)
    }

    /// How often a text was asked for that had been forgotten.
    pub(super) fn misses(&self) -> u64 {
        self.misses
    }
}

fn mark(object: u64) -> (usize, u64) {
    let hash = object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 41;
    let place = hash as usize % MARKS;
    (place / 64, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRING: u32 = 1;
    const COLOR: u32 = 2;
    const NODE: u32 = 3;

    #[test]
    fn what_is_shown_and_what_lasts_is_not_forgotten() {
        let mut texts = Texts::of(4);
        texts.add(1, COLOR, true, "RED".to_owned());
        texts.add(2, STRING, false, "used".to_owned());
        texts.add(3, STRING, false, "once".to_owned());
        for object in 10..30 {
            texts.add(object, STRING, false, object.to_string());
            assert_eq!(texts.get(2, STRING), Some("used"), "{object}");
            assert!(texts.young.len() <= 4 && texts.old.len() <= 4);
        }
        assert_eq!(texts.get(1, COLOR), Some("RED"));
        assert_eq!(texts.get(29, STRING), Some("29"));
        assert_eq!(texts.misses(), 0);
        // An object that never had a text is not missed, whatever its number.
        assert_eq!(texts.get(3, NODE), None);
        assert_eq!(texts.misses(), 0);
        assert_eq!(texts.get(3, STRING), None);
        assert_eq!(texts.misses(), 1);
        // The text is recorded again.
        texts.add(3, STRING, false, "again".to_owned());
        assert_eq!(texts.get(3, STRING), Some("again"));
    }

    #[test]
    fn of_what_lasts_no_more_is_kept_than_of_the_rest() {
        let mut texts = Texts::of(4);
        for object in 0..100 {
            texts.add(object, COLOR, true, "RED".to_owned());
        }
        assert!(texts.lasting.len() + texts.young.len() + texts.old.len() <= 12);
    }
}
