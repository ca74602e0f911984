//! The active calls of a thread, as far as its events show.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The most active calls that are kept. Of deeper stacks, and of calls whose ends no event shows
/// (constructors that an exception leaves), these are the innermost.
const MOST: usize = 1 << 16;

/// The active calls of a thread, the outermost first: the method of each, and what a reader keeps
/// for it.
///
/// Where events were lost, calls may have begun and ended unseen. Calls that were active then stay
/// until the thread records an event that names the method of one of them, which ends all deeper
/// calls. Until then they are a guess; and if several calls of that method are active, the
/// innermost one is taken to be meant.
pub(super) struct Calls<C> {
    all: VecDeque<(u32, C)>,
    /// The number of calls around these that are not kept any more.
    around: usize,
    /// The number of active calls of each method.
    of_method: FxHashMap<u32, usize>,
    /// The number of outermost calls that may have ended, because events were lost since they
    /// began.
    doubtful: usize,
    /// The number of calls that may have begun unseen.
    unseen: u64,
}

impl<C> Default for Calls<C> {
    fn default() -> Self {
        Self {
            all: VecDeque::new(),
            around: 0,
            of_method: FxHashMap::default(),
            doubtful: 0,
            unseen: 0,
        }
    }
}

impl<C> Calls<C> {
    pub(super) fn depth(&self) -> usize {
        self.around + self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.depth() == 0
    }

    pub(super) fn innermost_mut(&mut self) -> Option<&mut C> {
        self.all.back_mut().map(|(_, kept)| kept)
    }

    /// Begins a call of a method. Returns the outermost call if there are too many to be kept.
    pub(super) fn begin(&mut self, method: u32, kept: C) -> Option<(u32, C)> {
        self.all.push_back((method, kept));
        *self.of_method.entry(method).or_default() += 1;
        if self.all.len() <= MOST {
            return None;
        }
        let (method, kept) = self.all.pop_front()?;
        self.around += 1;
        self.doubtful = self.doubtful.saturating_sub(1);
        self.ended(method);
        Some((method, kept))
    }

    /// Records that a call of a method is not among the active ones any more.
    fn ended(&mut self, method: u32) {
        if let Some(open) = self.of_method.get_mut(&method) {
            *open -= 1;
            if *open == 0 {
                self.of_method.remove(&method);
            }
        }
    }

    /// Records that this many events were lost; 0 if the number is not known.
    pub(super) fn lose(&mut self, events: u64) {
        self.doubtful = self.all.len();
        let more = if events == 0 { u64::MAX } else { events };
        self.unseen = self.unseen.saturating_add(more);
    }

    /// Whether a call of a method is active.
    pub(super) fn has(&self, method: u32) -> bool {
        self.of_method.contains_key(&method)
    }

    /// Takes the innermost call, unless it is of this method, which must have an active call: as
    /// that method has recorded an event, all deeper calls have ended. The flag says whether the
    /// end may be among the events that were lost.
    pub(super) fn pop_deeper(&mut self, method: u32) -> Option<(u32, C, bool)> {
        let is_doubtful = self.all.len() <= self.doubtful;
        if self.all.back().is_some_and(|(of, _)| *of == method) {
            if is_doubtful {
                // This call is still active, and so are those around it.
                self.doubtful = 0;
            }
            return None;
        }
        let (of, kept) = self.pop()?;
        Some((of, kept, is_doubtful))
    }

    /// Takes the innermost call, which ends.
    pub(super) fn pop(&mut self) -> Option<(u32, C)> {
        let (method, kept) = self.all.pop_back()?;
        self.doubtful = self.doubtful.min(self.all.len());
        self.ended(method);
        Some((method, kept))
    }

    /// For a call that ends but is not among the kept ones: whether it is one of those around them.
    pub(super) fn was_around(&mut self) -> bool {
        let was = self.all.is_empty() && self.around > 0;
        self.around -= usize::from(was);
        was
    }

    /// For a call that ends but is not among the active ones: whether its beginning may be among
    /// the events that were lost. Each lost event is the beginning of at most one call.
    pub(super) fn was_unseen(&mut self) -> bool {
        let was = self.unseen > 0;
        if self.unseen < u64::MAX {
            self.unseen = self.unseen.saturating_sub(1);
        }
        was
    }
}
