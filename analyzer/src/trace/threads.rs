//! What a reader of a trace keeps for each thread.

use rustc_hash::FxHashMap;

/// Threads that are kept though they are idle.
const MAX_IDLE: usize = 1 << 16;

/// By the number of the thread. Virtual ones come by the hundred thousand, so idle ones are forgotten
/// now and then: at most once for as many new threads as were left the last time.
pub(super) struct Threads<T> {
    all: FxHashMap<u64, T>,
    most: usize,
}

impl<T> FromIterator<(u64, T)> for Threads<T> {
    fn from_iter<I: IntoIterator<Item = (u64, T)>>(all: I) -> Self {
        Self {
            all: all.into_iter().collect(),
            most: MAX_IDLE,
        }
    }
}

impl<T: Default> Threads<T> {
    /// What is kept for a thread that may be new.
    pub(super) fn entry(&mut self, thread: u64, is_idle: impl Fn(&T) -> bool) -> &mut T {
        if self.all.len() >= self.most {
            self.all.retain(|_, kept| !is_idle(kept));
            self.most = MAX_IDLE.max(2 * self.all.len());
        }
        self.all.entry(thread).or_default()
    }

    /// What is kept for a thread, if there is anything.
    pub(super) fn get(&self, thread: u64) -> Option<&T> {
        self.all.get(&thread)
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, thread: u64) -> Option<&mut T> {
        self.all.get_mut(&thread)
    }

    /// What was kept for a thread that ends is forgotten.
    pub(super) fn remove(&mut self, thread: u64) {
        self.all.remove(&thread);
    }

    /// The numbers of the threads for which something is kept, in order.
    pub(super) fn ids(&self) -> Vec<u64> {
        let mut ids: Vec<u64> = self.all.keys().copied().collect();
        ids.sort_unstable();
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn many_threads_that_are_not_idle_are_not_looked_through_for_each_event() {
        let looked = Cell::new(0_usize);
        let is_idle = |busy: &bool| {
            looked.set(looked.get() + 1);
            !busy
        };
        let mut threads: Threads<bool> = Threads::from_iter([]);
        let count = 5 * MAX_IDLE;
        for event in 0..2 * count as u64 {
            *threads.entry(event % count as u64, is_idle) = true;
        }
        assert_eq!(threads.ids().len(), count);
        assert!(looked.get() < 2 * count, "{}", looked.get());
    }

    #[test]
    fn idle_threads_are_forgotten() {
        let mut threads: Threads<bool> = Threads::from_iter([(0, true)]);
        for thread in 1..3 * MAX_IDLE as u64 {
            threads.entry(thread, |busy| !busy);
        }
        assert_eq!(threads.get(0), Some(&true));
        assert!(threads.ids().len() <= MAX_IDLE);
    }
}
