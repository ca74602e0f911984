//! Sets of a body's nodes, as bits, because they are joined very often.

use super::{Ref, Refs, reference};

const WORDS: usize = 4;

/// The most nodes that a body can have.
pub const MOST: usize = 64 * WORDS;

/// A set of references to nodes: for each node, whether a way leads to it, and whether a certain
/// one does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nodes {
    possible: [u64; WORDS],
    certain: [u64; WORDS],
}

impl Nodes {
    /// A set of one reference.
    pub fn one(of: Ref) -> Nodes {
        let mut nodes = Nodes::default();
        nodes.insert(of);
        nodes
    }

    /// Adds a reference; returns whether it was new.
    pub fn insert(&mut self, of: Ref) -> bool {
        let (word, bit) = place(of >> 1);
        let before = (self.possible[word], self.certain[word]);
        self.possible[word] |= bit;
        if of & 1 == 0 {
            self.certain[word] |= bit;
        }
        before != (self.possible[word], self.certain[word])
    }

    /// Adds references, all as uncertain ones if `weak`; returns whether there were new ones.
    pub fn join(&mut self, from: &Nodes, weak: bool) -> bool {
        let mut new = 0;
        for word in 0..WORDS {
            new |= from.possible[word] & !self.possible[word];
            self.possible[word] |= from.possible[word];
            if !weak {
                new |= from.certain[word] & !self.certain[word];
                self.certain[word] |= from.certain[word];
            }
        }
        new != 0
    }

    /// Removes a node.
    pub fn remove(&mut self, node: u32) {
        let (word, bit) = place(node);
        self.possible[word] &= !bit;
        self.certain[word] &= !bit;
    }

    /// Whether the set has the reference, or a certain one in place of an uncertain one.
    pub fn has(&self, of: Ref) -> bool {
        let (word, bit) = place(of >> 1);
        let known = if of & 1 == 0 {
            &self.certain
        } else {
            &self.possible
        };
        known[word] & bit != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.possible == [0; WORDS]
    }

    /// A reference of this set whose node `done` lacks, or has as an uncertain one only.
    pub fn next_beyond(&self, done: &Nodes) -> Option<Ref> {
        for word in 0..WORDS {
            let certain = self.certain[word] & !done.certain[word];
            if certain != 0 {
                return Some(reference(number(word, certain), false));
            }
            let possible = self.possible[word] & !done.possible[word];
            if possible != 0 {
                return Some(reference(number(word, possible), true));
            }
        }
        None
    }

    /// The references, in the order of their nodes.
    pub fn iter(&self) -> impl Iterator<Item = Ref> + use<> {
        let set = *self;
        let words = set.possible.into_iter().zip(set.certain).zip(0..);
        words.flat_map(|((mut possible, certain), word)| {
            std::iter::from_fn(move || {
                let bit = possible & possible.wrapping_neg();
                possible ^= bit;
                (bit != 0).then(|| reference(number(word, bit), certain & bit == 0))
            })
        })
    }

    /// The references as a list.
    pub fn refs(&self) -> Refs {
        self.iter().collect()
    }
}

impl Extend<Ref> for Nodes {
    fn extend<T: IntoIterator<Item = Ref>>(&mut self, refs: T) {
        for one in refs {
            self.insert(one);
        }
    }
}

fn place(node: u32) -> (usize, u64) {
    (node as usize / 64 % WORDS, 1 << (node % 64))
}

fn number(word: usize, bits: u64) -> u32 {
    word as u32 * 64 + bits.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::super::join;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn like_sorted_lists(one: Vec<u8>, other: Vec<u8>, odd: u8, weak: bool) {
            let list = |numbers: &[u8]| {
                let mut list = Refs::new();
                for &number in numbers {
                    join(&mut list, &[reference(number.into(), number & odd != 0)], false);
                }
                list
            };
            let set = |list: &Refs| {
                let mut set = Nodes::default();
                set.extend(list.iter().copied());
                set
            };
            let (mut refs, others) = (list(&one), list(&other));
            let (mut bits, other_bits) = (set(&refs), set(&others));
            prop_assert_eq!(bits.refs(), refs.clone());
            prop_assert_eq!(bits.join(&other_bits, weak), join(&mut refs, &others, weak));
            prop_assert_eq!(bits.refs(), refs.clone());
            prop_assert_eq!(bits.is_empty(), refs.is_empty());
            prop_assert!(refs.iter().all(|&one| bits.has(one)));
            let mut done = Nodes::default();
            while let Some(next) = bits.next_beyond(&done) {
                prop_assert!(done.insert(next));
            }
            prop_assert_eq!(done, bits);
        }
    }
}
