//! Finds which elements of an exception's stack trace its thread is still in, and reads what these
//! frames have kept.
//!
//! Both the trace and the stack begin with the innermost frame and end with the thread's outermost
//! one. From there inwards they agree up to the place of the exception. But the JVM cuts the traces
//! of deep stacks, and so does the agent with stacks. What is left of a recursion looks the same
//! wherever it was cut; then the frames that the exception has left show where in the trace the
//! others begin.

use super::{Captured, Found, threads::Kept};
use crate::earlier;
use crate::jni::Jni;
use crate::methods::Methods;
use crate::shim::live::{Live, LiveFrames};
use hindsight_tracelog::crash::StackElement;

/// The length at which HotSpot cuts a stack trace by default (`MaxJavaStackTraceDepth`).
const CUT: usize = 1_024;

/// The frames that a thread is still in, and their place in the trace.
pub(super) enum Running<'l> {
    /// Both end with the same frame.
    Whole(&'l [Live]),
    /// The trace continues with these, this many elements before its end; the outermost may not be
    /// known.
    Cut(usize, &'l [Live]),
}

/// The frames that an exception has left.
pub(super) struct Left<'m> {
    /// Whether an element may be the frame of this number, among those that were captured and are
    /// in the trace.
    pub(super) is: &'m dyn Fn(usize, &StackElement) -> bool,
    /// The number of these frames; `None` if not all are known.
    pub(super) frames: Option<usize>,
    pub(super) has_probes: &'m dyn Fn(&StackElement) -> bool,
    /// Whether the thread is still in the last one.
    pub(super) is_escaping: bool,
}

impl<'l> Running<'l> {
    pub(super) fn of(trace: &[StackElement], live: &'l LiveFrames, left: &Left<'_>) -> Running<'l> {
        let frames = live.frames.as_slice();
        let places: Vec<&StackElement> = frames.iter().map(|live| &live.element).collect();
        if !live.is_cut && is_whole(trace, &places) {
            return Running::Whole(frames);
        }
        // Some of the frames that the exception has left may be old, too, and their number is not
        // known.
        let is_known = frames.iter().all(|live| !live.is_old);
        let first = usize::from(left.is_escaping);
        let found = (places.get(first..).filter(|_| is_known))
            .and_then(|places| behind(trace, places, live.is_cut, left));
        match found {
            Some((elements, skipped)) => Running::Cut(elements, &frames[first + skipped..]),
            None => Running::Cut(0, &[]),
        }
    }

    /// The number of the last elements of the trace, or of what is left of it, that the thread is
    /// still in, with their frames. `is_left` says that it is leaving the innermost one.
    pub(super) fn among<'e>(
        &self,
        rest: impl DoubleEndedIterator<Item = &'e StackElement> + ExactSizeIterator,
        is_left: bool,
    ) -> (usize, &'l [Live]) {
        match *self {
            Running::Whole(live) => {
                let further = live.get(usize::from(is_left)..).unwrap_or_default();
                let places: Vec<&StackElement> = further.iter().map(|live| &live.element).collect();
                let common = common(rest, &places);
                (common, &live[live.len() - common..])
            }
            Running::Cut(elements, live) => {
                let gone = elements.saturating_sub(rest.len());
                (elements - gone, live.get(gone..).unwrap_or_default())
            }
        }
    }

    /// Whether it is not known which elements these are, because the stack is too deep.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Running::Cut(0, _))
    }
}

fn is_same(element: &StackElement, live: &StackElement) -> bool {
    element.class == live.class && element.method == live.method
}

/// Whether the lines agree. In a frame that runs since before its method got probes, either line
/// may be unknown.
fn is_same_line(element: &StackElement, live: &StackElement) -> bool {
    element.line == live.line || element.line < 0 || live.line < 0
}

/// Whether a trace, beside a stack that is not cut, need not have been cut.
fn is_whole(trace: &[StackElement], live: &[&StackElement]) -> bool {
    let Some(outermost) = live.last() else {
        return true;
    };
    // The last element of a recursion may be any of its calls.
    trace.len() < CUT
        || trace.last().is_some_and(|last| is_same(last, outermost))
            && calls(trace.iter(), outermost) == 1
            && calls(live.iter().copied(), outermost) == 1
}

fn calls<'e>(of: impl Iterator<Item = &'e StackElement>, method: &StackElement) -> usize {
    of.filter(|element| is_same(element, method)).count()
}

/// The number of the last elements of a complete trace that the thread is still in.
///
/// All except the innermost of these are at the same line as then.
fn common<'e>(
    trace: impl DoubleEndedIterator<Item = &'e StackElement>,
    live: &[&StackElement],
) -> usize {
    let mut common = 0;
    for (element, live) in trace.rev().zip(live.iter().rev()) {
        if !is_same(element, live) {
            break;
        }
        common += 1;
        if !is_same_line(element, live) {
            break;
        }
    }
    common
}

