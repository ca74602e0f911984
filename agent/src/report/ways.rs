//! Reads what the probes know of the way of an exception, and of its causes.

use super::{Call, Trigger};
use crate::agent::Agent;
use crate::exceptions::{self, Exceptions};
use crate::frames::{
    self,
    unwrapped::{self, Earlier},
};
use crate::jni::{Jni, Obj};
use crate::methods;
use crate::shim::{Raw, Way};
use hindsight_instrument::Capture;
use hindsight_tracelog::crash::StackElement;
use std::collections::HashSet;
use std::iter;

/// The longest chain of causes that is followed.
const MAX_CAUSES: usize = 8;

/// An exception, its stack trace, and the ways that are kept of its thread.
struct Thrown<'a> {
    exception: Obj,
    trace: &'a [StackElement],
    kept: Option<Obj>,
}

/// The ways of an exception, and of its causes as far as they are kept, each with the exception's
/// index.
pub(super) fn ways(
    agent: &Agent,
    jni: Jni,
    call: &Call,
    exceptions: &Exceptions,
) -> Vec<(Way, usize)> {
    let methods = &agent.base.methods;
    let kept = agent.shim.with_causes(jni, call.kept, call.exception);
    let kept: Vec<Obj> = elements(jni, kept).collect();
    let own = elements(jni, call.kept).count();
    let mut ways: Vec<(Way, usize)> = Vec::new();
    if let Some(way) = call.way {
        let mut known = agent.shim.way(jni, way);
        known.is_escaping = call.trigger == Trigger::Escape;
        if !matches!(call.trigger, Trigger::Record | Trigger::HandedOver) {
            // The handler of a rule's method is not there yet: this would be an earlier one.
            known.catcher = None;
        }
        let thrown = Thrown {
            exception: call.exception,
            trace: &exceptions.infos[0].stack,
            kept: call.kept,
        };
        let others = kept.get(own..).unwrap_or_default();
        complete(agent, jni, &thrown, way, &mut known, others);
        ways.push((known, 0));
    } else {
        ways.push((Way::default(), 0));
    }
    let mut known = HashSet::new();
    let mut causes: Vec<(Way, usize, bool)> = (kept.into_iter().enumerate())
        .filter_map(|(at, way)| {
            let exception = agent.shim.exception(jni, way)?;
            let index = exceptions.objects[1..]
                .iter()
                .position(|known| jni.same(*known, exception))?
                + 1;
            let mut passed = agent.shim.way(jni, way);
            let latest = passed.frames.len();
            if at < own && known.insert(index) {
                let thrown = Thrown {
                    exception,
                    trace: &exceptions.infos[index].stack,
                    kept: call.kept,
                };
                complete(agent, jni, &thrown, way, &mut passed, &[]);
            }
            let is_complete = passed.frames.len() > latest;
            Some((passed, index, is_complete))
        })
        .collect();
    // If the same cause has several ways, this prefers the latest, which comes first, if it is
    // known how the cause got there, or that on which it was thrown first, if its trace shows that.
    causes.sort_by_key(|(way, index, is_complete)| {
        let trace = &exceptions.infos[*index].stack;
        let first = frames::begin_behind_helpers(&way.frames, trace, methods);
        (*index, !is_complete, !first)
    });
    causes.dedup_by_key(|(_, index, _)| *index);
    ways.extend(causes.into_iter().map(|(way, index, _)| (way, index)));
    ways
}

/// Whether the failure was reported in another thread, which has handed the exception on to this
/// one: its trace shows that it began there. For a shared exception that each thread throws anew it
/// is different.
pub(super) fn was_reported_elsewhere(
    agent: &Agent,
    jni: Jni,
    call: &Call,
    exceptions: &Exceptions,
) -> bool {
    let Some(last) = call.way.filter(|_| !call.trigger.is_asked_for()) else {
        return false;
    };
    let trace = &exceptions.infos[0].stack;
    let methods = &agent.base.methods;
    let last = agent.shim.way(jni, last).frames;
    if trace.is_empty() || frames::begin_behind_helpers(&last, trace, methods) {
        return false;
    }
    // An exception that a class made for all has the first of its ways in its trace if that way had
    // the class initialized.
    let begins = |way| frames::begin_anew(&agent.shim.way(jni, way).frames, trace, methods);
    let own = elements(jni, call.kept).count();
    let kept = agent.shim.with_causes(jni, call.kept, call.exception);
    let mut others = elements(jni, kept).skip(own);
    others.any(|way| {
        is_of(agent, jni, way, call.exception) && agent.shim.is_reported(jni, way) && begins(way)
    })
}

