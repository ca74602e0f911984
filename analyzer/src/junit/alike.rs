//! Candidates of one crash that end alike without reproducing.
//!
//! A request has come through dozens of filters and dispatchers, whose frames all lack the same
//! object and end in the same way. What helps one of them (static fields, system properties, the
//! default locale) helps its neighbours, and each try takes a JVM of its own. So only the innermost
//! and the outermost of such a group are tried again; the others follow if that has helped one of
//! the two. But what is built differs between frames, so all frames that build something are tried
//! with everything loaded.
//! build something are tried with everything loaded.

use super::candidate::{Plan, State};
use super::report::Verdict;
use super::verdict::NOT_RESTORED;
use std::collections::BTreeMap;

/// The size from which on a group is not tried as a whole.
const LEAST: usize = 5;

/// The groups of candidates that have ended alike so far.
#[derive(Debug, Default)]
pub struct Alike {
    /// The groups; `None` before the first round.
    groups: Option<Vec<Group>>,
}

#[derive(Debug)]
struct Group {
    /// The innermost and the outermost.
    leaders: [usize; 2],
    others: Vec<usize>,
}

impl Alike {
    /// The candidates of `tried` that are tried a second time now: after the first round, all
    /// except the others of each group that build nothing.
    pub fn first(&mut self, plan: &Plan<'_>, tried: &[usize]) -> Vec<usize> {
        let groups = self.groups.get_or_insert_with(|| groups(plan, tried));
        let waits = |index: &usize| groups.iter().any(|group| group.others.contains(index));
        let builds = |index: &usize| plan.candidates[*index].builds();
        (tried.iter().copied())
            .filter(|index| builds(index) || !waits(index))
            .collect()
    }

    /// The others of the groups in which one has been helped, once no second try is due. They are
    /// returned once.
    pub fn others(&mut self, plan: &Plan<'_>) -> Vec<usize> {
        let reproduces = |index: &usize| {
            let state = &plan.candidates[*index].state;
            matches!(state, State::Done(Verdict::Reproduces, _))
        };
        let helped = |group: &mut Group| group.leaders.iter().any(reproduces);
        let groups = self.groups.iter_mut();
        groups
            .flat_map(|groups| groups.extract_if(.., helped))
            .flat_map(|group| group.others)
            .collect()
    }
}

fn groups(plan: &Plan<'_>, tried: &[usize]) -> Vec<Group> {
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for &index in tried {
        let candidate = &plan.candidates[index];
        if let State::Done(verdict @ (Verdict::Differs | Verdict::Passes), reason) =
            &candidate.state
        {
            // Inner frames lack fewer objects.
            let how = reason.split(NOT_RESTORED).next().unwrap_or_default();
            let key = (candidate.crash, *verdict == Verdict::Passes, how);
            alike.entry(key).or_default().push(index);
        }
    }
    let large = alike.into_values().filter(|group| group.len() >= LEAST);
    large
        .map(|mut group| {
            group.sort_by_key(|&index| plan.candidates[index].frame);
            Group {
                leaders: [group[0], group[group.len() - 1]],
                others: group[1..group.len() - 1].to_vec(),
            }
        })
        .collect()
}
