//! Writing a method's stack map: old frames moved, new ones between them.

use hindsight_classfile::Attribute;
use hindsight_classfile::frames::{
    Frame, Shape, VerificationType, write_same, write_same_stack, write_types,
};

use crate::SkipReason;
use crate::asm::{Fragment, FragmentFrame};
use crate::code_map::{CodeMap, Lookup};
use crate::frames::Walker;
use crate::insertions::Insertions;
use crate::islands::{Islands, TargetFrame};

/// The most bytes of a stack map. Those that compilers make stay far below; larger ones are made to
/// blow up when their frames are extended.
const MAX_BYTES: usize = 1 << 22;

/// Collects frames by rising offset.
pub struct FrameWriter<'m> {
    map: Lookup<'m>,
    /// Whether no code moves.
    identity: bool,
    max_locals: u16,
    fresh: &'m [VerificationType],
    /// The content of the attribute; the count at its start is written last.
    bytes: Vec<u8>,
    count: u16,
    /// The offset that a delta of zero would mean.
    next: usize,
    /// Whether the locals of the frame written last are those of the old frame before it, extended,
    /// so that the next frame may refer to them.
    in_step: bool,
    scratch: Vec<VerificationType>,
}

impl<'m> FrameWriter<'m> {
    /// Starts an empty stack map. The `fresh` variables, from slot `max_locals` on, are in every
    /// old frame.
    pub fn new(map: &'m CodeMap, max_locals: u16, fresh: &'m [VerificationType]) -> Self {
        Self::reusing(Vec::new(), map, max_locals, fresh)
    }

    /// Like [`Self::new`], in memory that has been used.
    pub fn reusing(
        mut bytes: Vec<u8>,
        map: &'m CodeMap,
        max_locals: u16,
        fresh: &'m [VerificationType],
    ) -> Self {
        bytes.clear();
        bytes.extend_from_slice(&[0, 0]);
        Self {
            map: map.lookup(),
            identity: map.is_identity(),
            max_locals,
            fresh,
            bytes,
            count: 0,
            next: 0,
            // The locals at entry are the parameters, without the fresh variables.
            in_step: fresh.is_empty(),
            scratch: Vec::new(),
        }
    }

    fn delta(&mut self, offset: usize) -> Result<u16, SkipReason> {
        let delta = offset.checked_sub(self.next).ok_or(SkipReason::MALFORMED)?;
        self.next = offset + 1;
        self.count = self.count.checked_add(1).ok_or(SkipReason::TooLarge)?;
        if self.bytes.len() > MAX_BYTES {
            return Err(SkipReason::TooLarge);
        }
        u16::try_from(delta).map_err(|_| SkipReason::TooLarge)
    }

    /// An old type in new code: the type of an object under construction names the offset of its
    /// `new` instruction.
    fn moved(&mut self, verified: VerificationType) -> Result<VerificationType, SkipReason> {
        Ok(match verified {
            VerificationType::Uninitialized(new) if !self.identity => {
                let new = self.map.insn(usize::from(new))?;
                VerificationType::Uninitialized(
                    u16::try_from(new).map_err(|_| SkipReason::TooLarge)?,
                )
            }
            verified => verified,
        })
    }

    /// Writes a list of old types in new code, preceded by their number, which also counts the
    /// `more` types that the caller adds.
    fn types(&mut self, types: &[VerificationType], more: usize) -> Result<(), SkipReason> {
        let count = u16::try_from(types.len() + more).map_err(|_| SkipReason::TooLarge)?;
        self.bytes.extend_from_slice(&count.to_be_bytes());
        let moves = |ty: &VerificationType| matches!(ty, VerificationType::Uninitialized(_));
        if !self.identity && types.iter().any(moves) {
            for &ty in types {
                let ty = self.moved(ty)?;
                ty.write(&mut self.bytes);
            }
        } else {
            write_types(&mut self.bytes, types);
        }
        Ok(())
    }

    fn full(
        &mut self,
        offset: usize,
        locals: &[VerificationType],
        stack: &[VerificationType],
    ) -> Result<(), SkipReason> {
        let [high, low] = self.delta(offset)?.to_be_bytes();
        self.bytes.extend_from_slice(&[255, high, low]);
        self.types(locals, 0)?;
        self.types(stack, 0)
    }

