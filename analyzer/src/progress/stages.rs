//! Work in stages, whose progress a thread reports by itself.

use super::{Pace, bar, take_away};
use crate::stderr::say;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The amount of work in a stage.
#[derive(Debug, Clone)]
pub enum Extent {
    /// It is not known: the time that it has taken is reported.
    Unknown,
    /// As much as can be done in this time.
    Time(Duration),
    /// A number, and a counter of what is done. The counter may be another one's, whose value at
    /// the beginning is subtracted.
    Number(u64, Arc<AtomicU64>),
}

#[derive(Debug)]
struct Stage {
    what: &'static str,
    since: Instant,
    extent: Extent,
    /// The counter's value at the beginning.
    before: u64,
}

impl Stage {
    /// The line that reports on it.
    fn line(&self) -> String {
        let passed = self.since.elapsed();
        let (done, total) = match &self.extent {
            Extent::Unknown => return format!("{}, {} s", self.what, passed.as_secs()),
            Extent::Time(time) => (passed.as_millis() as u64, time.as_millis() as u64),
            Extent::Number(total, done) => (done.load(Relaxed).saturating_sub(self.before), *total),
        };
        bar(done.min(total), total.max(1), &self.what)
    }
}

#[derive(Debug, Default)]
struct State {
    stage: Option<Stage>,
    ended: bool,
    shown: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports until it is over.
    fn tell(&self) {
        let pace = Pace::new();
        let mut wait = pace.first();
        let mut state = self.state();
        loop {
            // It may have ended before it is waited for.
            state = (self
                .changed
                .wait_timeout_while(state, wait, |state| !state.ended))
            .unwrap_or_else(PoisonError::into_inner)
            .0;
            if state.ended {
                return take_away(&mut state.shown);
            }
            wait = pace.next();
            if let Some(line) = state.stage.as_ref().map(Stage::line) {
                state.shown = pace.tell(&line);
            }
        }
    }
}

/// The stages of some work, one after the other, on stderr.
#[derive(Debug)]
pub struct Stages {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Stages {
    /// Stages that are reported if `on` is true.
    pub fn new(on: bool) -> Stages {
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        Stages {
            shared,
            thread: on.then(|| thread::spawn(move || of_thread.tell())),
        }
    }

    /// Begins a stage.
    pub fn begin(&self, what: &'static str, extent: Extent) {
        let before = match &extent {
            Extent::Number(_, done) => done.load(Relaxed),
            Extent::Unknown | Extent::Time(_) => 0,
        };
        self.shared.state().stage = Some(Stage {
            what,
            since: Instant::now(),
            extent,
            before,
        });
    }

    /// Ends the last stage: nothing is reported any more until another begins.
    pub fn end(&self) {
        let mut state = self.shared.state();
        state.stage = None;
        take_away(&mut state.shown);
    }

    /// Prints a line that stays.
    pub fn note(&self, line: &str) {
        let mut state = self.shared.state();
        take_away(&mut state.shown);
        say(line);
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has nothing to report any more, even if it has panicked.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, Stages};
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    #[test]
    fn what_is_counted_from_the_beginning_of_a_stage_is_shown() {
        let done = Arc::new(AtomicU64::new(30));
        let stages = Stages::new(false);
        stages.begin("searching", Extent::Number(40, done.clone()));
        done.fetch_add(10, std::sync::atomic::Ordering::Relaxed);
        let line = |stages: &Stages| stages.shared.state().stage.as_ref().map(super::Stage::line);
        assert_eq!(
            line(&stages).as_deref(),
            Some("[######..................] 25 %, searching")
        );
        stages.begin("compiling", Extent::Unknown);
        assert_eq!(line(&stages).as_deref(), Some("compiling, 0 s"));
        stages.begin("trying", Extent::Time(Duration::ZERO));
        assert!(line(&stages).is_some_and(|line| line.ends_with(" 0 %, trying")));
    }
}
