//! What tests of one suite do to each other.
//!
//! A candidate is tried in a JVM of its own; people run all tests in one. A test that leaves static
//! state behind (a guard that says that something has been done, a cache) makes others pass, or fail
//! otherwise. So what reproduces by itself is run again with all others, in both orders. Where that
//! shows another outcome, tests keep the static state that their call finds, and put it back.

use super::Options;
use super::call;
use super::candidate::{Plan, State};
use super::compile::{self, Workplace};
use super::report::Verdict;
use super::run;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Said of a test that keeping static state does not help.
const ALONE: &str =
    "; not with all the others in one JVM, which leave state behind: run it in one of its own";

/// Said of a test that does not reproduce each time it is run by itself.
const UNSTEADY: &str = "; not each time, by itself either: it depends on threads, time or chance";

/// How candidates were written before they kept static state.
#[derive(Debug, Clone, Copy)]
struct Before {
    built: bool,
    statics: bool,
    properties: bool,
}

/// What was tried so far.
#[derive(Debug, Default)]
pub struct Tried {
    rounds: usize,
    before: BTreeMap<usize, Before>,
    /// They do not reproduce when they keep static state.
    given_up: BTreeSet<usize>,
    /// They do not reproduce each time by themselves.
    unsteady: BTreeSet<usize>,
}

/// Runs what reproduces together; `compiled` was compiled last. Gives the candidates that are to be
/// written and tried anew; none once all is as good as it gets.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn tries(
    plan: &mut Plan<'_>,
    place: &Workplace<'_>,
    options: &Options,
    compiled: &[usize],
    tried: &mut Tried,
) -> Result<Vec<usize>> {
    let lost = lost(plan, tried);
    if !lost.is_empty() {
        return Ok(lost);
    }
    let reproduces = |index: &usize| {
        matches!(
            plan.candidates[*index].state,
            State::Done(Verdict::Reproduces, _)
        )
    };
    let group: Vec<usize> = (0..plan.candidates.len()).filter(reproduces).collect();
    // Those that were compiled last have taken the place of the others in their classes.
    let whole = group.iter().all(|index| compiled.contains(index));
    if group.len() < 2 || !whole && !compile::again(plan, &group, place, options)? {
        return Ok(Vec::new());
    }
    let mut influenced = run::together(plan, &group, place, options)?;
    influenced.retain(|index| !tried.unsteady.contains(index));
    // Others need not be the reason.
    for index in run::unsteady(plan, &influenced, place, options)? {
        influenced.remove(&index);
        if let State::Done(_, reason) = &mut plan.candidates[index].state {
            reason.push_str(UNSTEADY);
        }
        tried.given_up.insert(index);
        tried.unsteady.insert(index);
    }
    if influenced.is_empty() {
        return Ok(Vec::new());
    }
    let crashes: BTreeSet<usize> = (influenced.iter())
        .map(|&index| plan.candidates[index].crash)
        .collect();
    let has_state = !call::static_owners(plan).is_empty();
    let mut again = Vec::new();
    for index in group {
        let candidate = &mut plan.candidates[index];
        let concerned = tried.rounds > 0 || crashes.contains(&candidate.crash);
        if tried.rounds < 2
            && has_state
            && concerned
            && !candidate.keeps
            && !tried.given_up.contains(&index)
        {
            let before = Before {
                built: candidate.built,
                statics: candidate.statics,
                properties: candidate.properties,
            };
            tried.before.insert(index, before);
            candidate.keeps = true;
            candidate.state = State::Pending;
            again.push(index);
        }
    }
    tried.rounds += 1;
    if again.is_empty() {
        for index in influenced {
            if let State::Done(_, reason) = &mut plan.candidates[index].state {
                reason.push_str(ALONE);
            }
        }
    }
    Ok(again)
}

/// What has reproduced before it kept static state is written as it was.
fn lost(plan: &mut Plan<'_>, tried: &mut Tried) -> Vec<usize> {
    let mut lost = Vec::new();
    for (&index, before) in &tried.before {
        let candidate = &mut plan.candidates[index];
        let fails = !matches!(candidate.state, State::Done(Verdict::Reproduces, _));
        if candidate.keeps && fails && tried.given_up.insert(index) {
            candidate.keeps = false;
            candidate.built = before.built;
            candidate.statics = before.statics;
            candidate.properties = before.properties;
            candidate.state = State::Pending;
            lost.push(index);
        }
    }
    lost
}
