//! Keeps count of the crashes of a run: which were stored, how often each occurred, and how many
//! exceptions may still be examined.

use crate::agent::Agent;
use crate::attach;
use crate::report::now_ms;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The exceptions of `escape:` and `caught:` rules that are examined per second. Of the others only
/// the kind is determined, which takes a microsecond.
const MAX_EXAMINED_PER_SECOND: u32 = 200;
/// The kinds of which, beyond that, one exception each is examined per second, so that a new
/// failure is not lost in a flood of known ones.
const MAX_KINDS_PER_SECOND: usize = 200;
/// How long a failing thread waits for another's recording.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The crashes so far.
#[derive(Default)]
pub(crate) struct Reports {
    state: Mutex<State>,
    /// Held while a snapshot is taken and written: one at a time.
    recording: Mutex<()>,
    in_flight: AtomicU32,
}

#[derive(Default)]
struct State {
    known: HashMap<String, Known>,
    order: Vec<String>,
    stored: u64,
    window: Option<(Instant, u64)>,
    examined: Option<Examined>,
    /// When the counts were last written.
    written: Option<Instant>,
}

/// What was examined in one second.
struct Examined {
    since: Instant,
    count: u32,
    kinds: HashSet<Kind>,
}

/// What is cheaply known of an exception: its class, the method of the rule, and the first method
/// with probes that it has left.
pub(crate) type Kind = (String, i32, Option<i32>);

struct Known {
    file: Option<Stored>,
    /// How much of it was captured when it was stored.
    extent: Extent,
    /// How often it was stored.
    times: u32,
    exception: String,
    frame: String,
    count: u64,
    /// When it last happened, in milliseconds since 1970.
    last_ms: i64,
}

/// A crash file that was written.
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) objects: usize,
    /// The milliseconds from the probe's call to the file's final name.
    pub(crate) millis: u64,
}

/// How much of a crash is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The number of frames whose methods had probes when they were called.
    pub(crate) captured: usize,
    /// The number of elements of the stack trace without: those of the JDK, and others that are
    /// still to get their probes.
    pub(crate) missing: usize,
    /// Whether all probes that log writes were in place: before it is recorded, when it happened,
    /// as far as is known; afterwards, when its frames were entered.
    pub(crate) told: bool,
}

impl Extent {
    /// The extent for a file that could not be written.
    const NONE: Extent = Extent {
        captured: 0,
        missing: usize::MAX,
        told: false,
    };

    /// Whether the same crash is worth storing again. With `mode=second-chance` it is, if more
    /// methods have probes. An attached agent inserts all probes while the first failures may pass,
    /// and counts these like others; a deeper stack is not more of a crash then, but one whose
    /// writes are logged is.
    fn is_better(self, known: Extent, is_second_chance: bool) -> bool {
        let more = self.captured > known.captured;
        let exact = self.told && !known.told && self.captured >= known.captured;
        more && (is_second_chance || self.missing < known.missing) || exact
    }
}

/// How often the same crash is stored with `mode=second-chance` and in a JVM that was attached to,
/// each time with more frames.
const MAX_TIMES: u32 = 3;

/// The minimum interval at which the counts of repeated crashes are written.
const WRITTEN_EVERY: Duration = Duration::from_secs(5);

/// The most different crashes whose counts are kept.
const MAX_KNOWN: usize = 10_000;

pub(crate) enum Decision {
    Store,
    Count,
    Drop(&'static str),
}

impl Reports {
    /// Whether another exception of this kind may be examined now.
    pub(crate) fn may_examine(&self, kind: Kind) -> bool {
        let Ok(mut state) = self.state.lock() else {
            return false;
        };
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let examined = match &mut state.examined {
            Some(examined) if now.duration_since(examined.since) < second => examined,
            window => window.insert(Examined {
                since: now,
                count: 0,
                kinds: HashSet::new(),
            }),
        };
        let is_new = examined.kinds.len() < MAX_KINDS_PER_SECOND && examined.kinds.insert(kind);
        if examined.count < MAX_EXAMINED_PER_SECOND {
            examined.count += 1;
            return true;
        }
        is_new
    }

    /// Decides about a crash of this exception, at this frame. `again` says that it is the one that
    /// was reported before.
    pub(crate) fn decide(
        &self,
        agent: &Agent,
        key: &str,
        (exception, frame): (&str, &str),
        again: bool,
        extent: Extent,
    ) -> Decision {
        let Ok(mut state) = self.state.lock() else {
            return Decision::Drop("crashes_lost_internal");
        };
        if let Some(known) = state.known.get_mut(key) {
            if !again {
                known.count += 1;
                known.last_ms = now_ms();
            }
            let chances = agent.base.chances.is_some();
            let may_grow = chances || attach::has_all_probes();
            let better = may_grow && extent.is_better(known.extent, chances);
            if !better || known.times >= MAX_TIMES {
                return Decision::Count;
            }
        }
        let options = &agent.base.options;
        // A known crash has been counted already.
        let is_known = state.known.contains_key(key);
        let beyond = |counter| match is_known {
            true => Decision::Count,
            false => Decision::Drop(counter),
        };
        if state.stored >= options.max_crashes {
            return beyond("crashes_beyond_max_crashes");
        }
        let now = Instant::now();
        match &mut state.window {
            Some((since, count)) if now.duration_since(*since) < Duration::from_secs(60) => {
                if *count >= options.per_minute {
                    return beyond("crashes_beyond_per_minute");
                }
                *count += 1;
            }
            window => *window = Some((now, 1)),
        }
        state.stored += 1;
        if let Some(known) = state.known.get_mut(key) {
            known.extent = extent;
            known.times += 1;
        } else if state.known.len() < MAX_KNOWN {
            let known = Known {
                file: None,
                extent,
                times: 1,
                exception: exception.to_owned(),
                frame: frame.to_owned(),
                count: 1,
                last_ms: now_ms(),
            };
            state.known.insert(key.to_owned(), known);
            state.order.push(key.to_owned());
        }
        Decision::Store
    }

