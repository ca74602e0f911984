//! What the packer and the unpacker of a block both expect next.
//!
//! Both go through the events of a block in the same order and keep the same model, so that an
//! expected reference takes one byte, and mostly the same byte each time.

use std::hint::select_unpredictable;

use super::kind::{Kind, Layout, tag};

/// The columns of a block, by index.
pub(super) const OPS: usize = 0;
pub(super) const REFERENCES: usize = 1;
pub(super) const OBJECTS: usize = 2;
pub(super) const NUMBERS: usize = 3;
pub(super) const TEXTS: usize = 4;
pub(super) const COLUMNS: usize = 5;

/// The code of a null reference.
pub(super) const NULL: u8 = 0;
/// The code of `this` of the innermost active call.
pub(super) const THIS: u8 = 1;
/// The code of the reference that was last at this place.
pub(super) const SAME: u8 = 2;
/// The code of the object that was first seen last.
pub(super) const NEWEST: u8 = 3;
/// The code of any other reference: class and number follow in [`OBJECTS`].
pub(super) const OTHER: u8 = 4;
/// The first code of the recent objects: the slot is added to it.
pub(super) const RECENT: u8 = 8;

const RECENT_COUNT: usize = 128;
const PLACES: usize = 4096;
/// The most calls that are remembered.
const DEPTH: usize = 1024;

/// For a tag whose id is mostly that of the innermost active call: the short tag that says so,
/// without the id.
pub(super) static SHORT: [u8; 256] = short();
/// For each tag of [`SHORT`], the tag that it stands for.
pub(super) static LONG: [u8; 256] = long();

const fn short() -> [u8; 256] {
    let mut all = [0; 256];
    let mut next = tag::LIMIT;
    let mut at = 0;
    while at < 256 {
        if let Some(layout) = LAYOUTS_COPY[at]
            && matches!(
                layout.kind,
                Kind::Exit | Kind::Unwind | Kind::Bind | Kind::Caught
            )
        {
            all[at] = next;
            next += 1;
        }
        at += 1;
    }
    all
}

const fn long() -> [u8; 256] {
    let mut all = [0; 256];
    let mut at = 0;
    while at < 256 {
        if SHORT_COPY[at] != 0 {
            all[SHORT_COPY[at] as usize] = at as u8;
        }
        at += 1;
    }
    all
}

// Statics cannot be read in constants.
const LAYOUTS_COPY: [Option<Layout>; 256] = super::kind::layouts();
const SHORT_COPY: [u8; 256] = short();

#[derive(Clone, Copy, Default)]
struct Call {
    method: u32,
    this: u64,
}

/// The active calls.
struct Calls {
    top: Call,
    /// The calls around the innermost one, the outermost first, and places for more.
    around: Box<[Call; DEPTH]>,
    depth: usize,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            top: Call::default(),
            around: Box::new([Call::default(); DEPTH]),
            depth: 0,
        }
    }
}

impl Calls {
    fn clear(&mut self) {
        self.top = Call::default();
        self.depth = 0;
    }

    #[inline]
    fn enter(&mut self, call: Call) {
        if self.depth == DEPTH {
            self.around.copy_within(DEPTH / 2.., 0);
            self.depth = DEPTH / 2;
        }
        self.around[self.depth] = self.top;
        self.depth += 1;
        self.top = call;
    }

    #[inline]
    fn leave(&mut self, method: u32) {
        if self.top.method != method {
            let around = &self.around[..self.depth];
            let Some(at) = around.iter().rposition(|call| call.method == method) else {
                return;
            };
            self.depth = at;
        }
        self.top = match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                self.around[depth]
            }
            None => Call::default(),
        };
    }
}

pub(super) struct Model {
    calls: Calls,
    references: Box<[u64; PLACES]>,
    numbers: Box<[u64; PLACES]>,
    recent: [u64; RECENT_COUNT],
    pub(super) newest: u64,
}

/// A place at which the same values are expected again.
#[derive(Clone, Copy)]
pub(super) struct Place(usize);

impl Place {
    pub(super) fn plus(self, position: usize) -> Self {
        Self((self.0 + position) % PLACES)
    }
}

impl Default for Model {
    fn default() -> Self {
        Self {
            calls: Calls::default(),
            references: Box::new([0; PLACES]),
            numbers: Box::new([0; PLACES]),
            recent: [0; RECENT_COUNT],
            newest: 0,
        }
    }
}

impl Model {
    pub(super) fn restart(&mut self) {
        self.calls.clear();
        self.references.fill(0);
        self.numbers.fill(0);
        self.recent.fill(0);
        self.newest = 0;
    }