/// Adds to the last way of an exception what it has passed before: the frames of its earlier ways,
/// in front of that one, if its trace begins with them. `others` are ways in other threads.
fn complete(
    agent: &Agent,
    jni: Jni,
    thrown: &Thrown<'_>,
    way: Obj,
    known: &mut Way,
    others: &[Obj],
) {
    let earlier = earlier(agent, jni, thrown, way);
    if unwrapped::fill(known, earlier, thrown.trace, &agent.base.methods) {
        return;
    }
    let methods = &agent.base.methods;
    let trace = thrown.trace;
    let chain = agent.shim.ways_before(jni, way);
    let mut before = match trace.is_empty() {
        true => passed_on(agent, jni, thrown.exception, &chain, &known.frames),
        false => frames::earlier(&chain, true, &known.frames, trace, methods),
    };
    known.is_lost |= chain.iter().any(|way| way.is_lost || way.dropped > 0);
    if before.is_empty() {
        let earlier = earlier_of_same(agent, jni, thrown, way);
        if !earlier.is_empty() {
            before = handed_on(agent, jni, thrown, &earlier, &known.frames);
        }
        if before.is_empty() {
            before = frames::earlier(&earlier, false, &known.frames, trace, methods);
        }
    }
    if before.is_empty() && !frames::begin(&known.frames, trace, methods) {
        let same = (others.iter()).filter(|way| is_of(agent, jni, **way, thrown.exception));
        let mut elsewhere: Vec<_> = same.map(|way| agent.shim.way(jni, *way).frames).collect();
        // It may have been thrown in several threads. If it was caught where it was thrown, there
        // are no frames.
        let first = (elsewhere.iter())
            .position(|frames| frames::begin_behind_helpers(frames, trace, methods))
            .or_else(|| elsewhere.iter().position(Vec::is_empty));
        if let Some(frames) = first.map(|at| elsewhere.swap_remove(at)) {
            known.from_elsewhere = true;
            // The writes of another thread cannot be undone with this one's log.
            if !agent.base.options.copy.need_log() {
                before = frames;
            }
        }
    }
    known.dropped_at += before.len();
    known.frames.splice(0..0, before);
}

/// The frames of the way of a failure, from the throw on, for an exception without a stack trace.
pub(super) fn traceless(agent: &Agent, jni: Jni, exception: Obj, way: Obj) -> Vec<Raw> {
    let last = agent.shim.way(jni, way).frames;
    let chain = agent.shim.ways_before(jni, way);
    let mut frames = passed_on(agent, jni, exception, &chain, &last);
    frames.extend(last);
    frames
}

/// The frames of earlier ways of an exception without a stack trace that lead to its `last` one.
///
/// Each way of the `chain` was caught by a method through which the next one passes. Without a
/// trace, this alone does not distinguish an exception that a helper of the handler has rethrown
/// from a shared one that was thrown anew, unless the helper was passed the exception itself.
fn passed_on(agent: &Agent, jni: Jni, exception: Obj, chain: &[Way], last: &[Raw]) -> Vec<Raw> {
    let was_passed = |way: &[Raw]| {
        arguments(agent, way)
            .iter()
            .any(|argument| jni.same(*argument, exception))
    };
    let mut next = last;
    let led = chain.iter().rev().take_while(|way| {
        let leads = way.dropped == 0 && was_passed(next);
        next = &way.frames;
        leads
    });
    let led = led.count();
    let frames = chain[chain.len() - led..]
        .iter()
        .flat_map(|way| &way.frames);
    frames.cloned().collect()
}

/// The frames of earlier ways of an exception that was caught, passed on as a value and thrown
/// again by the code that got it, on its `last` way, as with a coroutine that has waited for
/// another one: its trace has only the first of these ways. If one value is thrown again and again,
/// only the last time leads here.
fn handed_on(
    agent: &Agent,
    jni: Jni,
    thrown: &Thrown<'_>,
    earlier: &[Way],
    last: &[Raw],
) -> Vec<Raw> {
    let methods = &agent.base.methods;
    let Some(mut holder) = holder(agent, jni, last, thrown.exception) else {
        return Vec::new();
    };
    let begins = |way: &Way| frames::begin_behind_helpers(&way.frames, thrown.trace, methods);
    let ways: Vec<&Way> = earlier.iter().filter(|way| way.dropped == 0).collect();
    let Some(first) = ways.iter().position(|way| begins(way)) else {
        return Vec::new();
    };
    let mut led = Vec::new();
    for way in ways[first + 1..].iter().rev() {
        match self::holder(agent, jni, &way.frames, thrown.exception) {
            Some(other) if !jni.same(other, holder) => {
                holder = other;
                led.push(*way);
            }
            _ => {}
        }
    }
    led.push(ways[first]);
    let frames = led.iter().rev().flat_map(|way| &way.frames);
    frames.cloned().collect()
}

