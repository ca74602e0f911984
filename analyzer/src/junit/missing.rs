//! Static state that a test lacks, though it reproduces without.
//!
//! A registry that `main` has filled is empty where a test calls the method alone. Where the recorded
//! failure comes first, nothing shows that; but once it is fixed the method goes on, and fails of the
//! empty registry. So the static fields that a call may read are compared with the recorded ones after
//! it, and enum constants that its arguments lead to. Where something is missing, a test that sets them is
//! tried, and taken if it reproduces.
//!
//! What the code writes by itself (a counter, a cache, an instance made when it is first asked for) is not
//! missing: tests without state are easier to read. The code tells that of static fields, and another run
//! of what lies behind them: it holds something else after the call than before.

use super::build::effects::{FieldName, Target};
use super::candidate::{Candidate, Plan, State};
use super::report::Verdict;
use crate::classpath::is_platform;
use crate::graph::Graph;
use crate::trim;
use hindsight_tracelog::crash::{Body, StaticField};
use hindsight_tracelog::reader::Crash;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Methods that one call is followed to.
const MAX_METHODS: usize = 1000;
/// Classes above each other that are searched for a member.
const MAX_SUPERS: usize = 100;
/// Fields that the reason of a test names.
const MAX_NAMED: usize = 3;

/// The recorded static fields, as `Class.field`, that the call of a candidate may read but does not fill:
/// those that its method, the recorded frames inside of it, and what these call have in their code; and
/// the enum constants that its arguments lead to.
pub fn reads(plan: &Plan<'_>, candidate: usize) -> BTreeSet<String> {
    let candidate = &plan.candidates[candidate];
    let crash = &plan.inputs[candidate.crash].crash;
    let failure = &crash.failure;
    let constants = enum_constants(crash, candidate.frame);
    if failure.statics.is_empty() {
        return constants;
    }
    let frames = failure.frames.iter().take(candidate.frame + 1).rev();
    // Those of an exception that this one is the cause of are around it, though they come first.
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

/// The enum constants with fields that may change, as `Enum.CONSTANT`, that the arguments of a frame lead
/// to: no code need name these.
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

/// A recorded static field as `Class.field`, by how code names it.
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

/// A class and what is above it, as far as that is on the class path.
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
    /// Candidates as they reproduced without static fields.
    before: BTreeMap<usize, Candidate>,
    /// All that were tried: each is once.
    done: BTreeSet<usize>,
}

/// Lets candidates that have reproduced without static fields, but lack some, be written with them, and
/// gives these. Those that did not reproduce with them are again what they were, and out of `compiled`.
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

/// Says of tests that set static fields though they reproduce without which ones they need.
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
