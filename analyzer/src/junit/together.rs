//! Finds out how tests of one suite affect each other.
//!
//! A candidate is tried in a JVM of its own, but people run all tests in one. A test that leaves
//! static state behind (a flag that something has been done, a cache) makes others pass, or fail
//! differently. So what reproduces by itself is run again with all others, in both orders. If that
//! shows another outcome, tests keep the static state that their call finds, and restore it.
//!
//! Chance causes other outcomes as well, and may have let a test reproduce at first. So those that
//! end differently, and those with which no others are run, are run by themselves some times more.

use super::Options;
use super::Result;
use super::call::statics;
use super::candidate::{Candidate, Lapse, Plan, State};
use super::compile::{self, Workplace};
use super::report::Verdict;
use super::run::{self, Influenced};
use std::collections::{BTreeMap, BTreeSet};

/// The stage in which all tests keep static state.
const LAST_STAGE: usize = 8;

/// The number of influenced tests whose culprits are searched for at a time.
const MAX_VICTIMS: usize = 4;

/// What was tried so far.
#[derive(Debug, Default)]
pub struct Tried {
    /// The next stage, see [`stage`].
    stage: usize,
    /// The candidates as they were before they kept static state.
    before: BTreeMap<usize, Candidate>,
    /// The candidates that do not reproduce when they keep static state.
    given_up: BTreeSet<usize>,
    /// The candidates that do not reproduce each time by themselves.
    unsteady: BTreeSet<usize>,
    /// The candidates that others influenced before any kept static state.
    first: BTreeSet<usize>,
    /// The last stage, the candidates that began to keep static state in it, and those that were
    /// influenced before.
    last: (usize, Vec<usize>, BTreeSet<usize>),
}

/// Runs what reproduces together; `compiled` was compiled last. Returns the candidates that are to
/// be written and tried anew; none once no improvement is left.
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
    restore_lost(plan, tried);
    let reproduces = |index: &usize| {
        matches!(
            plan.candidates[*index].state,
            State::Done(Verdict::Reproduces, _)
        )
    };
    let mut group: Vec<usize> = (0..plan.candidates.len()).filter(reproduces).collect();
    // Those that were compiled last have replaced the others in their classes.
    let mut whole = group.iter().all(|index| compiled.contains(index));
    while !whole && !group.is_empty() {
        let failed = compile::again(plan, &group, place, options)?;
        whole = failed.is_empty();
        group.retain(|index| !failed.contains_key(index));
        for (index, message) in failed {
            let reason = format!("not with the other tests of its class: {message}");
            plan.candidates[index].state = State::Done(Verdict::NotCompiled, reason);
        }
    }
    if group.is_empty() {
        return Ok(Vec::new());
    }
    let mut influenced = run::together(plan, &group, place, options)?;
    influenced.retain(|index, _| !tried.unsteady.contains(index));
    // Nothing that tests keep makes the JVM run an initializer a second time.
    let failed = |influenced: &Influenced| run::is_failed_class(&influenced.ran);
    for (&index, _) in influenced.iter().filter(|(_, how)| failed(how)) {
        if tried.given_up.insert(index) {
            plan.candidates[index].lapse = Some(Lapse::Together);
        }
    }
    influenced.retain(|_, how| !failed(how));
    for index in unsteady(plan, &group, &influenced, place, options, tried)? {
        influenced.remove(&index);
        restore(plan, tried, vec![index]);
        plan.candidates[index].lapse = Some(Lapse::Unsteady);
        tried.given_up.insert(index);
        tried.unsteady.insert(index);
    }
    if influenced.is_empty() {
        return Ok(Vec::new());
    }
    let now: BTreeSet<usize> = influenced.keys().copied().collect();
    if tried.stage == 0 {
        tried.first.clone_from(&now);
    }
    // What helps no test only makes all harder to read; but of several culprits, a single one does
    // not help.
    let (last, kept, before) = std::mem::take(&mut tried.last);
    let helps = !now.is_superset(&before);
    if [0, LAST_STAGE].contains(&last) && !helps {
        restore(plan, tried, kept);
    }
    plan.keeping = match last == LAST_STAGE && helps {
        true => BTreeSet::new(),
        false => crashes_of(plan, &tried.first),
    };
    let mut has_owners = !statics::owners(plan).is_empty();
    if !has_owners {
        tried.stage = tried.stage.max(LAST_STAGE);
        plan.keeping.clear();
        has_owners = !statics::owners(plan).is_empty();
    }
    let mut again = Vec::new();
    let mut used = 0;
    if has_owners {
        while again.is_empty() && tried.stage <= LAST_STAGE {
            used = tried.stage;
            if used == LAST_STAGE {
                plan.keeping.clear();
            }
            again = stage(plan, tried.stage, &influenced, place, options)?
                .unwrap_or_else(|| group.clone());
            again.retain(|index| {
                group.contains(index)
                    && !plan.candidates[*index].keeps
                    && !tried.given_up.contains(index)
            });
            // The same would be found again.
            tried.stage = match again.is_empty() && (1..LAST_STAGE).contains(&tried.stage) {
                true => LAST_STAGE,
                false => tried.stage + 1,
            };
        }
    }
    for &index in &again {
        let candidate = &mut plan.candidates[index];
        tried.before.insert(index, candidate.clone());
        candidate.keeps = true;
        candidate.state = State::Pending;
    }
    if again.is_empty() {
        if now.is_superset(&tried.first) {
            let all: Vec<usize> = tried.before.keys().copied().collect();
            restore(plan, tried, all);
        }
        for index in now {
            plan.candidates[index].lapse = Some(Lapse::Together);
        }
    } else {
        tried.last = (used, again.clone(), now);
    }
    Ok(again)
}

