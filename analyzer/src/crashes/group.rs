//! What is known of one failure, over all its crashes.

use super::key::Key;
use crate::graph::Graph;
use crate::text::deadlocks;
use hindsight_tracelog::crash::{Body, Failure, Fidelity, THREAD_STATE};
use hindsight_tracelog::reader::Crash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// All crashes of one failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// How often it happened: recordings, and repetitions that were only counted.
    pub count: u64,
    /// Whether it may have happened more often: a run has thrown too many exceptions to examine
    /// all, or its budget of CPU time was used up.
    #[serde(default)]
    pub at_least: bool,
    /// Crash files.
    pub files: u64,
    /// The earliest recording, milliseconds since 1970.
    pub first_ms: i64,
    /// The last time that it is known to have happened, milliseconds since 1970.
    pub last_ms: i64,
    /// The count by version of the program; an empty text stands for none.
    pub versions: BTreeMap<String, u64>,
    /// The count by version of Java.
    pub java_versions: BTreeMap<String, u64>,
    /// A message, the smallest of all: those of a group are alike.
    pub message: Option<String>,
    /// The file that promises the best test.
    pub best: Candidate,
    /// What each of the files stands for, by an identity of its crash, so that none is counted
    /// twice if results overlap. Those of earlier releases have none.
    #[serde(default)]
    pub crashes: BTreeMap<String, Share>,
}

/// The share of one crash file in its group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How often it happened, according to its run.
    pub count: u64,
    /// The program's version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Java's version.
    pub java: String,
}

/// A crash file, ordered by how good a test it promises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Where it is.
    pub file: String,
    /// Whether all of it could be read.
    pub whole: bool,
    /// The number of frames with arguments, of the exception and of its causes.
    pub captured: usize,
    /// All frames of these.
    pub frames: usize,
    /// The number of frames whose fields, or more, are as at entry as well.
    pub with_fields: usize,
    /// The number of frames in which all that can be reached is as at entry.
    #[serde(default)]
    pub with_all: usize,
    /// The number of static fields that were recorded.
    #[serde(default)]
    pub statics: usize,
    /// The number of objects that were left out: redacted, or not storable.
    #[serde(default)]
    pub left_out: usize,
    /// Its size.
    pub bytes: u64,
    /// When it was recorded, milliseconds since 1970.
    pub time_ms: i64,
}

/// How often a crash happened in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The count of the run.
    pub count: u64,
    /// Whether it has not examined all exceptions that were caught or have left a method.
    pub not_all_examined: bool,
    /// Whether it has not recorded all failures, so that any may have happened more often.
    pub not_all_recorded: bool,
    /// The last time that it happened, in milliseconds since 1970, if the run has it.
    pub last_ms: Option<i64>,
}

impl Candidate {
    /// The order by promise: the greatest is the best. Whole files come first, then those with more
    /// captured frames, with more of their state, more static fields and fewer objects left out;
    /// then the smaller one, which is easier to read; the rest makes the order total.
    fn rank(&self) -> impl Ord + '_ {
        (
            self.whole,
            self.captured,
            self.with_all,
            self.with_fields,
            self.statics,
            std::cmp::Reverse(self.left_out),
            std::cmp::Reverse(self.bytes),
            self.time_ms,
            std::cmp::Reverse(self.file.as_str()),
        )
    }
}

/// Whether a recording is a dump of all threads.
pub(super) fn is_dump(failure: &Failure) -> bool {
    let first = failure.exceptions.first();
    first.is_some_and(|exception| exception.class == THREAD_STATE)
}

/// The message of the exception; for a dump of all threads, which of them wait for each other.
fn message(failure: &Failure) -> Option<String> {
    let first = failure.exceptions.first()?;
    if !is_dump(failure) {
        return first.message.clone();
    }
    let names = |circle: Vec<usize>| {
        let mut names: Vec<&str> = (circle.iter())
            .map(|at| failure.threads[*at].name.as_str())
            .collect();
        names.sort_unstable();
        names.join(", ")
    };
    let circles: Vec<String> = deadlocks(failure).into_iter().map(names).collect();
    match circles.as_slice() {
        [] => first.message.clone(),
        circles => Some(format!(
            "deadlock: these wait for each other: {}",
            circles.join("; ")
        )),
    }
}

impl Group {
    /// The group of one crash file, which stands for this many crashes.
    pub fn of(file: &str, identity: &str, bytes: u64, crash: &Crash, times: Times) -> Group {
        let Times { count, last_ms, .. } = times;
        let meta = &crash.meta;
        // Frames of causes become tests as well.
        let frames = || crash.failure.frames.iter();
        let graph = Graph::at_failure(crash);
        let is_left_out = |number: &u32| {
            let is_hole = matches!(graph.body(*number), Some(Body::Hole(_)));
            is_hole && graph.standing(*number).is_none()
        };
        let objects = 0..crash.objects.len() as u32;
        let with = |fidelity| frames().filter(|frame| frame.fidelity == fidelity).count();
        Group {
            count,
            // All threads that die are examined, unless there is no time for any failure.
            at_least: times.not_all_recorded || times.not_all_examined && meta.reason != "uncaught",
            files: 1,
            first_ms: meta.time_ms,
            last_ms: last_ms.unwrap_or(meta.time_ms).max(meta.time_ms),
            versions: BTreeMap::from([(meta.program_version.clone(), count)]),
            java_versions: BTreeMap::from([(meta.java_version.clone(), count)]),
            message: message(&crash.failure),
            best: Candidate {
                file: file.to_owned(),
                whole: crash.is_whole() && !file.ends_with(".part"),
                captured: frames().count() - with(Fidelity::None),
                frames: frames().count(),
                with_fields: with(Fidelity::Fields) + with(Fidelity::Depth) + with(Fidelity::Deep),
                with_all: with(Fidelity::Deep),
                statics: crash.failure.statics.len(),
                left_out: objects.filter(is_left_out).count(),
                bytes,
                time_ms: meta.time_ms,
            },
            crashes: BTreeMap::from([(
                identity.to_owned(),
                Share {
                    count,
                    version: meta.program_version.clone(),
                    java: meta.java_version.clone(),
                },
            )]),
        }
    }

