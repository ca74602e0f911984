//! Which kinds of objects are written. An object that is stored is not the object that it is stored
//! in, and is often of another class.

use crate::program::ClassId;

/// More kinds than this count as all kinds.
const MOST: usize = 4;

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Instances of a class, or of classes that extend or implement it.
    Class(ClassId),
    /// Arrays.
    Array,
}

/// Some kinds of objects, or all kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// The kinds in their order, after the empty places; if there are none, this means all kinds.
    known: [Option<Kind>; MOST],
}

impl Kinds {
    /// All kinds.
    pub const ANY: Kinds = Kinds {
        known: [None; MOST],
    };

    /// A single kind.
    pub fn one(kind: Kind) -> Kinds {
        let mut kinds = Kinds::ANY;
        kinds.known[MOST - 1] = Some(kind);
        kinds
    }

    /// Whether this means all kinds.
    pub fn is_any(&self) -> bool {
        *self == Kinds::ANY
    }

    /// The kinds; empty if this means all kinds.
    pub fn iter(&self) -> impl Iterator<Item = Kind> + use<> {
        self.known.into_iter().flatten()
    }

    /// Adds kinds; returns whether there were new ones.
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

    /// Whether these kinds include all of the others.
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
        // The result is the same in whichever order they came.
        assert_eq!(some, other);
        assert!(some.covers(&class(3)) && !some.covers(&class(4)) && !some.covers(&Kinds::ANY));
        assert!(some.join(class(4)) && !some.is_any());
        assert!(some.join(class(5)) && some.is_any());
        assert!(some.covers(&other) && !some.join(other));
        assert!(other.join(Kinds::ANY) && other.is_any());
    }
}
