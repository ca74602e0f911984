//! An action that is done once, and for which every later caller waits.

use crate::callbacks::contained;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Unlike `std::sync::Once`, callers wait for a limited time.
#[derive(Default)]
pub(super) struct Once {
    begun: AtomicBool,
    done: Mutex<bool>,
    told: Condvar,
}

impl Once {
    /// Does the work, or waits until it is done elsewhere.
    pub(super) fn run(&self, at_most: Duration, work: impl FnOnce()) {
        let done = || self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if self.begun.swap(true, Ordering::AcqRel) {
            let _waited = self.told.wait_timeout_while(done(), at_most, |done| !*done);
        } else {
            // A panic ends the work, so nobody waits for it.
            contained(work);
            *done() = true;
            self.told.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_second_one_waits_until_the_first_is_done() {
        let once = Once::default();
        let done = AtomicBool::new(false);
        let (begin, begun) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                once.run(LONG, || {
                    begin.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(50));
                    done.store(true, Ordering::Release);
                });
            });
            begun.recv().unwrap();
            let mut again = false;
            once.run(LONG, || again = true);
            assert!(done.load(Ordering::Acquire) && !again);
        });
    }

    #[test]
    fn nobody_waits_for_ever_nor_for_a_panic() {
        let once = Once::default();
        once.run(LONG, || once.run(Duration::ZERO, || ()));
        let once = Once::default();
        once.run(LONG, || panic!("nobody listens"));
        once.run(LONG, || ());
    }
}