    /// Merges another group of the same failure. For a crash that is in both, the one counts that
    /// is beside its `run.json`, or has a greater count.
    pub fn merge(&mut self, mut other: Group) {
        for (identity, share) in std::mem::take(&mut other.crashes) {
            match self.crashes.entry(identity) {
                Entry::Vacant(place) => {
                    place.insert(share);
                }
                Entry::Occupied(mut place) => {
                    let known = place.get_mut();
                    let less = known.count.min(share.count);
                    known.count = known.count.max(share.count);
                    other.files = other.files.saturating_sub(1);
                    other.count = other.count.saturating_sub(less);
                    subtract(&mut other.versions, &share.version, less);
                    subtract(&mut other.java_versions, &share.java, less);
                }
            }
        }
        self.count = self.count.saturating_add(other.count);
        self.at_least |= other.at_least;
        self.files = self.files.saturating_add(other.files);
        self.first_ms = self.first_ms.min(other.first_ms);
        self.last_ms = self.last_ms.max(other.last_ms);
        add(&mut self.versions, other.versions);
        add(&mut self.java_versions, other.java_versions);
        self.message = match (self.message.take(), other.message) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        if other.best.rank() > self.best.rank() {
            self.best = other.best;
        }
    }
}

/// The sum of counts in files, which need not be true: if it is too large, the largest number.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn add(to: &mut BTreeMap<String, u64>, from: BTreeMap<String, u64>) {
    for (key, count) in from {
        let sum = to.entry(key).or_default();
        *sum = sum.saturating_add(count);
    }
}

fn subtract(from: &mut BTreeMap<String, u64>, key: &str, less: u64) {
    if let Some(sum) = from.get_mut(key) {
        *sum = sum.saturating_sub(less);
    }
}

/// Groups by what they have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(pub BTreeMap<Key, Group>);

impl Groups {
    /// Takes in a group.
    pub fn add(&mut self, key: Key, group: Group) {
        match self.0.entry(key) {
            Entry::Vacant(place) => {
                place.insert(group);
            }
            Entry::Occupied(mut place) => place.get_mut().merge(group),
        }
    }

    /// Takes in all groups of another.
    pub fn merge(&mut self, other: Groups) {
        for (key, group) in other.0 {
            self.add(key, group);
        }
    }

    /// To be called after all were added: a crash with a file has happened at least once.
    pub fn settle(&mut self) {
        for group in self.0.values_mut().filter(|group| group.count == 0) {
            group.count = 1;
            if let Some(share) = group.crashes.values_mut().next() {
                share.count = 1;
                group.versions.insert(share.version.clone(), 1);
                group.java_versions.insert(share.java.clone(), 1);
            }
        }
    }

    /// The groups, most frequent first; of equal ones, the latest first.
    pub fn sorted(&self) -> Vec<(&Key, &Group)> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(_, group)| std::cmp::Reverse((group.count, group.last_ms)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::Frame;

    const ONCE: Times = Times {
        count: 1,
        not_all_examined: false,
        not_all_recorded: false,
        last_ms: None,
    };

    /// A wrapper that the JDK has made on a thread of its own has no frame that becomes a test.
    #[test]
    fn frames_of_a_cause_make_a_file_better() {
        let frame = |exception, fidelity| Frame {
            exception,
            fidelity,
            ..Frame::default()
        };
        let mut without = Crash::default();
        without.failure.frames = vec![frame(0, Fidelity::None); 2];
        let mut with = without.clone();
        with.failure.frames.push(frame(1, Fidelity::Fields));
        let mut group = Group::of("crash-0001.hsc", "one", 1, &without, ONCE);
        group.merge(Group::of("crash-0002.hsc", "two", 2, &with, ONCE));
        let best = &group.best;
        assert_eq!(best.file, "crash-0002.hsc");
        assert_eq!([best.captured, best.frames, best.with_fields], [1, 3, 1]);
    }

    #[test]
    fn a_crash_that_its_run_has_counted_elsewhere_has_happened_in_its_version() {
        let mut crash = Crash::default();
        crash.meta.program_version = "1.0".to_owned();
        crash.meta.java_version = "17".to_owned();
        let times = Times { count: 0, ..ONCE };
        let key = Key::new(&crash.failure, 1);
        let mut groups = Groups::default();
        groups.add(key, Group::of("crash-0001.hsc", "id", 1, &crash, times));
        groups.settle();
        let (_, group) = groups.sorted()[0];
        let once = |name: &str| BTreeMap::from([(name.to_owned(), 1)]);
        assert_eq!(group.count, 1);
        assert_eq!(group.versions, once("1.0"));
        assert_eq!(group.java_versions, once("17"));
    }
}
