//! Pieces of code to be put between a body's instructions.

use std::ops::Range;

use crate::asm::{Fragment, FragmentFrame, Guard, MAX_SPARE_LEN};

/// Pieces of inserted code by rising offset, all in one fragment: a method has many of them, and
/// most are a few bytes long.
#[derive(Debug, Default)]
pub struct Insertions {
    /// The code of all pieces, one after the other, with the frames and guards within it.
    all: Fragment,
    places: Vec<Place>,
    /// Slots of stack that the pieces need above what the body needs.
    pub stack: u16,
}

/// Where a piece goes, and where it stands among all pieces. There are as many as writes in a body,
/// so this type is small; a body has at most 65,535 bytes, and what is inserted for each of them is
/// bounded.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The offset in the old code of the instruction that the piece is put before.
    old: u32,
    /// Where its code, frames and guards begin in the common fragment.
    code: u32,
    frames: u32,
    guards: u32,
    /// Whether the piece belongs to the instruction before that offset: jumps to the offset do not
    /// run it. Such a piece has no frames, and comes before the other pieces of the same offset.
    after: bool,
}

/// A piece of inserted code.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'i> {
    /// The offset in the old code of the instruction that the piece is put before.
    pub old: usize,
    /// Whether it belongs to the previous instruction.
    pub after: bool,
    pub code: &'i [u8],
    /// Where the piece's code starts within the code of all pieces. The positions of its frames and
    /// guards, too, count from the beginning of that code.
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

    /// Releases memory that only an unusually large method needs.
    pub fn trim(&mut self) {
        self.clear();
        self.all.trim();
        self.places.shrink_to(MAX_SPARE_LEN / 32);
    }

    /// Whether there are no pieces.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The fragment to whose end code is added that runs before the instruction at `offset`. No
    /// piece may have a larger offset.
    pub fn before(&mut self, offset: usize) -> &mut Fragment {
        self.at(offset, false)
    }

    /// The fragment to whose end code is added that runs after the instruction that ends at `end`,
    /// which is not a jump. No piece may have a larger offset.
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

    /// Records that the stack is this many slots deeper at some point.
    pub fn stack(&mut self, slots: u16) {
        self.stack = self.stack.max(slots);
    }

    /// Slots of operand stack that the pieces need which begin with an empty stack.
    pub fn max_stack(&self) -> u16 {
        self.all.max_stack
    }

    /// The number of guards in all pieces.
    pub fn guards(&self) -> usize {
        self.all.guards.len()
    }

    /// Whether any piece has frames.
    pub fn has_frames(&self) -> bool {
        !self.all.frames.is_empty()
    }

    /// The fragment that holds the lists of locals to which the pieces' frames refer.
    pub fn fragment(&self) -> &Fragment {
        &self.all
    }

    /// The offset of the last piece.
    pub fn last(&self) -> Option<usize> {
        self.places.last().map(|place| place.old as usize)
    }

    /// The offset of a piece, given its index, and whether it belongs to the previous instruction.
    /// Behind the last piece, it is an offset that no instruction has.
    #[inline]
    pub fn place(&self, at: usize) -> (usize, bool) {
        match self.places.get(at) {
            Some(place) => (place.old as usize, place.after),
            None => (usize::MAX, false),
        }
    }

    /// The range of a piece's code within the code of all pieces, given its index.
    #[inline]
    pub fn span(&self, at: usize) -> Range<usize> {
        let end = self.all.code.len();
        let start = |at: usize| self.places.get(at).map_or(end, |place| place.code as usize);
        start(at)..start(at + 1)
    }

    /// For each piece, by rising offset: its offset, whether it belongs to the previous
    /// instruction, and the range of its code within the code of all pieces.
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
