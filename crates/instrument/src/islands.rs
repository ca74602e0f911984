//! Islands: intermediate jumps for conditional jumps that no longer reach their targets.
//!
//! ```text
//!         goto_w start     only if there are islands at the front
//!         goto_w x         an island
//! start:  nop
//!         ...              entry code and body
//!         goto_w y         another one
//!         ...              handlers
//! ```
//!
//! A conditional jump reaches 32,768 bytes back and 32,767 ahead, and a body has 65,535 at most, so
//! each jump reaches the front or the back. Its target has a frame, and the state in which it jumps
//! fits that frame, so an island's frame is a copy of its target's. No execution falls through into
//! an island, and no range of an exception table covers one: at any other place, the frames of
//! handlers might ask for more than the island's frame has.

use hindsight_classfile::frames::{Shape, VerificationType};
use hindsight_classfile::opcode as op;

use crate::SkipReason;
use crate::frames::{MAX_KEPT, Walker};

/// The length of an island in bytes.
const LEN: usize = 5;

/// Jumps at lower offsets of the new code than this reach the front; the others reach the back.
const NEAR_FRONT: usize = 0x8000;

/// Islands by the old offset of their targets, each list sorted.
#[derive(Debug, Default)]
pub struct Islands {
    pub front: Vec<usize>,
    pub back: Vec<usize>,
}

impl Islands {
    /// Forgets all islands.
    pub fn clear(&mut self) {
        self.front.clear();
        self.back.clear();
    }

    /// Whether there are no islands.
    pub fn is_empty(&self) -> bool {
        self.front.is_empty() && self.back.is_empty()
    }

    /// The length of what stands before the entry code.
    pub fn front_len(&self) -> usize {
        match self.front.len() {
            0 => 0,
            count => LEN + count * LEN + 1,
        }
    }

    /// The length of what stands behind the body.
    pub fn back_len(&self) -> usize {
        self.back.len() * LEN
    }

    /// The offset behind the islands at the front, where the method's execution begins.
    pub fn start(&self) -> usize {
        self.front_len().saturating_sub(1)
    }

    /// Makes sure that there is an island for a jump from `from`, in new code, to `target`, in old
    /// code. Returns whether there was none.
    pub fn add(&mut self, from: usize, target: usize) -> bool {
        let islands = if from <= NEAR_FRONT {
            &mut self.front
        } else {
            &mut self.back
        };
        match islands.binary_search(&target) {
            Ok(_) => false,
            Err(place) => {
                islands.insert(place, target);
                true
            }
        }
    }

    /// The offset of the island that [`Self::add`] made.
    pub fn find(&self, from: usize, target: usize, body_end: usize) -> Option<usize> {
        let (islands, start) = if from <= NEAR_FRONT {
            (&self.front, LEN)
        } else {
            (&self.back, body_end)
        };
        Some(start + islands.binary_search(&target).ok()? * LEN)
    }

    /// The islands at the front: the offset in new code, and the target in old code.
    pub fn front_places(&self) -> impl Iterator<Item = (usize, usize)> {
        places(&self.front, LEN)
    }

    /// The islands at the back: the offset in new code, and the target in old code.
    pub fn back_places(&self, body_end: usize) -> impl Iterator<Item = (usize, usize)> {
        places(&self.back, body_end)
    }

    /// Writes what stands before the entry code. `label` maps an old offset to the new one.
    pub fn emit_front(
        &self,
        out: &mut Vec<u8>,
        mut label: impl FnMut(usize) -> Result<usize, SkipReason>,
    ) -> Result<(), SkipReason> {
        if self.front.is_empty() {
            return Ok(());
        }
        goto_w(out, self.start());
        for &target in &self.front {
            goto_w(out, label(target)?);
        }
        out.push(op::NOP);
        Ok(())
    }

    /// Writes what stands behind the body.
    pub fn emit_back(
        &self,
        out: &mut Vec<u8>,
        mut label: impl FnMut(usize) -> Result<usize, SkipReason>,
    ) -> Result<(), SkipReason> {
        self.back.iter().try_for_each(|&target| {
            goto_w(out, label(target)?);
            Ok(())
        })
    }

    /// The frames of all targets, by old offset. Each must have one.
    pub fn frames(&self, mut walker: Walker<'_>) -> Result<Vec<TargetFrame>, SkipReason> {
        let mut targets: Vec<_> = self.front.iter().chain(&self.back).copied().collect();
        targets.sort_unstable();
        targets.dedup();
        let mut frames = Vec::with_capacity(targets.len());
        let mut size = 0;
        while let Some(frame) = walker.next()? {
            if targets.binary_search(&frame.offset).is_err() {
                continue;
            }
            let stack: Vec<_> = match frame.shape {
                Shape::SameStack(stack) => vec![stack],
                Shape::Full { stack, .. } => stack.iter().collect(),
                Shape::Same | Shape::Chop(_) | Shape::Append(_) => Vec::new(),
            };
            size += walker.locals.len() + stack.len();
            if size > MAX_KEPT {
                return Err(SkipReason::TooLarge);
            }
            frames.push(TargetFrame {
                target: frame.offset,
                locals: walker.locals.clone(),
                slots: walker.slots,
                stack,
            });
        }
        if frames.len() == targets.len() {
            Ok(frames)
        } else {
            Err(SkipReason::MALFORMED)
        }
    }
}

/// The frame at an island's target, as it is in the old code.
#[derive(Debug)]
pub struct TargetFrame {
    pub target: usize,
    pub locals: Vec<VerificationType>,
    /// The number of slots that the locals take.
    pub slots: u16,
    pub stack: Vec<VerificationType>,
}

fn places(targets: &[usize], start: usize) -> impl Iterator<Item = (usize, usize)> {
    (start..).step_by(LEN).zip(targets.iter().copied())
}

/// Writes a jump to `target`.
fn goto_w(out: &mut Vec<u8>, target: usize) {
    // Both are at most 2^24.
    let distance = target as i32 - out.len() as i32;
    out.push(op::GOTO_W);
    out.extend_from_slice(&distance.to_be_bytes());
}
