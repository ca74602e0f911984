//! Whether a stack trace has frames one after the other.

use crate::methods::{Class, Methods};
use crate::shim::{Raw, Way};
use hindsight_tracelog::crash::StackElement;

/// Whether an element of a trace is in this method; its line distinguishes overloads.
pub(super) fn is(class: &Class, index: usize, element: &StackElement) -> bool {
    let method = class.method(index);
    class.name == element.class
        && method.name == element.method
        && match (method.lines, u16::try_from(element.line)) {
            (Some((first, last)), Ok(line)) => (first..=last).contains(&line),
            _ => true,
        }
}

/// Whether the trace begins with these frames, not counting the JDK's frames.
///
/// It distinguishes an exception that a helper of a handler has rethrown (its first way up is in
/// the trace) from one object thrown twice (it is not).
pub(crate) fn begin(frames: &[Raw], trace: &[StackElement], all: &Methods) -> bool {
    follow(frames, trace, all).is_some()
}

/// As [`begin`], but the first of the frames may be missing in the trace: those of a helper that
/// has thrown the exception and removed itself from the trace, as Kotlin's checks do. False if
/// there are no frames.
pub(crate) fn begin_behind_helpers(frames: &[Raw], trace: &[StackElement], all: &Methods) -> bool {
    behind(frames, trace, all).is_some_and(|at| begin(&frames[at..], trace, all))
}

/// As [`begin`], for an exception that was made on this way, so that no class has made it for all
/// that throw it.
pub(crate) fn begin_anew(frames: &[Raw], trace: &[StackElement], all: &Methods) -> bool {
    behind(frames, trace, all).is_some_and(|at| {
        let first = follow(&frames[at..=at], trace, all).map_or(0, |rest| trace.len() - rest.len());
        begin(&frames[at..], trace, all) && initialize_none(&trace[..first])
    })
}

/// The index of the first of these frames that is in the trace.
fn behind(frames: &[Raw], trace: &[StackElement], all: &Methods) -> Option<usize> {
    frames.iter().position(|raw| is_in(raw, trace, all))
}

fn is_in(raw: &Raw, trace: &[StackElement], all: &Methods) -> bool {
    follow(std::slice::from_ref(raw), trace, all).is_some()
}

/// Whether the trace shows that an exception came to this method by these frames, and not from a
/// class that keeps it for all.
pub(crate) fn lead_to(method: u32, frames: &[Raw], trace: &[StackElement], all: &Methods) -> bool {
    let Some((class, index)) = all.find(method) else {
        return false;
    };
    let reached = follow(frames, trace, all).and_then(|rest| {
        let at = rest.iter().position(|element| is(&class, index, element));
        at.map(|at| &rest[..at])
    });
    reached.is_some_and(initialize_none)
}

/// Whether no class was being initialized there, which may have kept the exception for all.
fn initialize_none(trace: &[StackElement]) -> bool {
    trace.iter().all(|element| element.method != "<clinit>")
}

/// The rest of the trace behind these frames, if it begins with them.
fn follow<'t>(
    frames: &[Raw],
    trace: &'t [StackElement],
    all: &Methods,
) -> Option<&'t [StackElement]> {
    frames.iter().try_fold(trace, |rest, raw| {
        let (class, index) = all.find(raw.method)?;
        let method = class.method(index);
        let at = rest.iter().position(|element| is(&class, index, element))?;
        let first = |e: &StackElement| e.class != class.name || e.method != method.name;
        rest[..at].iter().all(first).then(|| &rest[at + 1..])
    })
}

/// The frames of earlier ways of the same exception that lead to its last one, if handlers rethrow
/// it by a helper, or the JDK catches what a task throws and rethrows it in the same thread
/// (`ForkJoinTask`).
///
/// They are in the trace one after the other, and the last way continues where they end; this does
/// not hold for a shared exception that is thrown anew. The oldest one may be of such another time.
/// `by_handlers` says that each was caught where the next one passes, so that a trace may end
/// before.
pub(crate) fn earlier(
    ways: &[Way],
    by_handlers: bool,
    last: &[Raw],
    trace: &[StackElement],
    all: &Methods,
) -> Vec<Raw> {
    // A helper that rethrows it (the `get` of a `Try` or `Result`) is the first that it passes
    // through, and is not in the trace.
    let next = behind(last, trace, all).map(|at| &last[at]);
    let known: Vec<(&Way, usize)> = (ways.iter().filter(|way| way.dropped == 0))
        .filter_map(|way| Some((way, behind(&way.frames, trace, all)?)))
        .collect();
    let goes_on = |ways: &[(&Way, usize)]| {
        let rest = (ways.iter()).try_fold(trace, |rest, (way, at)| {
            follow(&way.frames[*at..], rest, all)
        });
        rest.is_some_and(|rest| next.map_or(by_handlers, |next| is_in(next, rest, all)))
    };
    let oldest = (0..known.len()).find(|&oldest| goes_on(&known[oldest..]));
    let ways = oldest.map_or(&[][..], |oldest| &known[oldest..]);
    let frames = ways.iter().flat_map(|(way, _)| &way.frames);
    frames.cloned().collect()
}
