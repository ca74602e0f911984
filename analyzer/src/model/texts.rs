//! Texts of a run, of which those that nobody has used for long are forgotten.

use super::values::Literal;
use rustc_hash::FxHashMap;

/// Texts of strings, names of constants and values of boxes, by the serials of the objects. Of more than are
/// remembered, those go that were told and used least recently.
pub struct Texts {
    /// At least half of them,
    most: usize,
    /// those that were told or used of late, and those that were before.
    generations: [FxHashMap<u64, Literal>; 2],
}

impl Texts {
    /// Remembers so many.
    pub fn new(most: usize) -> Texts {
        Texts {
            most,
            generations: Default::default(),
        }
    }

    /// The text of an object is told.
    pub fn insert(&mut self, serial: u64, text: Literal) {
        if self.generations[0].len() >= self.most / 2 {
            self.generations.swap(0, 1);
            self.generations[0].clear();
        }
        self.generations[0].insert(serial, text);
    }

    /// The text of an object, which is remembered for longer then.
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
        // Nor are there ever more of them, however they are used.
        for serial in 100..200 {
            texts.insert(serial, Literal::Int(0));
            for known in 100..serial {
                texts.get(known);
            }
            assert!(remembered(&texts) <= 8, "{serial}");
        }
        // Told again, it is as it is told last.
        texts.insert(0, Literal::Null);
        assert_eq!(texts.get(0), Some(&Literal::Null));
    }
}