/// The candidates of the group that turn out to depend on chance: then other tests need not be the
/// reason why some are influenced.
fn unsteady(
    plan: &Plan<'_>,
    group: &[usize],
    influenced: &BTreeMap<usize, Influenced>,
    place: &Workplace<'_>,
    options: &Options,
    tried: &Tried,
) -> Result<BTreeSet<usize>> {
    let mut asked: BTreeSet<usize> = influenced.keys().copied().collect();
    // They have only run once.
    if tried.stage == 0 {
        asked.extend(run::solitary(plan, group, options));
    }
    let mut found = run::unsteady(plan, &asked, place, options)?;
    // The others of such a crash may have been lucky.
    let crashes = crashes_of(plan, &found);
    asked.extend(&tried.unsteady);
    let others = group
        .iter()
        .copied()
        .filter(|index| !asked.contains(index) && crashes.contains(&plan.candidates[*index].crash));
    found.extend(run::unsteady(plan, &others.collect(), place, options)?);
    // A candidate that ends differently, and calls what depends on chance, does so by chance.
    let known: Vec<usize> = tried.unsteady.union(&found).copied().collect();
    let calls_any = |index: &&usize| known.iter().any(|&other| calls(plan, **index, other));
    found.extend(influenced.keys().filter(calls_any));
    Ok(found)
}

/// Whether the frame of a candidate is a direct or indirect caller of another's.
fn calls(plan: &Plan<'_>, candidate: usize, other: usize) -> bool {
    let (caller, called) = (&plan.candidates[candidate], &plan.candidates[other]);
    caller.crash == called.crash
        && caller.frame > called.frame
        && plan.frame(caller).exception == plan.frame(called).exception
}

/// Restores candidates as they were before they kept static state.
fn restore(plan: &mut Plan<'_>, tried: &mut Tried, candidates: Vec<usize>) {
    for index in candidates {
        if let Some(before) = tried.before.remove(&index) {
            let lapse = plan.candidates[index].lapse;
            plan.candidates[index] = Candidate { lapse, ..before };
        }
    }
}

/// The candidates that are to keep static state next: those of the recordings whose tests are
/// influenced, then those that influence these, as long as more of them are found; at last all,
/// which is `None`.
fn stage(
    plan: &Plan<'_>,
    stage: usize,
    influenced: &BTreeMap<usize, Influenced>,
    place: &Workplace<'_>,
    options: &Options,
) -> Result<Option<Vec<usize>>> {
    let crash = |index: usize| plan.candidates[index].crash;
    let crashes = crashes_of(plan, influenced.keys());
    match stage {
        0 => {
            let all = 0..plan.candidates.len();
            Ok(Some(
                all.filter(|&index| crashes.contains(&crash(index)))
                    .collect(),
            ))
        }
        LAST_STAGE => Ok(None),
        _ => {
            let mut found = BTreeSet::new();
            // One of each recording represents the others.
            for of in crashes.into_iter().take(MAX_VICTIMS) {
                let victim = influenced.iter().find(|(index, _)| crash(**index) == of);
                if let Some((&victim, how)) = victim {
                    found.extend(run::culprit(plan, victim, &how.before, place, options)?);
                }
            }
            Ok(Some(found.into_iter().collect()))
        }
    }
}

fn crashes_of<'a>(
    plan: &Plan<'_>,
    candidates: impl IntoIterator<Item = &'a usize>,
) -> BTreeSet<usize> {
    let crash = |&index: &usize| plan.candidates[index].crash;
    candidates.into_iter().map(crash).collect()
}

/// Restores the candidates that had reproduced before they kept static state and do not now.
fn restore_lost(plan: &mut Plan<'_>, tried: &mut Tried) {
    for (&index, before) in &tried.before {
        let candidate = &mut plan.candidates[index];
        let fails = !matches!(candidate.state, State::Done(Verdict::Reproduces, _));
        if candidate.keeps && fails && tried.given_up.insert(index) {
            *candidate = before.clone();
        }
    }
}
