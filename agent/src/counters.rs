//! What was lost, skipped or left alone, by name.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Methods that rules of `report` name.
pub(crate) const NAMED_BY_REPORT: &str = "methods_named_by_report";
/// Classes with probes.
pub(crate) const INSTRUMENTED: &str = "classes_instrumented";

/// Counters of one run. Counting happens at class loading and at failures only,
/// so a lock is cheap enough.
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

    /// Has a count be there, also where nothing is counted: that tells something, too.
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