    /// The place of an event's values, which depends on its id, or on the active method.
    #[inline]
    pub(super) fn place(&self, tag: u8, id: Option<u32>) -> Place {
        let id = id.unwrap_or(self.calls.top.method);
        let key = (id ^ (u32::from(tag) << 24)).wrapping_mul(0x9e37_79b1);
        Place((key >> 20) as usize)
    }

    #[inline]
    pub(super) fn method(&self) -> u32 {
        self.calls.top.method
    }

    #[inline]
    pub(super) fn this(&self) -> u64 {
        self.calls.top.this
    }

    #[inline]
    pub(super) fn last(&self, place: Place) -> u64 {
        self.references[place.0]
    }

    #[inline]
    pub(super) fn slot(reference: u64) -> usize {
        (reference.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as usize
    }

    #[inline]
    pub(super) fn recent(&self, slot: usize) -> u64 {
        self.recent[slot % RECENT_COUNT]
    }

    #[inline]
    pub(super) fn saw(&mut self, place: Place, slot: usize, reference: u64) {
        self.references[place.0] = reference;
        self.recent[slot % RECENT_COUNT] = reference;
    }

    /// The last number at a place, to be replaced.
    #[inline]
    pub(super) fn number(&mut self, place: Place) -> &mut u64 {
        &mut self.numbers[place.0]
    }

    /// Lets `work` follow calls without values.
    #[inline(always)]
    pub(super) fn follow<T>(&mut self, work: impl FnOnce(&mut Bare<'_>) -> T) -> T {
        let calls = &mut self.calls;
        let mut bare = Bare {
            top: calls.top,
            depth: calls.depth,
            around: &mut calls.around,
        };
        let done = work(&mut bare);
        (calls.top, calls.depth) = (bare.top, bare.depth);
        done
    }

    /// Follows what an event does to the active calls.
    #[inline(always)]
    pub(super) fn step(&mut self, layout: &Layout, id: u32, first: u64) {
        match layout.kind {
            Kind::Enter => self.calls.enter(Call {
                method: id,
                this: if layout.references > 0 { first } else { 0 },
            }),
            Kind::Exit | Kind::Unwind => self.calls.leave(id),
            Kind::Bind if self.calls.top.method == id => self.calls.top.this = first,
            _ => {}
        }
    }
}

/// The active calls while only calls without values begin, and only innermost ones end. What each
/// of these events does is computed without a jump.
pub(super) struct Bare<'m> {
    top: Call,
    depth: usize,
    around: &'m mut [Call; DEPTH],
}

impl Bare<'_> {
    /// Whether the beginning of a call of a method, or its end, can be followed.
    #[inline(always)]
    pub(super) fn can_follow(&self, ends: bool, method: u32) -> bool {
        let is_other = ends & (self.top.method != method);
        // Where nothing is around, or another call has no place, this is not as simple.
        !is_other & (1..DEPTH).contains(&self.depth)
    }

    #[inline(always)]
    pub(super) fn follow(&mut self, ends: bool, method: u32) {
        // If the call ends, this place is free.
        self.around[self.depth % DEPTH] = self.top;
        let before = self.around[self.depth.wrapping_sub(1) % DEPTH];
        self.top.method = select_unpredictable(ends, before.method, method);
        self.top.this = select_unpredictable(ends, before.this, 0);
        self.depth = self
            .depth
            .wrapping_add(select_unpredictable(ends, usize::MAX, 1));
    }
}

/// Appends a number as a varint: seven bits in each byte, the lowest first.
#[inline]
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Encodes a signed difference so that small ones of either sign become small numbers.
#[inline]
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Reverses [`zigzag`].
#[inline]
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The bits of an object id above this one are the class, those below are the number.
pub(super) const CLASS_SHIFT: u32 = 40;
pub(super) const SERIAL: u64 = (1 << CLASS_SHIFT) - 1;

#[cfg(test)]
mod tests {
    use super::super::kind::LAYOUTS;
    use super::*;

    #[test]
    fn short_tags_are_nobody_else() {
        let short = SHORT.iter().filter(|tag| **tag != 0).count();
        assert_eq!(short, 9);
        for (tag, short) in SHORT.iter().enumerate().filter(|(_, short)| **short != 0) {
            assert!(LAYOUTS[usize::from(*short)].is_none());
            assert_eq!(usize::from(LONG[usize::from(*short)]), tag);
        }
    }

    #[test]
    fn zigzag_goes_both_ways() {
        for value in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert_eq!(zigzag(-1), 1);
    }
}
