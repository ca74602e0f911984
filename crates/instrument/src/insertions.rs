//! Pieces of code to be put between a body's instructions.

use std::ops::Range;

use crate::asm::{Fragment, FragmentFrame, Guard, MAX_SPARE_LEN};

/// Pieces of inserted code by rising offset, all in one fragment: there are many
/// in a method, and most are a few bytes.
#[derive(Debug, Default)]
pub struct Insertions {
    /// The code of all pieces, one after the other, with the frames and guards
    /// within.
    all: Fragment,
    places: Vec<Place>,
    /// Slots of stack that they need above what the body needs.
    pub stack: u16,
}

/// Where a piece goes, and where it stands among all. There are as many as writes
/// in a body, so it is small; a body has at most 65,535 bytes, and what is inserted
/// for each of them is bounded.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The instruction that it is put before, in old code.
    old: u32,
    /// Where its code, frames and guards begin.
    code: u32,
    frames: u32,
    guards: u32,
    /// Whether it belongs to the instruction before that place: jumps to the
    /// place do not run it. Such a piece has no frames, and comes before another
    /// of the same place.
    after: bool,
}

/// A piece of inserted code.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'i> {
    /// The instruction that it is put before, in old code.
    pub old: usize,
    /// Whether it belongs to the instruction before that.
    pub after: bool,
    pub code: &'i [u8],
    /// Where the code stands among that of all pieces: what frames and guards
    /// count from has this as its zero.
    pub start: usize,
    pub frames: &'i [FragmentFrame],
    pub guards: &'i [Guard],
}

impl Insertions {
    /// Forgets all pieces.
    pub fn clear(&mut self) {
        self.all.clear();
        self.places.clear();
        self.stack = 0;
    }

    /// Lets go of what only a strange method needs.
    pub fn trim(&mut self) {
        self.clear();
        self.all.trim();
        self.places.shrink_to(MAX_SPARE_LEN / 32);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Code goes to the end of this that runs before the instruction at
    /// `offset`. No piece may have a larger offset.
    pub fn before(&mut self, offset: usize) -> &mut Fragment {
        self.at(offset, false)
    }

    /// Code goes to the end of this that runs after the instruction that ends at
    /// `end`, which is no jump. No piece may have a larger offset.
    pub fn after(&mut self, end: usize) -> &mut Fragment {
        self.at(end, true)
    }

    #[inline]
    fn at(&mut self, old: usize, after: bool) -> &mut Fragment {
        let old = old as u32;
        let last = self.places.last();
        if last.is_none_or(|last| (last.old, last.after) != (old, after)) {
            self.places.push(Place {
                old,
                after,
                code: self.all.code.len() as u32,
                frames: self.all.frames.len() as u32,
                guards: self.all.guards.len() as u32,
            });
        }
        &mut self.all
    }

    /// Says that the stack is so many slots deeper at some point.
    pub fn stack(&mut self, slots: u16) {
        self.stack = self.stack.max(slots);
    }

    /// Slots of operand stack that pieces need which begin with an empty stack.
    pub fn max_stack(&self) -> u16 {
        self.all.max_stack
    }

    /// How many guards there are in all pieces.
    pub fn guards(&self) -> usize {
        self.all.guards.len()
    }

    /// Whether any piece has frames.
    pub fn has_frames(&self) -> bool {
        !self.all.frames.is_empty()
    }

    /// What the lists of locals in frames are of.
    pub fn fragment(&self) -> &Fragment {
        &self.all
    }

    /// Where the last one goes.
    pub fn last(&self) -> Option<usize> {
        self.places.last().map(|place| place.old as usize)
    }

    /// Where a piece goes, by its place in the list, and whether it belongs to
    /// the instruction before; no offset has none.
    #[inline]
    pub fn place(&self, at: usize) -> (usize, bool) {
        match self.places.get(at) {
            Some(place) => (place.old as usize, place.after),
            None => (usize::MAX, false),
        }
    }

    /// Where the code of a piece is in that of all, by its place in the list.
    #[inline]
    pub fn span(&self, at: usize) -> Range<usize> {
        let end = self.all.code.len();
        let start = |at: usize| self.places.get(at).map_or(end, |place| place.code as usize);
        start(at)..start(at + 1)
    }

    /// For each piece, by rising offset: where it goes, whether it belongs to the
    /// instruction before, and where its code is in that of all.
    #[inline]
    pub fn spans(&self) -> impl Iterator<Item = (usize, bool, Range<usize>)> {
        let ends = self.places.iter().skip(1).map(|next| next.code as usize);
        let ends = ends.chain([self.all.code.len()]);
        self.places.iter().zip(ends).map(|(place, end)| {
            let code = place.code as usize..end;
            (place.old as usize, place.after, code)
        })
    }

    /// The code of all pieces, one after the other.
    pub fn all_code(&self) -> &[u8] {
        &self.all.code
    }

    /// The pieces by rising offset.
    pub fn iter(&self) -> impl Iterator<Item = Piece<'_>> {
        let all = &self.all;
        let ends = self
            .places
            .iter()
            .skip(1)
            .map(|next| [next.code, next.frames, next.guards].map(|at| at as usize));
        let ends = ends.chain([[all.code.len(), all.frames.len(), all.guards.len()]]);
        self.places
            .iter()
            .zip(ends)
            .map(|(place, [code, frames, guards])| {
                let start = place.code as usize;
                Piece {
                    old: place.old as usize,
                    after: place.after,
                    code: all.code.get(start..code).unwrap_or(&[]),
                    start,
                    frames: (all.frames.get(place.frames as usize..frames)).unwrap_or(&[]),
                    guards: (all.guards.get(place.guards as usize..guards)).unwrap_or(&[]),
                }
            })
    }
}