    /// Writes a full frame: the locals, which take `slots`, the fresh variables, and the stack.
    fn extended(
        &mut self,
        offset: usize,
        locals: &[VerificationType],
        slots: u16,
        stack: &[VerificationType],
    ) -> Result<(), SkipReason> {
        if self.fresh.is_empty() {
            return self.full(offset, locals, stack);
        }
        let [high, low] = self.delta(offset)?.to_be_bytes();
        self.bytes.extend_from_slice(&[255, high, low]);
        let gap = usize::from(self.max_locals.saturating_sub(slots));
        self.types(locals, gap + self.fresh.len())?;
        // A zero byte is the type of an unused slot.
        self.bytes.resize(self.bytes.len() + gap, 0);
        write_types(&mut self.bytes, self.fresh);
        self.types(stack, 0)
    }

    /// Begins with the frames of the islands at the front and of the start behind them. `walker`
    /// has read nothing yet. Returns what [`Self::islands`] needs for the islands at the back.
    pub fn front(
        &mut self,
        islands: &Islands,
        walker: Walker<'_>,
    ) -> Result<Vec<TargetFrame>, SkipReason> {
        let entry = walker.locals.clone();
        let targets = islands.frames(walker)?;
        if !islands.front.is_empty() {
            self.islands(islands.front_places(), &targets)?;
            self.full(islands.start(), &entry, &[])?;
            self.in_step = self.fresh.is_empty();
        }
        Ok(targets)
    }

    /// Adds the frames of islands, each a copy of its target's.
    pub fn islands(
        &mut self,
        places: impl Iterator<Item = (usize, usize)>,
        targets: &[TargetFrame],
    ) -> Result<(), SkipReason> {
        for (place, target) in places {
            let at = targets.binary_search_by_key(&target, |frame| frame.target);
            let frame = at.ok().and_then(|at| targets.get(at));
            let frame = frame.ok_or(SkipReason::MALFORMED)?;
            self.extended(place, &frame.locals, frame.slots, &frame.stack)?;
            self.in_step = false;
        }
        Ok(())
    }

    /// Adds the frames of a fragment that begins at `start`.
    pub fn fragment(&mut self, start: usize, fragment: &Fragment) -> Result<(), SkipReason> {
        self.frames(start, 0, fragment, &fragment.frames)
    }

    /// Adds frames of a fragment whose byte at `zero` is now at `start`.
    fn frames(
        &mut self,
        start: usize,
        zero: usize,
        fragment: &Fragment,
        frames: &[FragmentFrame],
    ) -> Result<(), SkipReason> {
        let mut before = None;
        for frame in frames {
            // Frames of earlier pieces are not among them, so nothing saturates.
            let offset = start + frame.at.saturating_sub(zero);
            if before == Some(frame.locals) {
                self.same(offset, frame.stack)?;
            } else {
                let locals = fragment.locals(frame.locals);
                self.full(offset, locals, frame.stack.as_slice())?;
                self.in_step = false;
            }
            before = Some(frame.locals);
        }
        Ok(())
    }

    /// Adds a frame with the locals of the previous one.
    fn same(&mut self, offset: usize, stack: Option<VerificationType>) -> Result<(), SkipReason> {
        let delta = self.delta(offset)?;
        match stack {
            None => write_same(&mut self.bytes, delta),
            Some(stack) => write_same_stack(&mut self.bytes, delta, stack),
        }
        Ok(())
    }

    /// Adds the frames of the entry code that begins at `start`: each has the locals at the entry,
    /// and the fresh variables. If the body begins with a frame, a frame at the end of the entry
    /// code is left out in its favour.
    pub fn entry(
        &mut self,
        start: usize,
        entry: &Fragment,
        before_frame: bool,
    ) -> Result<(), SkipReason> {
        let frames = match entry.frames.split_last() {
            Some((last, others)) if before_frame && last.at == entry.here() => others,
            _ => &entry.frames,
        };
        self.frames(start, 0, entry, frames)?;
        self.in_step |= !frames.is_empty();
        Ok(())
    }

    /// Adds the frames of a handler behind the body. `last` are the locals of the last old frame,
    /// or those at the entry if there are no frames, and take `slots`.
    pub fn handler(
        &mut self,
        start: usize,
        handler: &Fragment,
        last: &[VerificationType],
    ) -> Result<(), SkipReason> {
        let Some((first, rest)) = handler.frames.split_first() else {
            return Ok(());
        };
        let locals = handler.locals(first.locals);
        if self.in_step && self.are_extended(locals, last) {
            self.same(start + first.at, first.stack)?;
            self.in_step = false;
            return self.frames(start, 0, handler, rest);
        }
        self.fragment(start, handler)
    }

