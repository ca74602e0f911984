//! Finds tests that leave something to be done later which a test must not do.
//!
//! When it is done, other tests run, or none: of all that have run in the same JVM before, one half
//! and then the other run again, until those that do it are isolated.

use super::{Listed, Ran, Run, Suite};
use crate::generate::Result;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// The most JVMs that are run to find them: after that, the remaining candidates are all dropped.
const MAX_RUNS: usize = 60;
/// The same when time has run out.
const MAX_LATE_RUNS: usize = 12;

impl Suite<'_> {
    /// The tests that do so in some of these runs.
    pub(super) fn harmful(&self, runs: &[Run], limit: Duration) -> Result<BTreeSet<usize>> {
        let again = |list: &[Listed], place| -> Result<Ran> {
            self.run_list(list.to_vec(), &self.setup.entries, place, limit)
        };
        let suspects = runs.iter().flat_map(|run| {
            let lists = run.ran.harmful.iter();
            lists.map(|list| (list.clone(), run.place))
        });
        let most = || match self.is_late() {
            true => MAX_LATE_RUNS,
            false => MAX_RUNS,
        };
        narrow(suspects.collect(), most, |list, place| {
            Ok(!again(list, place)?.harmful.is_empty())
        })
    }
}

/// The least number of tries for a list, which is halved repeatedly, whatever those before it have
/// taken.
const LEAST_TRIES: usize = 6;

/// Those of each list that do harm by themselves, if that is determined within this many tries for
/// all; else all that is left of it.
fn narrow(
    lists: Vec<(Vec<Listed>, usize)>,
    most: impl Fn() -> usize,
    mut does_harm: impl FnMut(&[Listed], usize) -> Result<bool>,
) -> Result<BTreeSet<usize>> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let count = lists.len().max(1);
    let share = || (most() / count).max(LEAST_TRIES);
    for (mut list, place) in lists {
        let mut tries = 0;
        let all = list.len();
        list.retain(|test| !found.contains(&test.0));
        // It may have been those that are known by now.
        if list.len() < all {
            tries += 1;
            if list.is_empty() || !does_harm(&list, place)? {
                continue;
            }
        }
        // The cause is often a class, in each of its tests.
        list.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0)));
        let mut suspects = VecDeque::from([&list[..]]);
        while let Some(list) = suspects.pop_front() {
            if list.len() == 1 || tries >= share() {
                found.extend(list.iter().map(|test| test.0));
                continue;
            }
            let (first, last) = list.split_at(list.len() / 2);
            for half in [first, last] {
                tries += 1;
                if does_harm(half, place)? {
                    suspects.push_back(half);
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_does_harm_does_not_take_others_with_it() {
        // This is the order in which they run: shuffled, with every fifth of the class `B`.
        let list = (0..500).map(|at| {
            let test = at * 7 % 500;
            let class = ["B", "A", "C", "D", "E"][test % 5];
            (test, class.to_owned(), String::new())
        });
        let does_harm = |list: &[Listed], _| Ok(list.iter().any(|test| test.1 == "B"));
        let found = narrow(vec![(list.collect(), 0)], || 60, does_harm).unwrap();
        assert!((0..500).step_by(5).all(|test| found.contains(&test)));
        assert!(found.len() < 130, "{}", found.len());
    }

    /// Those that are found of a hundred, in two runs, if these do harm, and the number of tries.
    fn found(harmful: &[usize], most: usize) -> (Vec<usize>, usize) {
        let list: Vec<Listed> = (0..100)
            .map(|test| (test, String::new(), String::new()))
            .collect();
        let mut tries = 0;
        let suspects = vec![(list.clone(), 0), (list, 1)];
        let found = narrow(
            suspects,
            || most,
            |list, _| {
                tries += 1;
                Ok(list.iter().any(|test| harmful.contains(&test.0)))
            },
        );
        (found.unwrap().into_iter().collect(), tries)
    }

    #[test]
    fn those_that_do_harm_are_found_by_halves() {
        let (alone, tries) = found(&[42], 60);
        assert_eq!(alone, [42]);
        assert!(tries <= 20, "{tries}");
        assert_eq!(found(&[3, 42, 97], 120).0, [3, 42, 97]);
        // If it takes too long, more are dropped, and never fewer.
        let (more, tries) = found(&[3, 42, 97], 8);
        assert!([3, 42, 97].iter().all(|one| more.contains(one)));
        assert!((4..100).contains(&more.len()) && tries <= 10, "{more:?}");
    }
}
