//! The texts of a run's objects. Those that have not been used for long are forgotten.

use super::values::Literal;
use rustc_hash::FxHashMap;

/// Texts of strings, names of constants and values of boxes, by the serial numbers of the objects.
/// When there are too many, those that were recorded and used least recently are forgotten.
pub struct Texts {
    /// The most texts that are remembered; at least half of them are.
    most: usize,
    /// The texts that were recorded or used recently, and those that were before that.
    generations: [FxHashMap<u64, Literal>; 2],
}

impl Texts {
    /// Makes an empty memory for at most `most` texts.
    pub fn new(most: usize) -> Texts {
        Texts {
            most,
            generations: Default::default(),
        }
    }

    /// Remembers the text of an object.
    pub fn insert(&mut self, serial: u64, text: Literal) {
        if self.generations[0].len() >= self.most / 2 {
            self.generations.swap(0, 1);
            self.generations[0].clear();
        }
        self.generations[0].insert(serial, text);
    }

    /// The text of an object, which is then remembered for longer.
    pub fn get(&mut self, serial: u64) -> Option<&Literal> {
        if let Some(text) = self.generations[1].remove(&serial)
            && !self.generations[0].contains_key(&serial)
        {
            self.insert(serial, text);
        }
        self.generations[0].get(&serial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_not_forgotten() {
        let mut texts = Texts::new(8);
        for serial in 0..100 {
            texts.insert(serial, Literal::Int(serial as i64));
            assert_eq!(texts.get(0), Some(&Literal::Int(0)), "{serial}");
        }
        assert_eq!(texts.get(1), None);
        assert_eq!(texts.get(99), Some(&Literal::Int(99)));
        let remembered =
            |texts: &Texts| texts.generations.iter().map(FxHashMap::len).sum::<usize>();
        // There are never more of them, however they are used.
        for serial in 100..200 {
            texts.insert(serial, Literal::Int(0));
            for known in 100..serial {
                texts.get(known);
            }
            assert!(remembered(&texts) <= 8, "{serial}");
        }
        // A text that is recorded again replaces the earlier one.
        texts.insert(0, Literal::Null);
        assert_eq!(texts.get(0), Some(&Literal::Null));
    }
}
