//! A value for each thread of a trace, as readers keep it.

use rustc_hash::FxHashMap;

/// The number of threads up to which idle ones are kept.
const MAX_IDLE: usize = 1 << 16;

/// Values by the number of the thread. There may be hundreds of thousands of virtual threads, so
/// idle ones are forgotten from time to time: at most once for as many new threads as were left the
/// last time.
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
    /// The value of a thread, which may be new.
    pub(super) fn entry(&mut self, thread: u64, is_idle: impl Fn(&T) -> bool) -> &mut T {
        if self.all.len() >= self.most {
            self.all.retain(|_, kept| !is_idle(kept));
            self.most = MAX_IDLE.max(2 * self.all.len());
        }
        self.all.entry(thread).or_default()
    }

    /// The value of a thread, if there is one.
    pub(super) fn get(&self, thread: u64) -> Option<&T> {
        self.all.get(&thread)
    }

    /// The value of a thread, if there is one, for changing it.
    pub(super) fn get_mut(&mut self, thread: u64) -> Option<&mut T> {
        self.all.get_mut(&thread)
    }

    /// Forgets the value of a thread that ends.
    pub(super) fn remove(&mut self, thread: u64) {
        self.all.remove(&thread);
    }

    /// The numbers of the threads that have a value, in order.
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
