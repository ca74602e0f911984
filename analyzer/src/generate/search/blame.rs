//! Finds what makes a sequence endless: its last call, or a part from which it is built.
//!
//! A tree that has been put into itself is an object like any other until something walks through
//! it, and all that is built from it is endless as well. Each such sequence costs its time limit,
//! and if only methods were blamed, those that walk through trees would soon not be called any
//! more.

use super::super::sequence::MethodId;
use super::{Candidate, Search};

/// The number of endless calls after which a method may be to blame.
const MAX_LOST: u32 = 2;
/// The reciprocal of the share of its calls that must be endless.
const OF_CALLS: u32 = 5;
/// The reciprocal of the share of the sequences with a part that must be lost for the part to be to
/// blame.
const OF_USES: u32 = 4;
/// The percentage of cases in which what is to blame has another chance, if any of its calls has
/// ended well.
const FORGIVEN: usize = 3;

/// The results of the sequences that were built from a component, directly or not.
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
    /// The continuation at its end: all of it is in the sequence already.
    pub(super) fn then(self, mut next: Candidate) -> Candidate {
        next.parts.extend(self.parts);
        next
    }
}

impl Search<'_> {
    /// Whether a sequence is better not executed because of its parts.
    pub(super) fn is_doubtful(&mut self, candidate: &Candidate) -> bool {
        let mut parts = candidate.parts.iter();
        parts.any(|part| self.uses[*part].are_bad()) && !self.random.percent(FORGIVEN)
    }

    /// Notes that a sequence has ended.
    pub(super) fn ended(&mut self, candidate: &Candidate) {
        for part in &candidate.parts {
            self.uses[*part].well += 1;
        }
    }

    /// Notes that a sequence was endless, or has ended its JVM.
    pub(super) fn blame(&mut self, candidate: &Candidate) {
        for part in &candidate.parts {
            self.uses[*part].lost += 1;
        }
        *self.lost.entry(candidate.method).or_default() += 1;
    }

    /// Whether calls of a method are too often endless.
    pub(super) fn has_no_end(&mut self, method: MethodId) -> bool {
        let lost = self.lost.get(&method).copied().unwrap_or(0);
        let (ended, _) = self.returned.get(&method).copied().unwrap_or_default();
        let is_bad = lost >= MAX_LOST && lost * OF_CALLS >= ended;
        is_bad && (ended == 0 || !self.random.percent(FORGIVEN))
    }
}
