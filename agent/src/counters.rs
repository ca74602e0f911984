//! Counts what was lost, skipped or left alone, by name.

use hindsight_instrument::SkipReason;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The counter of methods that rules of `report` name.
pub(crate) const NAMED_BY_REPORT: &str = "methods_named_by_report";
/// The counter of classes with probes.
pub(crate) const INSTRUMENTED: &str = "classes_instrumented";

/// The most names of one kind that have counters of their own.
const MAX_NAMES: usize = 20;

/// The counters of one run. Counting happens only at class loading and at failures, so a lock is
/// cheap enough.
#[derive(Default)]
pub(crate) struct Counters(Mutex<BTreeMap<String, u64>>);

impl Counters {
    pub(crate) fn add(&self, name: &str, count: u64) {
        if count > 0
            && let Ok(mut counters) = self.0.lock()
        {
            match counters.get_mut(name) {
                Some(known) => *known += count,
                None => {
                    counters.insert(name.to_owned(), count);
                }
            }
        }
    }

    /// Raises a counter to at least this number, for what is counted anew each time.
    pub(crate) fn raise(&self, name: &str, count: u64) {
        if count > 0
            && let Ok(mut counters) = self.0.lock()
        {
            let known = counters.entry(name.to_owned()).or_insert(0);
            *known = count.max(*known);
        }
    }

    /// Counts something that has a name of its own, below `kind`. The first few names of each kind
    /// have their own counters, and the rest are counted together, because a program may make any
    /// number of them.
    pub(crate) fn add_named(&self, kind: &str, name: &str) {
        let Ok(mut counters) = self.0.lock() else {
            return;
        };
        let own = format!("{kind}:{name}");
        let of_kind = counters.range(format!("{kind}:")..format!("{kind};"));
        let counter = match counters.contains_key(&own) || of_kind.count() < MAX_NAMES {
            true => own,
            // There is no colon, so that it differs from all names.
            false => format!("{kind}_further"),
        };
        *counters.entry(counter).or_insert(0) += 1;
    }

    /// Counts methods by the reason why they have fewer probes than asked for.
    pub(crate) fn skipped(&self, what: &str, reasons: impl Iterator<Item = SkipReason>) {
        let mut counts: Vec<(_, u64)> = Vec::new();
        // Methods that were not asked for are not mentioned.
        let asked = reasons.filter(|reason| *reason != SkipReason::CatchesNothing);
        for reason in asked.map(SkipReason::kind) {
            match counts.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => counts.push((reason, 1)),
            }
        }
        for (reason, count) in counts {
            self.add(&format!("{what}:{reason}"), count);
        }
    }

    /// Creates a counter at 0, because that is information as well.
    pub(crate) fn begin(&self, name: &str) {
        if let Ok(mut counters) = self.0.lock()
            && !counters.contains_key(name)
        {
            counters.insert(name.to_owned(), 0);
        }
    }

    pub(crate) fn get(&self, name: &str) -> u64 {
        let counters = self.0.lock();
        counters.map_or(0, |counters| counters.get(name).copied().unwrap_or(0))
    }

    pub(crate) fn snapshot(&self) -> Vec<(String, u64)> {
        let counters = self
            .0
            .lock()
            .map(|counters| counters.clone())
            .unwrap_or_default();
        counters.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_stand_there_and_the_rest_are_counted() {
        let counters = Counters::default();
        counters.add("before", 1);
        for number in 0..1000 {
            counters.add_named("kind", &format!("Made{number}"));
        }
        counters.add_named("kind", "Made0");
        counters.add_named("other", "Made999");
        assert_eq!(counters.get("kind:Made0"), 2);
        assert_eq!(counters.get("kind:Made19"), 1);
        assert_eq!(counters.get("kind_further"), 980);
        assert_eq!(counters.get("other:Made999"), 1);
        assert_eq!(counters.snapshot().len(), 1 + 20 + 1 + 1);
    }

    #[test]
    fn what_is_seen_again_counts_once() {
        let counters = Counters::default();
        for count in [3, 5, 4] {
            counters.raise("seen", count);
        }
        assert_eq!(counters.get("seen"), 5);
    }
}
