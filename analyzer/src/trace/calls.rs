//! The calls of a thread that are going on, as far as its events tell.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

/// The calls that are going on in a thread, the outermost first: the method of each, and what a reader
/// keeps for it.
///
/// Where events were lost, calls may have begun and ended unseen. Those that were going on stay until
/// the thread tells something that names the method of one, which closes what is deeper. Until then
/// they are a guess; so is, of several calls of that method, which one is meant: the innermost is taken.
pub(super) struct Calls<C> {
    all: Vec<(u32, C)>,
    /// How many of these are of each method.
    of_method: FxHashMap<u32, usize>,
    /// So many of the outermost may have ended, for events were lost since.
    doubtful: usize,
    /// So many calls may have begun without having been seen.
    unseen: u64,
}

impl<C> Default for Calls<C> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            of_method: FxHashMap::default(),
            doubtful: 0,
            unseen: 0,
        }
    }
}

impl<C> Calls<C> {
    pub(super) fn depth(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn innermost_mut(&mut self) -> Option<&mut C> {
        self.all.last_mut().map(|(_, kept)| kept)
    }

    /// A call of a method begins.
    pub(super) fn begin(&mut self, method: u32, kept: C) {
        self.all.push((method, kept));
        *self.of_method.entry(method).or_default() += 1;
    }

    /// So many events were lost, or nobody knows how many (0).
    pub(super) fn lose(&mut self, events: u64) {
        self.doubtful = self.all.len();
        let more = if events == 0 { u64::MAX } else { events };
        self.unseen = self.unseen.saturating_add(more);
    }

    /// Whether a call of a method is going on.
    pub(super) fn has(&self, method: u32) -> bool {
        self.of_method.contains_key(&method)
    }

    /// Takes the innermost call, unless it is of this method, of which one is going on: that method has
    /// told something, so what is deeper has ended. Says, too, whether that may be told by events that
    /// were lost.
    pub(super) fn pop_deeper(&mut self, method: u32) -> Option<(u32, C, bool)> {
        let is_doubtful = self.all.len() <= self.doubtful;
        if self.all.last().is_some_and(|(of, _)| *of == method) {
            if is_doubtful {
                // It goes on, and so do those around it.
                self.doubtful = 0;
            }
            return None;
        }
        let (of, kept) = self.pop()?;
        Some((of, kept, is_doubtful))
    }

    /// Takes the innermost call, which ends.
    pub(super) fn pop(&mut self) -> Option<(u32, C)> {
        let (method, kept) = self.all.pop()?;
        self.doubtful = self.doubtful.min(self.all.len());
        if let Some(open) = self.of_method.get_mut(&method) {
            *open -= 1;
            if *open == 0 {
                self.of_method.remove(&method);
            }
        }
        Some((method, kept))
    }

    /// Of a call that ends, but is not among those that are going on: whether its beginning may be
    /// among the events that were lost. Each of these is the beginning of one call at most.
    pub(super) fn was_unseen(&mut self) -> bool {
        let was = self.unseen > 0;
        if self.unseen < u64::MAX {
            self.unseen = self.unseen.saturating_sub(1);
        }
        was
    }
}
