//! Which virtual threads lack events that their carriers may have held.

use super::Gap;
use hindsight_tracelog::trace::Event;
use hindsight_tracelog::trace::kind::Kind;
use rustc_hash::{FxHashMap, FxHashSet};

/// The virtual threads of a trace. One stream of blocks holds the events of many of them: where
/// some of its events are missing, any virtual thread that had begun may have run there meanwhile.
#[derive(Default)]
pub(super) struct Carried {
    /// The virtual threads that have begun and not ended, with the gaps that there had been when
    /// each last ran.
    open: FxHashMap<u64, Gaps>,
    /// The gaps so far in streams that have held a virtual thread.
    gaps: Gaps,
    /// The streams that have held a virtual thread.
    streams: FxHashSet<u64>,
    /// The stamp up to which the beginnings of streams are gone. Until then, a virtual thread that
    /// goes on may have run in what is gone.
    gone: u64,
    /// The virtual threads that had begun by that stamp and have not gone on since.
    torn: FxHashSet<u64>,
}

/// Numbers of gaps.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Gaps {
    /// The number of gaps by missing blocks.
    blocks: u64,
    /// The number of gaps that the recorder has reported.
    told: u64,
}

impl Carried {
    /// The state at the start of a trace in which the beginnings of streams are gone up to a stamp.
    pub(super) fn new(gone: u64) -> Self {
        Self {
            gone,
            ..Self::default()
        }
    }

    /// Whether a virtual thread may have run in what is gone before this event, with which it goes
    /// on.
    pub(super) fn is_torn(&mut self, event: &Event) -> bool {
        if self.gone == 0 {
            return self.torn.remove(&event.thread) && event.kind() == Kind::Switch;
        }
        if event.stamp > self.gone {
            self.gone = 0;
            self.torn = self.open.keys().copied().collect();
            return self.is_torn(event);
        }
        event.is_virtual && event.kind() == Kind::Switch
    }

    /// The gap in the events of this event's thread before it, if there may be one.
    pub(super) fn lacks(&mut self, event: &Event) -> Option<Gap> {
        let kind = event.kind();
        let is_loss = kind == Kind::Lost;
        if event.is_virtual && (kind == Kind::Switch || is_loss || event.is_after_gap) {
            self.streams.insert(event.stream);
        }
        if (is_loss || event.is_after_gap) && self.streams.contains(&event.stream) {
            self.gaps.told += u64::from(is_loss);
            self.gaps.blocks += u64::from(event.is_after_gap);
        }
        let here = event.is_after_gap.then_some(Gap::Blocks);
        if !event.is_virtual {
            return here;
        }
        match kind {
            Kind::Switch => {
                let last = self.open.insert(event.thread, self.gaps);
                let last = last.unwrap_or(self.gaps);
                let elsewhere = if last.blocks < self.gaps.blocks {
                    Some(Gap::Blocks)
                } else if last.told < self.gaps.told {
                    Some(Gap::Elsewhere)
                } else {
                    None
                };
                here.or(elsewhere)
            }
            Kind::End => {
                self.open.remove(&event.thread);
                here
            }
            _ => {
                if (is_loss || event.is_after_gap)
                    && let Some(last) = self.open.get_mut(&event.thread)
                {
                    // The gap is reported for this thread itself.
                    *last = self.gaps;
                }
                here
            }
        }
    }
}
