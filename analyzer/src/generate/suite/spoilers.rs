//! Finds tests that make others fail, such as one that closes what all of them share.
//!
//! Of two tests that conflict one must be dropped. If that were the one that fails, all would be
//! dropped that a single other one makes fail.

use super::{Listed, Run, Suite, Verdict};
use crate::generate::Result;
use std::collections::BTreeSet;
use std::time::Duration;

/// The most tests that are searched for because they make others fail.
const MAX_SPOILERS: usize = 12;
/// The weight of a test of what the run did, compared with one that was invented.
const NATURAL: usize = 12;

impl Suite<'_> {
    /// The tests without which others pass that have failed in some of these runs, if dropping them
    /// loses less. Tests that fail behind others themselves are not among them. Those with numbers
    /// below `natural` are of what the run did.
    pub(super) fn spoilers(
        &self,
        runs: &[Run],
        natural: usize,
        limit: Duration,
    ) -> Result<BTreeSet<usize>> {
        let passed = |run: &Run, test: usize| run.ran.verdicts.get(&test) == Some(&Verdict::Passed);
        let worth = |tests: &BTreeSet<usize>| -> usize {
            let each = tests.iter();
            each.map(|test| if *test < natural { NATURAL } else { 1 })
                .sum()
        };
        let all = runs.iter().flat_map(|run| run.ran.verdicts.keys().copied());
        // Among very many that make it fail, one of the run's may never pass.
        let flaky: BTreeSet<usize> = all
            .filter(|test| *test < natural || runs.iter().any(|run| passed(run, *test)))
            .filter(|test| !runs.iter().all(|run| passed(run, *test)))
            .collect();
        let mut spoilers = BTreeSet::new();
        let mut left = flaky.clone();
        let mut tries = 0;
        while !self.is_late()
            && let Some(victim) = left.pop_first()
        {
            let Some(run) = runs.iter().find(|run| !passed(run, victim)) else {
                continue;
            };
            let mut of_victim = BTreeSet::new();
            let mut saved = BTreeSet::new();
            while tries < MAX_SPOILERS && !self.is_late() {
                tries += 1;
                let is_here =
                    |test: &&Listed| !spoilers.contains(&test.0) && !of_victim.contains(&test.0);
                let list: Vec<Listed> = run.list.iter().filter(is_here).cloned().collect();
                let Some(at) = list.iter().position(|test| test.0 == victim) else {
                    break;
                };
                let found = self.spoiler(&list[..at], &list[at], run.place, limit)?;
                // If each of them spoils the next one, all are dropped except those that happen to
                // pass.
                let Some(spoiler) = found.filter(|found| !flaky.contains(found)) else {
                    break;
                };
                of_victim.insert(spoiler);
                let list = list.into_iter().filter(|test| test.0 != spoiler).collect();
                let ran = self.run_list(list, &self.setup.entries, run.place, limit)?;
                let passes = |test: &usize| ran.verdicts.get(test) == Some(&Verdict::Passed);
                if passes(&victim) {
                    let failed = left.iter().filter(|test| !passed(run, **test));
                    saved = failed.chain([&victim]).copied().filter(passes).collect();
                    break;
                }
            }
            if worth(&saved) > 0 && worth(&saved) >= worth(&of_victim) {
                left.retain(|test| !saved.contains(test));
                spoilers.extend(of_victim);
            }
        }
        Ok(spoilers)
    }

    /// The test that alone makes another one fail, if it is one of these.
    fn spoiler(
        &self,
        before: &[Listed],
        victim: &Listed,
        place: usize,
        limit: Duration,
    ) -> Result<Option<usize>> {
        let fails = |before: &[Listed]| -> Result<bool> {
            let list = before.iter().chain([victim]).cloned().collect();
            let ran = self.run_list(list, &self.setup.entries, place, limit)?;
            Ok(ran.verdicts.get(&victim.0) != Some(&Verdict::Passed))
        };
        if before.is_empty() || fails(&[])? || !fails(before)? {
            return Ok(None);
        }
        let mut suspects = before;
        while suspects.len() > 1 {
            if self.is_late() {
                return Ok(None);
            }
            let (first, last) = suspects.split_at(suspects.len() / 2);
            suspects = if fails(last)? {
                last
            } else if fails(first)? {
                first
            } else {
                return Ok(None);
            };
        }
        Ok(suspects.first().map(|test| test.0))
    }
}
