//! Reports progress: a bar on a terminal, and elsewhere a line from time to time for readers of a
//! log.
//!
//! - `stages` reports on work in stages.

mod stages;

pub use stages::{Extent, Stages};

use crate::stderr::{self, say};
use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shorter work is not reported.
const DELAY: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);
/// The interval of lines if there is no terminal.
const LINES: Duration = Duration::from_secs(60);
const WIDTH: u64 = 24;

/// A bar for a part of a total, with a text.
fn bar(done: u64, total: u64, what: &dyn Display) -> String {
    let part = |of: u64| (u128::from(done) * u128::from(of) / u128::from(total)) as usize;
    let full = part(WIDTH);
    format!(
        "[{}{}] {} %, {what}",
        "#".repeat(full),
        ".".repeat(WIDTH as usize - full),
        part(100)
    )
}

/// The pace of reports, which shorter work does without.
#[derive(Debug, Clone, Copy)]
struct Pace {
    has_terminal: bool,
}

impl Pace {
    fn new() -> Pace {
        Pace {
            has_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// The delay of the first report from the beginning of the work.
    fn first(self) -> Duration {
        if self.has_terminal { DELAY } else { LINES }
    }

    /// The interval between reports.
    fn next(self) -> Duration {
        if self.has_terminal { INTERVAL } else { LINES }
    }

    /// Reports. Returns whether the report has to be removed again.
    fn tell(self, what: &str) -> bool {
        if self.has_terminal {
            stderr::put(format_args!("\r\x1b[Khindsight: {what}"));
        } else {
            say(what);
        }
        self.has_terminal
    }
}

/// Removes the report, if it has to be.
fn take_away(shown: &mut bool) {
    if std::mem::take(shown) {
        stderr::put("\r\x1b[K");
    }
}

/// A bar on stderr, which threads may share.
pub struct Progress {
    on: bool,
    pace: Pace,
    total: u64,
    state: Mutex<State>,
}

struct State {
    next: Instant,
    shown: bool,
    done: u64,
}

impl Progress {
    /// A bar for a `total` amount of work, or none if `on` is false.
    pub fn new(on: bool, total: u64) -> Progress {
        let pace = Pace::new();
        Progress {
            on,
            pace,
            total: total.max(1),
            state: Mutex::new(State {
                next: Instant::now() + pace.first(),
                shown: false,
                done: 0,
            }),
        }
    }

    /// Adds this much finished work.
    pub fn add(&self, work: u64) {
        let mut state = self.state();
        state.done = state.done.saturating_add(work).min(self.total);
    }

    /// Shows the bar, if it is time to, with a text about what has been done.
    pub fn show(&self, what: &dyn Display) {
        let mut state = self.state();
        if self.on && Instant::now() >= state.next {
            state.next = Instant::now() + self.pace.next();
            state.shown = self.pace.tell(&bar(state.done, self.total, what));
        }
    }

    /// Adds finished work and shows the bar.
    pub fn step(&self, work: u64, what: &dyn Display) {
        self.add(work);
        self.show(what);
    }

    /// Prints a line that stays.
    pub fn note(&self, line: &dyn Display) {
        let mut state = self.state();
        take_away(&mut state.shown);
        say(line);
    }

    /// Removes the bar.
    pub fn clear(&self) {
        take_away(&mut self.state().shown);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
