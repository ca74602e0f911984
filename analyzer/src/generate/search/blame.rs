//! Whose fault it is that a sequence has no end: that of its last call, or of a part that it is built on.
//!
//! A tree that has been put into itself is an object like any other until something walks through it, and
//! all that is built on it goes on like that. Each such sequence costs its time, and were the
//! methods blamed alone, those that walk through trees would soon be called no more.

use super::super::sequence::MethodId;
use super::{Candidate, Search};

/// Calls without an end after which a method may be to blame,
const MAX_LOST: u32 = 2;
/// if this share of its calls has none.
const OF_CALLS: u32 = 5;
/// Share of the sequences with a part that must be lost for the part to be to blame.
const OF_USES: u32 = 4;
/// How often, of a hundred, what is to blame has another chance, if any of its calls has ended well.
const FORGIVEN: usize = 3;

/// What has come of the sequences that were built on a component, also by way of others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Uses {
    well: u32,
    lost: u32,
}

impl Uses {
    fn are_bad(self) -> bool {
        self.lost > 0 && self.lost * OF_USES > self.well
    }
}

impl Candidate {
    /// What goes on where it ends: all of it is in the sequence already.
    pub(super) fn then(self, mut next: Candidate) -> Candidate {
        next.parts.extend(self.parts);
        next
    }
}

impl Search<'_> {
    /// Whether a sequence is better not executed, for what it is built on.
    pub(super) fn is_doubtful(&mut self, candidate: &Candidate) -> bool {
        let mut parts = candidate.parts.iter();
        parts.any(|part| self.uses[*part].are_bad()) && !self.random.percent(FORGIVEN)
    }

    /// A sequence has come to its end.
    pub(super) fn ended(&mut self, candidate: &Candidate) {
        for part in &candidate.parts {
            self.uses[*part].well += 1;
        }
    }

    /// A sequence has not come to its end, or has ended its JVM.
    pub(super) fn blame(&mut self, candidate: &Candidate) {
        for part in &candidate.parts {
            self.uses[*part].lost += 1;
        }
        *self.lost.entry(candidate.method).or_default() += 1;
    }

    /// Whether calls of a method are too often without an end.
    pub(super) fn has_no_end(&mut self, method: MethodId) -> bool {
        let lost = self.lost.get(&method).copied().unwrap_or(0);
        let (ended, _) = self.returned.get(&method).copied().unwrap_or_default();
        let is_bad = lost >= MAX_LOST && lost * OF_CALLS >= ended;
        is_bad && (ended == 0 || !self.random.percent(FORGIVEN))
    }
}
