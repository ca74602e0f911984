//! Writing a method's stack map: old frames moved, new ones between them.

use hindsight_classfile::frames::{
    Frame, Shape, VerificationType, write_full, write_same, write_same_stack,
};

use crate::SkipReason;
use crate::asm::Fragment;
use crate::entry::extend_locals;
use crate::frames::Walker;
use crate::islands::{Islands, TargetFrame};
use crate::relocate::CodeMap;

/// Bytes of a stack map. Compilers stay far below; beyond this, frames are made
/// to blow up when they are extended.
const MAX_BYTES: usize = 1 << 22;

/// Collects frames by rising offset.
pub struct FrameWriter<'m> {
    map: &'m CodeMap,
    max_locals: u16,
    fresh: &'m [VerificationType],
    /// The frames, without their count.
    bytes: Vec<u8>,
    count: u16,
    /// The offset that a difference of zero would mean.
    next: usize,
    /// Whether the locals of the frame written last are those of the old frame
    /// before, extended, so that one may refer to them.
    in_step: bool,
    scratch: Vec<VerificationType>,
}

impl<'m> FrameWriter<'m> {
    /// Starts an empty stack map. The `fresh` variables, from `max_locals` on,
    /// are in every old frame.
    pub fn new(map: &'m CodeMap, max_locals: u16, fresh: &'m [VerificationType]) -> Self {
        Self {
            map,
            max_locals,
            fresh,
            bytes: Vec::new(),
            count: 0,
            next: 0,
            // The parameters are, but without the fresh variables.
            in_step: fresh.is_empty(),
            scratch: Vec::new(),
        }
    }

    fn delta(&mut self, offset: usize) -> Result<u16, SkipReason> {
        let delta = offset.checked_sub(self.next).ok_or(SkipReason::Malformed)?;
        self.next = offset + 1;
        self.count = self.count.checked_add(1).ok_or(SkipReason::TooLarge)?;
        if self.bytes.len() > MAX_BYTES {
            return Err(SkipReason::TooLarge);
        }
        u16::try_from(delta).map_err(|_| SkipReason::TooLarge)
    }

    /// An old type in new code: objects under construction are known by the
    /// instruction that made them.
    fn moved(&self, verified: VerificationType) -> Result<VerificationType, SkipReason> {
        Ok(match verified {
            VerificationType::Uninitialized(new) if !self.map.is_identity() => {
                let new = self.map.insn(usize::from(new))?;
                VerificationType::Uninitialized(
                    u16::try_from(new).map_err(|_| SkipReason::TooLarge)?,
                )
            }
            verified => verified,
        })
    }

    fn full(
        &mut self,
        offset: usize,
        locals: &[VerificationType],
        stack: &[VerificationType],
    ) -> Result<(), SkipReason> {
        let delta = self.delta(offset)?;
        self.scratch.clear();
        for &local in locals {
            let moved = self.moved(local)?;
            self.scratch.push(moved);
        }
        let locals_len = self.scratch.len();
        for &entry in stack {
            let moved = self.moved(entry)?;
            self.scratch.push(moved);
        }
        let (locals, stack) = self.scratch.split_at(locals_len);
        write_full(&mut self.bytes, delta, locals, stack);
        Ok(())
    }

    /// A full frame with old locals, which take `slots`, and the fresh variables.
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
        let mut locals = locals.to_vec();
        extend_locals(&mut locals, slots, self.max_locals, self.fresh);
        self.full(offset, &locals, stack)
    }

    /// Begins with the frames of the islands at the front and of the start
    /// behind them. `walker` has read nothing yet. Returns what
    /// [`Self::islands`] needs for those at the back.
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
            let frame = frame.ok_or(SkipReason::Malformed)?;
            self.extended(place, &frame.locals, frame.slots, &frame.stack)?;
            self.in_step = false;
        }
        Ok(())
    }

    /// Adds the frames of a fragment that begins at `start`.
    pub fn fragment(&mut self, start: usize, fragment: &Fragment) -> Result<(), SkipReason> {
        for frame in &fragment.frames {
            self.full(start + frame.at, &frame.locals, &[frame.stack])?;
            self.in_step = false;
        }
        Ok(())
    }

    /// Adds an old frame, which `walker` has just read.
    fn old(&mut self, frame: &Frame<'_>, walker: &Walker<'_>) -> Result<(), SkipReason> {
        let offset = self.map.label(frame.offset)?;
        match frame.shape {
            Shape::Same if self.in_step => {
                let delta = self.delta(offset)?;
                write_same(&mut self.bytes, delta);
            }
            Shape::SameStack(stack) if self.in_step => {
                let (delta, stack) = (self.delta(offset)?, self.moved(stack)?);
                write_same_stack(&mut self.bytes, delta, stack);
            }
            // Without fresh variables at their end, lists can grow and shrink
            // as they did.
            Shape::Chop(count @ 1..=3) if self.in_step && self.fresh.is_empty() => {
                let delta = self.delta(offset)?;
                self.bytes.push(251 - count);
                self.bytes.extend(delta.to_be_bytes());
            }
            Shape::Append(types) if self.in_step && self.fresh.is_empty() => {
                let delta = self.delta(offset)?;
                // At most three.
                self.bytes.push(251 + types.len() as u8);
                self.bytes.extend(delta.to_be_bytes());
                for verified in types.iter() {
                    self.moved(verified)?.write(&mut self.bytes);
                }
            }
            shape => {
                let stack: Vec<_> = match shape {
                    Shape::SameStack(stack) => vec![stack],
                    Shape::Full { stack, .. } => stack.iter().collect(),
                    Shape::Same | Shape::Chop(_) | Shape::Append(_) => Vec::new(),
                };
                self.extended(offset, &walker.locals, walker.slots, &stack)?;
                self.in_step = true;
            }
        }
        Ok(())
    }

    /// Adds the old frames and those of fragments within the body, each with
    /// its old and its new offset.
    pub fn body<'f>(
        &mut self,
        mut walker: Walker<'_>,
        fragments: impl Iterator<Item = (usize, usize, &'f Fragment)>,
    ) -> Result<(), SkipReason> {
        let mut fragments = fragments.peekable();
        while let Some(frame) = walker.next()? {
            while let Some((_, start, fragment)) =
                fragments.next_if(|&(old, _, _)| old < frame.offset)
            {
                self.fragment(start, fragment)?;
            }
            self.old(&frame, &walker)?;
        }
        for (_, start, fragment) in fragments {
            self.fragment(start, fragment)?;
        }
        Ok(())
    }

    /// The content of the attribute; nothing if there are no frames.
    pub fn finish(self) -> Option<Vec<u8>> {
        (self.count > 0).then(|| {
            let mut info = Vec::with_capacity(2 + self.bytes.len());
            info.extend(self.count.to_be_bytes());
            info.extend(self.bytes);
            info
        })
    }
}
