//! The CPU time for recording: a bucket that fills with a share of the time that passes.
//!
//! What is spent is known only afterwards, so the level may become negative; recording then pauses
//! until a good part of the bucket is full again. A pause costs failures, which are counted, and
//! never the program's time.

use crate::share::Share;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The bucket's capacity is what flows in during this time. It is full at the start.
const BURST: Duration = Duration::from_secs(30);
/// The divisor of the capacity that gives the level at which a pause ends. Otherwise there would be
/// a pause after each crash.
const ENOUGH: i64 = 4;

/// The bucket, if there is a limit, and the time that has been spent.
pub(crate) struct Budget {
    share: Option<Share>,
    state: Mutex<State>,
}

struct State {
    /// The nanoseconds that may be spent; negative after something long.
    left: i64,
    filled: Instant,
    spent: Duration,
    paused_since: Option<Instant>,
    pauses: u64,
    paused: Duration,
    refused: u64,
}

impl Budget {
    pub(crate) fn new(share: Option<Share>) -> Budget {
        Budget {
            share,
            state: Mutex::new(State {
                left: share.map_or(0, |share| share.of(BURST)),
                filled: Instant::now(),
                spent: Duration::ZERO,
                paused_since: None,
                pauses: 0,
                paused: Duration::ZERO,
                refused: 0,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether recording is not paused.
    pub(crate) fn admits(&self) -> bool {
        self.admits_at(Instant::now())
    }

    fn admits_at(&self, now: Instant) -> bool {
        let Some(share) = self.share else {
            return true;
        };
        let full = share.of(BURST);
        let mut state = self.state();
        let flown = share.of(now.duration_since(state.filled));
        // A time that yields less than a nanosecond is kept for later.
        if flown > 0 {
            state.left = state.left.saturating_add(flown).min(full);
            state.filled = now;
        }
        match state.paused_since {
            None => true,
            Some(since) if state.left >= full / ENOUGH => {
                state.paused += now.duration_since(since);
                state.paused_since = None;
                true
            }
            Some(_) => false,
        }
    }

    /// Whether recording is not paused, for a failure, which is counted if it is refused.
    pub(crate) fn admits_failure(&self) -> bool {
        let admits = self.admits();
        if !admits {
            self.state().refused += 1;
        }
        admits
    }

    /// Subtracts the cost of a recording. Returns whether that has begun a pause.
    pub(crate) fn spend(&self, time: Duration) -> bool {
        let mut state = self.state();
        state.spent += time;
        let nanos = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        state.left = state.left.saturating_sub(nanos);
        let begins = self.share.is_some() && state.left <= 0 && state.paused_since.is_none();
        if begins {
            state.paused_since = Some(Instant::now());
            state.pauses += 1;
        }
        begins
    }

    /// The budget for `run.json`; `None` without a limit.
    pub(crate) fn describe(&self) -> Option<Value> {
        let share = self.share?;
        let state = self.state();
        let now = state
            .paused_since
            .map_or(Duration::ZERO, |since| since.elapsed());
        let millis = |time: Duration| time.as_micros() as f64 / 1000.0;
        Some(json!({
            "limit": format!("{}%", f64::from(share.0) / 10_000.0),
            "spent_ms": millis(state.spent),
            "pauses": state.pauses,
            "paused_ms": millis(state.paused + now),
            "paused": state.paused_since.is_some(),
            "failures_not_recorded": state.refused,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_until_there_is_enough_again() {
        let start = Instant::now();
        let budget = Budget::new(Share::parse("1%"));
        let at = |millis| budget.admits_at(start + Duration::from_millis(millis));
        // 300 ms to begin with, 10 ms a second; 75 ms end a pause.
        assert!(at(0));
        assert!(!budget.spend(Duration::from_millis(299)));
        assert!(at(0));
        // That is reported at once, not with the next failure.
        assert!(budget.spend(Duration::from_millis(26)));
        assert_eq!(budget.describe().unwrap()["paused"], json!(true));
        assert!(!budget.spend(Duration::ZERO));
        assert!(!at(0) && !at(5_000) && !at(9_000));
        assert!(at(10_100));
        assert!(budget.admits_failure());
        let told = budget.describe().unwrap();
        assert_eq!((&told["limit"], &told["pauses"]), (&json!("1%"), &json!(1)));
        assert!(told["paused_ms"].as_f64() >= Some(10_000.0), "{told}");
    }

    #[test]
    fn without_a_limit_there_are_no_pauses() {
        let budget = Budget::new(None);
        assert!(!budget.spend(Duration::from_secs(1000)));
        assert!(budget.admits_failure() && budget.describe().is_none());
    }
}