/// The object through which the code that has thrown an exception, on its way by these frames, got
/// it: an argument that is the exception or holds it. `None` for a shared exception, which a class
/// keeps for all.
fn holder(agent: &Agent, jni: Jni, way: &[Raw], exception: Obj) -> Option<Obj> {
    arguments(agent, way).into_iter().find(|argument| {
        jni.same(*argument, exception) || exceptions::holds(agent, jni, *argument, exception)
    })
}

/// The objects that were passed to the method in which a way begins.
fn arguments(agent: &Agent, way: &[Raw]) -> Vec<Obj> {
    let found = way.first().and_then(|raw| {
        let (class, index) = agent.base.methods.find(raw.method)?;
        Some((raw, class, index))
    });
    let Some((raw, class, index)) = found else {
        return Vec::new();
    };
    let captures = class.method(index).captures;
    let references = captures.filter(|capture| methods::is_reference(methods::descriptor(capture)));
    references
        .zip(&raw.references)
        .filter(|(capture, _)| matches!(capture, Capture::Parameter { index: 1.., .. }))
        .filter_map(|(_, argument)| *argument)
        .collect()
}

/// The ways in this thread of the exception, and of those that wrapped it, which are older than its
/// last one; oldest first.
fn earlier(agent: &Agent, jni: Jni, thrown: &Thrown<'_>, last: Obj) -> Vec<Earlier> {
    let older = elements(jni, thrown.kept)
        .skip_while(|way| !jni.same(*way, last))
        .skip(1);
    let mut ways: Vec<Earlier> = older
        .filter_map(|way| {
            let exception = agent.shim.exception(jni, way)?;
            let catcher = match jni.same(exception, thrown.exception) {
                true => None,
                false if is_around(agent, jni, exception, thrown.exception) => {
                    Some(agent.shim.catcher(jni, way)?)
                }
                false => return None,
            };
            let Way {
                frames, dropped, ..
            } = agent.shim.way(jni, way);
            (dropped == 0).then_some(Earlier { frames, catcher })
        })
        .collect();
    ways.reverse();
    ways
}

/// Whether an exception is among the causes of another one.
fn is_around(agent: &Agent, jni: Jni, wrapper: Obj, exception: Obj) -> bool {
    let next = |around: &Obj| exceptions::cause(agent, jni, *around);
    let causes = iter::successors(next(&wrapper), next);
    causes
        .take(MAX_CAUSES)
        .any(|cause| jni.same(cause, exception))
}

/// The elements of an array, without its nulls.
fn elements(jni: Jni, array: Option<Obj>) -> impl Iterator<Item = Obj> {
    let all = array.into_iter();
    all.flat_map(move |array| {
        (0..jni.array_len(array)).filter_map(move |at| jni.array_get(array, at))
    })
}

/// Whether a way is that of an exception.
fn is_of(agent: &Agent, jni: Jni, way: Obj, exception: Obj) -> bool {
    let of = agent.shim.exception(jni, way);
    of.is_some_and(|of| jni.same(of, exception))
}

/// Those of a thread's ways that belong to an exception, except its last one.
pub(super) fn other_ways(
    agent: &Agent,
    jni: Jni,
    kept: Option<Obj>,
    exception: Obj,
    last: Obj,
) -> impl Iterator<Item = Obj> {
    elements(jni, kept)
        .filter(move |way| !jni.same(*way, last) && is_of(agent, jni, *way, exception))
}

/// The earlier ways of the exception in this thread, oldest first.
fn earlier_of_same(agent: &Agent, jni: Jni, thrown: &Thrown<'_>, last: Obj) -> Vec<Way> {
    let ways = other_ways(agent, jni, thrown.kept, thrown.exception, last);
    let mut ways: Vec<Way> = ways.map(|way| agent.shim.way(jni, way)).collect();
    ways.reverse();
    ways
}
