//! Tests that leave something to be done later which a test must not do.
//!
//! When it is done, others run, or none: of all that have run in the same JVM before, one half and the other run
//! again, until those are alone that do it.

use super::{Listed, Ran, Run, Suite};
use anyhow::Result;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// JVMs that are run to find them: those that are left then go with those that they were found among.
const MAX_RUNS: usize = 60;
/// The same when it is late.
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
        narrow(suspects, most, |list, place| {
            Ok(!again(list, place)?.harmful.is_empty())
        })
    }
}

/// Those of each list that do harm by themselves, if that is known after so many tries; else all of what is left
/// of it.
fn narrow(
    lists: impl IntoIterator<Item = (Vec<Listed>, usize)>,
    most: impl Fn() -> usize,
    mut does_harm: impl FnMut(&[Listed], usize) -> Result<bool>,
) -> Result<BTreeSet<usize>> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut tries = 0;
    for (mut list, place) in lists {
        let all = list.len();
        list.retain(|test| !found.contains(&test.0));
        // It may have been those that are known by now.
        if list.len() < all && (list.is_empty() || !does_harm(&list, place)?) {
            continue;
        }
        let mut suspects = VecDeque::from([&list[..]]);
        while let Some(list) = suspects.pop_front() {
            if list.len() == 1 || tries >= most() {
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

    /// Which are found of a hundred, in two runs, if these do harm, and how many tries that takes.
    fn found(harmful: &[usize], most: usize) -> (Vec<usize>, usize) {
        let list: Vec<Listed> = (0..100)
            .map(|test| (test, String::new(), String::new()))
            .collect();
        let mut tries = 0;
        let suspects = [(list.clone(), 0), (list, 1)];
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
        assert_eq!(found(&[3, 42, 97], 60).0, [3, 42, 97]);
        // Where it takes too long, more go, and never fewer.
        let (more, tries) = found(&[3, 42, 97], 8);
        assert!([3, 42, 97].iter().all(|one| more.contains(one)));
        assert!((4..100).contains(&more.len()) && tries <= 10, "{more:?}");
    }
}