/// The same for a cut trace, with the number of innermost frames that are in no trace: those of the
/// method that has caught the exception and goes on.
fn behind(
    trace: &[StackElement],
    live: &[&StackElement],
    is_cut: bool,
    left: &Left<'_>,
) -> Option<(usize, usize)> {
    let frames = left.frames?;
    let mut probed = (0..trace.len()).filter(|at| (left.has_probes)(&trace[*at]));
    let mut first = 0;
    for frame in 0..frames {
        let at = probed.next()?;
        if !(left.is)(frame, &trace[at]) {
            return None;
        }
        first = at + 1;
    }
    // Methods without probes may belong to either.
    let last = probed.next().unwrap_or(trace.len().saturating_sub(1));
    let goes_on = |at: usize, skipped: usize| {
        let (trace, live) = (&trace[at..], &live[skipped..]);
        let mut pairs = trace.iter().zip(live);
        let is_first = |(element, live): (&StackElement, &&StackElement)| is_same(element, live);
        (is_cut || trace.len() <= live.len())
            && pairs.next().is_some_and(is_first)
            && pairs.all(|(element, live)| is_same(element, live) && is_same_line(element, live))
    };
    (first..=last).find_map(|at| {
        let skipped = (0..live.len()).find(|skipped| goes_on(at, *skipped))?;
        Some((trace.len() - at, skipped))
    })
}

/// The entry values of a frame that is still running, as its handler would hand them over. Those of
/// a constructor may be lost as long as it waits for `super(...)`. `changes` is the count of
/// retransformations before the frames were read.
pub(super) fn still_in(
    live: &Live,
    changes: Option<u64>,
    all: &Methods,
    jni: Jni,
) -> Option<Found> {
    let StackElement { class, method, .. } = &live.element;
    if method == "<init>" {
        return None;
    }
    let (class, index) = all.named(class, method, &live.descriptor)?;
    let method = class.method(index);
    let slots: Vec<u16> = method.captures.slots().collect::<Option<_>>()?;
    // A frame of a class that has got probes since, or is getting them, does not have them.
    let may_be_old = (changes.is_none() || changes != earlier::changes())
        && all.may_have_run(&live.element.class);
    let kept = match live.is_old || may_be_old || slots.iter().any(|slot| !live.has(*slot)) {
        true => Kept::without_probes(method),
        false => Kept::ByProbes,
    };
    let (raw, unknown) = kept.read(method, |slot, descriptor| {
        let value = live.local(jni, slot, descriptor);
        // This is how the JVM shows a value that compiled code needs no more.
        let is_gone = kept.is_dead_or_null() && matches!(value, Ok(0));
        (!is_gone).then_some(value)
    });
    Some((Captured { class, index, raw }, unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Methods are letters, each followed by a line; those without probes are upper case.
    fn elements(text: &str) -> Vec<StackElement> {
        let read = |chars: &[char]| StackElement {
            class: "A".to_owned(),
            method: chars[0].to_string(),
            file: None,
            line: chars[1].to_digit(10).unwrap().cast_signed(),
        };
        let chars: Vec<char> = text.chars().collect();
        chars.chunks_exact(2).map(read).collect()
    }

    fn found(trace: &str, live: &str, is_cut: bool, frames: &str) -> Option<(usize, usize)> {
        let (trace, live) = (elements(trace), elements(live));
        let frames: Vec<String> = frames.chars().map(String::from).collect();
        let left = Left {
            is: &|frame, element| frames[frame] == element.method,
            frames: Some(frames.len()),
            has_probes: &|element| element.method.chars().all(char::is_lowercase),
            is_escaping: false,
        };
        behind(&trace, &live.iter().collect::<Vec<_>>(), is_cut, &left)
    }

    #[test]
    fn a_trace_that_was_cut_goes_on_where_the_exception_is() {
        // A recursion that has called the catching method.
        let (trace, live) = ("b1l1w2w1w1w1", "l2w2w1w1w1w1w1m1");
        assert_eq!(found(trace, live, false, "b"), Some((5, 0)));
        assert_eq!(found(trace, &live[..12], true, "b"), Some((5, 0)));
        // The stack was cut before the trace.
        assert_eq!(found(trace, "l2w2w1", true, "b"), Some((5, 0)));
        assert_eq!(found(trace, "l2w2w1", false, "b"), None);
        // It was caught where the method calls itself.
        let live = "w3w1w1w1w1m1";
        assert_eq!(found("w2w1w1w1", live, false, "ww"), Some((2, 0)));
        assert_eq!(found("w2w1w1w1", live, false, "wwwww"), None);
        // A frame that has been left is not known.
        assert_eq!(found("b1c1w1w1w1", live, false, "cw"), None);
        // The catching method calls the one that asks, with the JDK in between.
        let asked = "h1w3w1w1w1m1";
        assert_eq!(found("b1J1J1w2w1w1", asked, false, "b"), Some((3, 1)));
        assert_eq!(found("b1", "w1", false, ""), None);
    }

    #[test]
    fn a_deep_trace_is_whole_where_its_end_is_one_call() {
        let deep = |end: &str| elements(&("r1".repeat(CUT - 1) + end));
        let whole = |trace: &[StackElement], live: &str| {
            let live = elements(live);
            is_whole(trace, &live.iter().collect::<Vec<_>>())
        };
        assert!(whole(&deep("m1"), "r1m1"));
        assert!(!whole(&deep("r1"), "r1m1"));
        assert!(!whole(&deep("r1"), "r1r1"));
        assert!(!whole(&deep("r1"), "r1"));
        assert!(whole(&elements("r1r1"), "r1r1") && whole(&deep("m1"), ""));
    }

    #[test]
    fn what_runs_on_is_at_the_same_lines() {
        let common = |trace: &str, live: &str| {
            let live = elements(live);
            super::common(elements(trace).iter(), &live.iter().collect::<Vec<_>>())
        };
        assert_eq!(common("b1c1m1", "c2m1"), 2);
        assert_eq!(common("b1c1m1", "b1c1m2"), 1);
        assert_eq!(common("b1c1", "b1m1"), 0);
    }
}