    /// Whether `locals` are the `old` ones followed by the fresh variables.
    fn are_extended(&self, locals: &[VerificationType], old: &[VerificationType]) -> bool {
        if self.fresh.is_empty() {
            return locals == old;
        }
        let slots: usize = old.iter().map(|local| usize::from(local.slots())).sum();
        let gap = usize::from(self.max_locals).saturating_sub(slots);
        let Some(rest) = locals.strip_prefix(old) else {
            return false;
        };
        rest.len() == gap + self.fresh.len()
            && rest.ends_with(self.fresh)
            && rest[..gap]
                .iter()
                .all(|&local| local == VerificationType::Top)
    }

    /// Adds an old frame, which `walker` has just read.
    fn old(&mut self, frame: &Frame<'_>, walker: &Walker<'_>) -> Result<(), SkipReason> {
        let offset = self.map.label(frame.offset)?;
        match frame.shape {
            Shape::Same if self.in_step => self.same(offset, None)?,
            Shape::SameStack(stack) if self.in_step => {
                let stack = self.moved(stack)?;
                self.same(offset, Some(stack))?;
            }
            // Without fresh variables at their end, the locals can grow and shrink as they did.
            Shape::Chop(count @ 1..=3) if self.in_step && self.fresh.is_empty() => {
                let delta = self.delta(offset)?;
                self.bytes.push(251 - count);
                self.bytes.extend_from_slice(&delta.to_be_bytes());
            }
            Shape::Append(types) if self.in_step && self.fresh.is_empty() => {
                let delta = self.delta(offset)?;
                // There are at most three types.
                self.bytes.push(251 + types.len() as u8);
                self.bytes.extend_from_slice(&delta.to_be_bytes());
                for verified in types.iter() {
                    let verified = self.moved(verified)?;
                    verified.write(&mut self.bytes);
                }
            }
            Shape::Full { stack, .. } if !stack.is_empty() => {
                let mut types = std::mem::take(&mut self.scratch);
                types.clear();
                types.extend(stack.iter());
                self.extended(offset, &walker.locals, walker.slots, &types)?;
                self.scratch = types;
                self.in_step = true;
            }
            shape => {
                let stack: &[_] = match shape {
                    Shape::SameStack(stack) => &[stack],
                    _ => &[],
                };
                self.extended(offset, &walker.locals, walker.slots, stack)?;
                self.in_step = true;
            }
        }
        Ok(())
    }

    /// Adds the old frames, and those of the pieces within the body, which have been placed.
    pub fn body(
        &mut self,
        walker: &mut Walker<'_>,
        insertions: &Insertions,
        placed: &[usize],
    ) -> Result<(), SkipReason> {
        if !insertions.has_frames() {
            while let Some(frame) = walker.next()? {
                self.old(&frame, walker)?;
            }
            return Ok(());
        }
        let all = insertions.fragment();
        let pieces = insertions.iter().zip(placed.iter().copied());
        let mut pieces = pieces
            .filter(|(piece, _)| !piece.frames.is_empty())
            .peekable();
        let mut next = pieces.peek().map_or(usize::MAX, |(piece, _)| piece.old);
        while let Some(frame) = walker.next()? {
            while next < frame.offset
                && let Some((piece, start)) = pieces.next()
            {
                self.frames(start, piece.start, all, piece.frames)?;
                next = pieces.peek().map_or(usize::MAX, |(piece, _)| piece.old);
            }
            self.old(&frame, walker)?;
        }
        for (piece, start) in pieces {
            self.frames(start, piece.start, all, piece.frames)?;
        }
        Ok(())
    }

    /// Adds all old frames unchanged; the last of them is at `last`. Only for an empty stack map of
    /// code that does not move, without fresh variables and without fragments in it.
    pub fn as_it_is(
        &mut self,
        attribute: &Attribute<'_>,
        last: Option<usize>,
    ) -> Result<(), SkipReason> {
        let mut r = attribute.reader();
        self.count = r.u16()?;
        self.bytes.extend_from_slice(r.bytes(r.remaining())?);
        self.next = last.map_or(0, |last| last + 1);
        Ok(())
    }

    /// The content of the attribute; `None` if there are no frames.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        if let Some(place) = self.bytes.get_mut(..2) {
            place.copy_from_slice(&self.count.to_be_bytes());
        }
        (self.count > 0).then_some(self.bytes)
    }
}