    /// Lets a crash that could not be written be tried again when it recurs.
    pub(crate) fn forget(&self, key: &str) {
        if let Ok(mut state) = self.state.lock() {
            state.stored -= 1;
            if let Some(known) = state.known.get_mut(key)
                && known.file.is_some()
            {
                // The file of the previous recording is kept.
                known.extent = Extent::NONE;
                known.times -= 1;
                return;
            }
            state.known.remove(key);
            state.order.retain(|known| known != key);
        }
    }

    /// Notes that a crash was written. `told` says that none of its frames was entered before all
    /// probes that log writes were in place; if it is false, a later crash with such frames is
    /// worth more.
    pub(crate) fn stored(&self, key: &str, file: Stored, told: bool) {
        if let Ok(mut state) = self.state.lock()
            && let Some(known) = state.known.get_mut(key)
        {
            known.file = Some(file);
            known.extent.told &= told;
        }
    }

    /// Waits for the snapshots of other threads, but not for ever: two at once would compete for
    /// the cores and the disk.
    pub(crate) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        let started = Instant::now();
        loop {
            match self.recording.try_lock() {
                Ok(turn) => break Some(turn),
                // The lock guards only the order.
                Err(TryLockError::Poisoned(turn)) => break Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) if started.elapsed() < MAX_WAIT => {
                    sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => break None,
            }
        }
    }

    /// Does work for which [`Self::drain`] waits.
    pub(crate) fn recording<T>(&self, work: impl FnOnce() -> T) -> T {
        /// It counts down even if the work panics.
        struct InFlight<'r>(&'r AtomicU32);
        impl Drop for InFlight<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::AcqRel);
            }
        }
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        let _in_flight = InFlight(&self.in_flight);
        work()
    }

    /// Whether the counts are to be written: a JVM that is killed should only lose those of the
    /// last seconds.
    pub(crate) fn is_due(&self) -> bool {
        let Ok(mut state) = self.state.lock() else {
            return false;
        };
        let now = Instant::now();
        let due =
            (state.written).is_none_or(|written| now.duration_since(written) >= WRITTEN_EVERY);
        if due {
            state.written = Some(now);
        }
        due
    }

    /// The crashes of this run for `run.json`.
    pub(crate) fn list(&self) -> Vec<serde_json::Value> {
        let Ok(state) = self.state.lock() else {
            return Vec::new();
        };
        state
            .order
            .iter()
            .filter_map(|key| state.known.get(key))
            .filter_map(|known| {
                known.file.as_ref().map(|file| {
                    json!({
                        "file": file.name,
                        "exception": known.exception,
                        "frame": known.frame,
                        "count": known.count,
                        "last_ms": known.last_ms,
                        "objects": file.objects,
                        "millis": file.millis,
                    })
                })
            })
            .collect()
    }

    /// Waits until nothing is being recorded, when the JVM shuts down.
    pub(crate) fn drain(&self, limit: Duration) {
        let end = Instant::now() + limit;
        while self.in_flight.load(Ordering::Acquire) > 0 && Instant::now() < end {
            sleep(Duration::from_millis(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_a_crash_is_better() {
        let of = |captured, missing| Extent {
            captured,
            missing,
            told: true,
        };
        // Probes were still being inserted.
        assert!(of(4, 1).is_better(of(0, 5), false));
        assert!(of(4, 1).is_better(Extent::NONE, false));
        // A deeper stack.
        assert!(!of(9, 1).is_better(of(4, 1), false));
        assert!(of(9, 1).is_better(of(4, 1), true));
        assert!(!of(4, 1).is_better(of(4, 1), true));
        // Not all writes were logged.
        let untold = Extent {
            told: false,
            ..of(4, 1)
        };
        assert!(of(4, 1).is_better(untold, false) && !untold.is_better(of(4, 1), false));
        assert!(!untold.is_better(untold, false) && !of(3, 2).is_better(untold, false));
    }

    #[test]
    fn a_new_kind_is_looked_at_in_a_flood_of_known_ones() {
        let reports = Reports::default();
        let kind = |number: i32| ("a.E".to_owned(), number, None);
        let examined = (0..1000).filter(|_| reports.may_examine(kind(1))).count();
        assert_eq!(examined, MAX_EXAMINED_PER_SECOND as usize);
        assert!(reports.may_examine(kind(2)));
        assert!(!reports.may_examine(kind(2)));
        let more = (3..1000).filter(|number| reports.may_examine(kind(*number)));
        assert_eq!(more.count(), MAX_KINDS_PER_SECOND - 2);
    }
}
