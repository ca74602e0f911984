//! Random inputs for stage R of the mutability analysis: the random search, under recording.
//!
//! Each round executes sequences in JVMs of their own and reads their recordings. Components of one
//! round serve the next.

use super::search::Search;
use super::{Error, Result};
use crate::files::failed;
use crate::mutability::random::{Failed, Inputs, MethodName};
use crate::mutability::recorded::{Code, Evidence, Notes, Until, observe};
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The most steps of one call that are read: loops over large numbers make many.
const MAX_STEPS: u64 = 100_000;
/// The sequences of a round, if the program has fewer methods.
const LEAST: u64 = 5000;

/// The search as the analysis sees it.
pub struct Recorded<'a> {
    search: Search<'a>,
    out: PathBuf,
    stand_ins: BTreeMap<String, String>,
    sequences: Option<u64>,
    until: Option<Instant>,
    /// The number of rounds so far.
    pub rounds: u32,
    /// Remarks about the runs for the user.
    pub notes: Notes,
}

impl<'a> Recorded<'a> {
    /// Begins. The worker of the search has a recording, whose directory is `out`; this many
    /// sequences are a round.
    pub fn new(
        search: Search<'a>,
        out: PathBuf,
        stand_ins: BTreeMap<String, String>,
        sequences: Option<u64>,
        until: Option<Instant>,
    ) -> Recorded<'a> {
        Recorded {
            search,
            out,
            stand_ins,
            sequences,
            until,
            rounds: 0,
            notes: Notes::default(),
        }
    }

    /// The number of sequences that were executed.
    pub fn executed(&self) -> u64 {
        self.search.tally.executed.iter().sum()
    }

    fn round(
        &mut self,
        wanted: &[MethodName],
        code: &Code<'_>,
        transitive: bool,
    ) -> Result<Option<Evidence>> {
        let late = self.until.is_some_and(|end| Instant::now() >= end);
        if late || !self.search.prefer(wanted) {
            return Ok(None);
        }
        let sequences = self.sequences.unwrap_or_else(|| {
            let own = code.facts.iter().filter(|facts| facts.present).count();
            (own as u64).max(LEAST)
        });
        self.search.more(sequences, self.until)?;
        self.search.rest();
        self.rounds += 1;
        let out = self.out.clone();
        let failed = failed("read", &out);
        let mut runs = Vec::new();
        for run in fs::read_dir(&out).map_err(failed)? {
            runs.push(run.map_err(failed)?.path());
        }
        runs.sort();
        let mut evidence: Option<Evidence> = None;
        for run in runs {
            if let Some(seen) = self.read(&run, code, transitive)? {
                evidence.get_or_insert_default().merge(seen);
            }
            fs::remove_dir_all(&run).map_err(failed)?;
        }
        if evidence.is_none() {
            return Err(Error::NothingRecorded);
        }
        Ok(evidence)
    }

    fn read(&mut self, path: &Path, code: &Code<'_>, transitive: bool) -> Result<Option<Evidence>> {
        // A JVM that was killed while it started has recorded nothing.
        if !path.join("trace").is_dir() {
            return Ok(None);
        }
        let trace = Trace::open(path).map_err(|error| Error::Trace(error.into()))?;
        let until = Until {
            steps: Some(MAX_STEPS),
            time: self.until,
        };
        // Most remarks are about JVMs that sequences have ended, which is expected.
        let mut notes = Notes::default();
        let seen = observe(&trace, code, transitive, until, &mut notes);
        let here = format!("{}: ", trace.directory.display());
        let lines = notes.lines.into_iter();
        let lines = lines.map(|line| line.replace(&here, "a run with random inputs: "));
        self.notes.lines.extend(lines);
        Ok(Some(seen))
    }
}

impl Inputs for Recorded<'_> {
    fn run(
        &mut self,
        wanted: &[MethodName],
        code: &Code<'_>,
        transitive: bool,
    ) -> Result<Option<Evidence>, Failed> {
        self.round(wanted, code, transitive)
            .map_err(|error| Failed(error.into()))
    }

    fn stand_ins(&self) -> BTreeMap<String, String> {
        self.stand_ins.clone()
    }
}
