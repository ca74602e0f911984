//! Advice about frames that do not reproduce.

use super::{Verdict, catchers, is_caught};
use crate::graph::Graph;
use crate::junit::candidate::{Plan, State};
use crate::junit::differences::{Kind, differences};
use crate::junit::verdict::{NOT_RESTORED, THROWS};
use crate::views::{View, view};
use hindsight_tracelog::crash::{Body, Fidelity, Frame, Value};
use hindsight_tracelog::reader::Crash;
use std::collections::BTreeSet;

/// Advice about frames that end differently, perhaps because their objects are not as they were at
/// entry; empty if there are none.
pub fn hints(plan: &Plan<'_>) -> Vec<String> {
    let (mut frames, mut overrun, mut exact, mut shorter, mut stale) = (0, 0, 0, 0, 0);
    let mut copies = BTreeSet::new();
    let catchers = catchers(plan);
    // If the program is another version, it is not known why its tests end differently.
    let other: Vec<bool> = (plan.inputs.iter())
        .map(|input| {
            let differences = differences(&input.crash, plan.classpath);
            differences
                .iter()
                .any(|difference| difference.kind == Kind::Differs)
        })
        .collect();
    for candidate in plan
        .candidates
        .iter()
        .filter(|candidate| !other[candidate.crash])
    {
        let (ended, reason) = match &candidate.state {
            State::Done(Verdict::Passes, reason) => (true, reason.as_str()),
            State::Done(Verdict::Differs, reason) => (reason.starts_with(THROWS), reason.as_str()),
            _ => (false, ""),
        };
        // What is missing is known, and no other way of recording would include it.
        let is_missing = reason.contains(NOT_RESTORED);
        let crash = &plan.inputs[candidate.crash].crash;
        let frame = plan.frame(candidate);
        let copy = &crash.meta.copy;
        let is_caught = is_caught(crash, catchers[candidate.crash], candidate.frame);
        let passes = matches!(candidate.state, State::Done(Verdict::Passes, _));
        let of = crash.failure.exceptions.get(frame.exception as usize);
        let of = of.map_or("", |exception| &exception.class);
        if ended && !is_caught && frame.reason.contains("max-writes") {
            overrun += 1;
        } else if ended && !is_caught && frame.reason.contains("plan is of another version") {
            stale += 1;
        } else if passes && !is_caught && of == "java.lang.StackOverflowError" {
            shorter += 1;
        } else if passes && !is_caught && frame.fidelity == Fidelity::Deep {
            exact += 1;
        } else if ended
            && !is_caught
            && !is_missing
            && frame.fidelity != Fidelity::Deep
            && copy != "deep"
            && may_change(crash, frame)
        {
            frames += 1;
            copies.insert(copy.as_str());
        } else if passes && !is_caught && !is_missing && !has_planned_statics(crash) {
            // Nothing in its arguments can have changed.
            exact += 1;
        }
    }
    let copies = copies.into_iter().filter(|copy| !copy.is_empty());
    let copies = copies.collect::<Vec<_>>().join("; ");
    let with = match copies.as_str() {
        "" => "Their recording has them".to_owned(),
        copies => format!("Recorded with copy={copies}, these are"),
    };
    let hint = |frames: usize, hint: String| Some(hint).filter(|_| frames > 0);
    let shallow = format!(
        "Of the frames that pass or differ, {frames} had objects for arguments. {with} not all \
         as at entry if a call had changed them, or used them up, before the failure; copy=deep \
         records them as at entry, and a plan (hindsight plan) the static fields of classes that have \
         no frame."
    );
    let forgotten = format!(
        "Of the frames that pass or differ, {overrun} began more writes before the failure than the \
         recording has: a larger max-writes brings their objects as at entry (hindsight inspect says \
         how many there were)."
    );
    let replanned = format!(
        "Of the frames that pass or differ, {stale} were recorded with a plan of another version of the program: \
         one that is made anew (hindsight plan) brings the fields that they use as at entry."
    );
    let elsewhere = format!(
        "Of the frames that pass, {exact} had their arguments exactly as at entry: what else they depend on can \
         be static fields of classes that have no frame, which a recording with plan= has (hindsight plan), \
         time, or other threads."
    );
    let deeper = format!(
        "Of the frames of a StackOverflowError, {shorter} pass: the stack of the recorded thread was smaller \
         (-Xss, or the thread's constructor), or more of it was in use; --java-option=-Xss256k tries another one."
    );
    let hints = [
        hint(frames, shallow),
        hint(overrun, forgotten),
        hint(stale, replanned),
        hint(exact, elsewhere),
        hint(shorter, deeper),
    ];
    hints.into_iter().flatten().collect()
}

/// Whether static fields of classes that have no frame were recorded, as with a plan.
fn has_planned_statics(crash: &Crash) -> bool {
    let has_frame = |class: &str| {
        crash
            .failure
            .frames
            .iter()
            .any(|frame| frame.class == class)
    };
    let mut statics = crash.failure.statics.iter();
    statics.any(|field| !has_frame(&field.owner))
}

/// Whether a method could change something behind its arguments.
fn may_change(crash: &Crash, frame: &Frame) -> bool {
    let graph = Graph::at_failure(crash);
    frame.arguments.iter().any(|argument| {
        let Value::Ref(object) = argument.value else {
            return false;
        };
        match graph.body(object) {
            Some(Body::Instance(fields)) => {
                let scalar = matches!(view(&graph, object), Some(View::Scalar(_)));
                !fields.is_empty() && !scalar
            }
            Some(Body::Primitives(_) | Body::References(_)) => true,
            Some(Body::Enum { fields, .. }) => !fields.is_empty(),
            Some(Body::Lambda(lambda)) => !lambda.captured.is_empty(),
            _ => false,
        }
    })
}
