//! Which kinds of objects are written: an object that is stored is not what it is
//! stored in, and of another class as often as not.

use crate::program::ClassId;

/// More kinds than this are all kinds.
const MOST: usize = 4;

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Instances of a class, or of what extends or implements it.
    Class(ClassId),
    /// Arrays.
    Array,
}

/// Some kinds of objects, or all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// In their order, behind those places that are empty; all kinds if none is named.
    known: [Option<Kind>; MOST],
}

impl Kinds {
    /// All kinds.
    pub const ANY: Kinds = Kinds {
        known: [None; MOST],
    };

    /// One kind.
    pub fn one(kind: Kind) -> Kinds {
        let mut kinds = Kinds::ANY;
        kinds.known[MOST - 1] = Some(kind);
        kinds
    }

    /// Whether these are all kinds.
    pub fn is_any(&self) -> bool {
        *self == Kinds::ANY
    }

    /// The kinds; none if these are all.
    pub fn iter(&self) -> impl Iterator<Item = Kind> + use<> {
        self.known.into_iter().flatten()
    }

    /// Adds kinds; whether there were new ones.
    pub fn join(&mut self, other: Kinds) -> bool {
        if self.covers(&other) {
            return false;
        }
        let known: Vec<Kind> = self.iter().collect();
        let new = other.iter().filter(|kind| !known.contains(kind));
        let all: Vec<Kind> = known.iter().copied().chain(new).collect();
        let fits = !other.is_any() && all.len() <= MOST;
        *self = Kinds::ANY;
        if fits {
            for (place, kind) in self.known.iter_mut().rev().zip(all) {
                *place = Some(kind);
            }
            self.known.sort_unstable();
        }
        true
    }

    /// Whether these are all that others are.
    pub fn covers(&self, other: &Kinds) -> bool {
        self.is_any()
            || !other.is_any() && other.iter().all(|kind| self.known.contains(&Some(kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_kinds_are_all() {
        let class = |number| Kinds::one(Kind::Class(ClassId(number)));
        let mut some = class(7);
        assert!(some.join(class(3)) && some.join(Kinds::one(Kind::Array)));
        assert!(!some.join(class(7)) && some.iter().count() == 3);
        let mut other = Kinds::one(Kind::Array);
        assert!(other.join(class(7)) && other.join(class(3)));
        // In whichever order they came.
        assert_eq!(some, other);
        assert!(some.covers(&class(3)) && !some.covers(&class(4)) && !some.covers(&Kinds::ANY));
        assert!(some.join(class(4)) && !some.is_any());
        assert!(some.join(class(5)) && some.is_any());
        assert!(some.covers(&other) && !some.join(other));
        assert!(other.join(Kinds::ANY) && other.is_any());
    }
}
