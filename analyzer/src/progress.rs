//! How far the work is: a bar on a terminal, and elsewhere a line now and then, for who reads a log may wait, too.

mod stages;

pub use stages::{Extent, Stages};

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Work that is done sooner goes without.
const DELAY: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);
/// Where there is no terminal.
const LINES: Duration = Duration::from_secs(60);
const WIDTH: u64 = 24;

/// A bar of what is done of a total, with a word on it.
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

/// A bar on stderr.
pub struct Progress {
    on: bool,
    has_terminal: bool,
    next: Instant,
    shown: bool,
    total: u64,
    done: u64,
}

impl Progress {
    /// A bar for a `total` amount of work, or none.
    pub fn new(on: bool, total: u64) -> Progress {
        let has_terminal = std::io::stderr().is_terminal();
        Progress {
            on,
            has_terminal,
            next: Instant::now() + if has_terminal { DELAY } else { LINES },
            shown: false,
            total: total.max(1),
            done: 0,
        }
    }

    /// Says that so much more is done.
    pub fn add(&mut self, work: u64) {
        self.done = self.done.saturating_add(work).min(self.total);
    }

    /// Shows the bar, if it is time to, with a word on what has been done.
    pub fn show(&mut self, what: &dyn Display) {
        if !self.on || Instant::now() < self.next {
            return;
        }
        if !self.has_terminal {
            self.next = Instant::now() + LINES;
            eprintln!("hindsight: {}", bar(self.done, self.total, what));
            return;
        }
        self.next = Instant::now() + INTERVAL;
        self.shown = true;
        eprint!("\r\x1b[Khindsight: {}", bar(self.done, self.total, what));
        let _ = std::io::stderr().flush();
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            eprint!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
