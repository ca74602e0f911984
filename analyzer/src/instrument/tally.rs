//! Counts what was done, and what was not, by reason.

use super::plan::{Left, Verdict, needs_nothing};
use hindsight_instrument::SkippedMethods;
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of classes or methods, by result.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The number of all.
    pub total: u64,
    /// The number of those with new code.
    pub rewritten: u64,
    /// The numbers of those that need none, by reason.
    pub nothing_to_do: BTreeMap<String, u64>,
    /// The numbers of those that would need it, by reason.
    pub left: BTreeMap<String, u64>,
}

/// A class or archive that could not be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The file, with `!/` before each entry of an archive.
    pub path: String,
    /// The reason.
    pub reason: String,
    /// The details, with the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The most failures that are kept by name; further ones are only counted.
const MAX_FAILURES: usize = 10_000;

/// All counts of one run.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Tally {
    /// Classes.
    pub classes: Counts,
    /// The methods that have a body, in classes that were examined.
    pub methods: Counts,
    /// Rewritten methods that have less than was asked for, by reason.
    pub methods_reduced: BTreeMap<String, u64>,
    /// The number of archives with rewritten classes, including nested ones.
    pub archives_rewritten: u64,
    /// The number of archives that stay as they are.
    pub archives_left: u64,
    /// The archives that were signed and, once rewritten, are not.
    pub signatures_removed: Vec<String>,
    /// The rewritten archives that are modules, whose hashes other modules may have.
    pub modules_rewritten: Vec<String>,
    /// The classes and archives that were left for a reason that people want to know.
    pub failures: Vec<Failure>,
    /// The number of failures that are not named here.
    pub failures_unnamed: u64,
}

impl Counts {
    fn leave(&mut self, reason: String, nothing_to_do: bool) {
        let table = if nothing_to_do {
            &mut self.nothing_to_do
        } else {
            &mut self.left
        };
        *table.entry(reason).or_default() += 1;
    }
}

impl Tally {
    /// Counts a class.
    pub fn class(&mut self, path: &str, verdict: &Verdict) {
        self.classes.total += 1;
        match verdict {
            Verdict::Rewritten(rewritten) => {
                self.classes.rewritten += 1;
                let made = rewritten.methods.len() as u64;
                self.methods.total += made;
                self.methods.rewritten += made;
                self.skipped(&rewritten.skipped);
                for method in rewritten.reduced.iter() {
                    let reason = method.reason.to_string();
                    *self.methods_reduced.entry(reason).or_default() += 1;
                }
            }
            Verdict::Left {
                reason, methods, ..
            } => {
                self.left(path, *reason);
                self.skipped(methods);
            }
        }
    }

    fn left(&mut self, path: &str, reason: Left) {
        let nothing_to_do = reason.is_nothing_to_do();
        self.classes.leave(reason.to_string(), nothing_to_do);
        if !nothing_to_do {
            self.fail(path, reason.to_string(), reason.detail());
        }
    }

    fn skipped(&mut self, methods: &SkippedMethods) {
        self.methods.total += methods.len() as u64;
        for method in methods.iter() {
            let nothing_to_do = needs_nothing(method.reason);
            self.methods.leave(method.reason.to_string(), nothing_to_do);
        }
    }

    /// Notes what could not be rewritten.
    pub fn fail(&mut self, path: &str, reason: String, detail: Option<String>) {
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(Failure {
                path: path.to_owned(),
                reason,
                detail,
            });
        } else {
            self.failures_unnamed += 1;
        }
    }
}
