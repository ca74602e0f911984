//! Finds static state that a test lacks, although it reproduces without it.
//!
//! A registry that `main` has filled is empty in a test that only calls the method. As long as the
//! recorded failure comes first, nothing shows that; but once it is fixed the method continues, and
//! fails because of the empty registry. So the static fields that a call may read are compared with
//! the recorded ones after it, and so are enum constants to which its arguments lead. If something
//! is missing, a test that sets them is tried, and taken if it reproduces.
//!
//! State that the code writes by itself (a counter, a cache, an instance made on first request) is
//! not missing: tests without state are easier to read. For static fields the code shows that, and
//! for what lies behind them another run: it differs after the call from before.

use super::build::effects::{FieldName, Target};
use super::candidate::{Candidate, Plan, State};
use super::report::Verdict;
use crate::classpath::is_platform;
use crate::graph::Graph;
use crate::trim;
use hindsight_tracelog::crash::{Body, StaticField};
use hindsight_tracelog::reader::Crash;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most methods to which one call is followed.
const MAX_METHODS: usize = 1000;
/// The most superclasses that are searched for a member.
const MAX_SUPERS: usize = 100;
/// The most fields that the reason of a test names.
const MAX_NAMED: usize = 3;

/// The recorded static fields, as `Class.field`, that the call of a candidate may read but does not
/// fill: those in the code of its method, of the recorded frames inside it, and of what these call;
/// and the enum constants to which its arguments lead.
pub fn reads(plan: &Plan<'_>, candidate: usize) -> BTreeSet<String> {
    let candidate = &plan.candidates[candidate];
    let crash = &plan.inputs[candidate.crash].crash;
    let failure = &crash.failure;
    let constants = enum_constants(crash, candidate.frame);
    if failure.statics.is_empty() {
        return constants;
    }
    let frames = failure.frames.iter().take(candidate.frame + 1).rev();
    // Frames of an exception of which this one is the cause are further out, although they come
    // first.
    let exception = plan.frame(candidate).exception;
    let mut waiting: Vec<Target> = frames
        .filter(|frame| frame.exception == exception)
        .map(|frame| Target {
            class: frame.class.clone(),
            name: frame.method.clone(),
            descriptor: frame.descriptor.clone(),
        })
        .collect();
    let mut seen: HashSet<Target> = waiting.iter().cloned().collect();
    let (mut read, mut filled) = (BTreeSet::new(), BTreeSet::new());
    while let Some(target) = waiting.pop() {
        let body = supers(plan, &target.class)
            .into_iter()
            .find_map(|class| (plan.library).body(&class, &target.name, &target.descriptor));
        let Some(effects) = body.as_ref().and_then(|body| body.effects()) else {
            continue;
        };
        for (fields, found) in [(&effects.reads, &mut read), (&effects.fills, &mut filled)] {
            let recorded = fields.iter();
            found.extend(recorded.filter_map(|field| named(plan, &failure.statics, field)));
        }
        for called in &effects.calls {
            if seen.len() < MAX_METHODS && !is_platform(&called.class) && !seen.contains(called) {
                seen.insert(called.clone());
                waiting.push(called.clone());
            }
        }
    }
    read.retain(|field| !filled.contains(field));
    read.extend(constants);
    read
}

/// The enum constants with mutable fields, as `Enum.CONSTANT`, to which the arguments of a frame
/// lead: no code need name these.
fn enum_constants(crash: &Crash, frame: usize) -> BTreeSet<String> {
    let graph = Graph::at_entry(crash, &crash.failure.frames[frame]);
    let constants = trim::of_arguments(crash, frame).into_iter();
    let constants = constants.filter_map(|number| match graph.body(number) {
        Some(Body::Enum { name, fields }) if !fields.is_empty() => {
            Some(format!("{}.{name}", graph.enum_name(number)))
        }
        _ => None,
    });
    constants.collect()
}

/// A recorded static field as `Class.field`, from the name in the code.
fn named(plan: &Plan<'_>, statics: &[StaticField], field: &FieldName) -> Option<String> {
    let mut same = statics
        .iter()
        .filter(|info| info.name == field.name)
        .peekable();
    same.peek()?;
    let declarers = supers(plan, &field.owner);
    let info = same.find(|info| declarers.contains(&info.owner))?;
    Some(format!("{}.{}", info.owner, info.name))
}

/// A class and its supertypes, as far as they are on the class path.
fn supers(plan: &Plan<'_>, class: &str) -> Vec<String> {
    let mut found = vec![class.to_owned()];
    let mut at = 0;
    while at < found.len() && found.len() < MAX_SUPERS {
        let known = plan.library.info(&found[at]);
        if let Some(info) = known.as_ref().and_then(|known| known.info.as_ref()) {
            for above in info.super_class.iter().chain(&info.interfaces) {
                if !is_platform(above) && !found.contains(above) {
                    found.push(above.clone());
                }
            }
        }
        at += 1;
    }
    found
}

/// What was tried so far.
#[derive(Debug, Default)]
pub struct Tried {
    /// The candidates as they reproduced without static fields.
    before: BTreeMap<usize, Candidate>,
    /// All that were tried, which is done once.
    done: BTreeSet<usize>,
}

/// Marks candidates that have reproduced without static fields, but lack some, to be written with
/// them, and returns these. Those that did not reproduce with them are restored, and removed from
/// `compiled`.
pub fn tries(plan: &mut Plan<'_>, compiled: &mut Vec<usize>, tried: &mut Tried) -> Vec<usize> {
    let mut again = Vec::new();
    for &index in &*compiled {
        let candidate = &mut plan.candidates[index];
        let reproduces = matches!(candidate.state, State::Done(Verdict::Reproduces, _));
        if reproduces
            && !candidate.statics
            && !candidate.missing.is_empty()
            && tried.done.insert(index)
        {
            tried.before.insert(index, candidate.clone());
            candidate.statics = true;
            // Static fields and arguments share objects, so all of them are loaded.
            candidate.built = false;
            candidate.state = State::Pending;
            again.push(index);
        }
    }
    let ended = |index: &usize| plan.candidates[*index].state != State::Pending;
    let ended: Vec<usize> = tried.before.keys().copied().filter(ended).collect();
    for index in ended {
        let Some(before) = tried.before.remove(&index) else {
            continue;
        };
        let candidate = &mut plan.candidates[index];
        if !matches!(candidate.state, State::Done(Verdict::Reproduces, _)) {
            *candidate = before;
            compiled.retain(|&other| other != index);
        }
    }
    again
}

/// Notes, for tests that set static fields although they reproduce without, which ones they need.
pub fn note(plan: &mut Plan<'_>) {
    for candidate in &mut plan.candidates {
        if let State::Done(Verdict::Reproduces, reason) = &mut candidate.state
            && candidate.statics
            && !candidate.missing.is_empty()
        {
            reason.push_str(&remark(&candidate.missing));
        }
    }
}

fn remark(missing: &[String]) -> String {
    let short = |field: &String| {
        let mut parts = field.rsplit('.');
        let name = parts.next().unwrap_or_default();
        format!("{}.{name}", parts.next().unwrap_or_default())
    };
    let named: Vec<String> = missing.iter().take(MAX_NAMED).map(short).collect();
    let more = match missing.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "; sets static fields that nothing fills here: {}{more}",
        named.join(", ")
    )
}
