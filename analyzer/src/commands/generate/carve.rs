//! The first phase of `hindsight generate`: tests of what runs did.

use super::Opts;
use super::prepare::Tools;
use crate::classpath::{ClassPath, is_jdk};
use crate::generate::asserted::Checked;
use crate::generate::carve::{Recorded, Recorder};
use crate::generate::observed;
use crate::generate::platform::Classes;
use crate::progress::{Extent, Stages};
use crate::text::one_line;
use crate::trace::steps::Steps;
use crate::trace::{Trace, none_is_there};
use anyhow::Result;
use hindsight_tracelog::trace::dictionary::TracedClass;
use std::collections::HashSet;
use std::path::Path;

/// The result for recorded runs.
#[derive(Default)]
pub(super) struct Carved {
    pub tests: Vec<Checked>,
    pub counts: observed::Counts,
    /// The classes that the runs have recorded.
    pub traced: HashSet<String>,
    /// The classes that the runs have called, which their tests concern.
    pub about: HashSet<String>,
    /// Whether some of it could not be read.
    pub damaged: bool,
}

impl Opts {
    /// Makes tests of what the runs did.
    pub(super) fn carve(&self, tools: &mut Tools<'_>) -> Result<Carved> {
        let mut carved = Carved::default();
        let told = &tools.program.told;
        for path in &self.trace {
            told.begin("reading the run", Extent::Unknown);
            let traced = &mut carved.traced;
            let (recorded, lacks) = self.record(path, tools.classes, told, traced)?;
            carved.about.extend(recorded.called.iter().cloned());
            carved.damaged |= lacks;
            told.begin("trying what the run did", Extent::Unknown);
            let (tests, counts) = observed::tests(
                &recorded,
                &tools.wanted,
                &mut tools.access,
                &mut tools.methods,
                &mut tools.worker,
                &mut tools.other,
            )?;
            carved.tests.extend(tests);
            carved.counts.add(counts);
        }
        Ok(carved)
    }

    /// The record of a run, and whether some of it could not be read.
    fn record(
        &self,
        path: &Path,
        classes: Classes<'_>,
        told: &Stages,
        known: &mut HashSet<String>,
    ) -> Result<(Recorded, bool)> {
        let trace = Trace::open(path)?;
        let mut damaged = trace.is_damaged;
        if !self.quiet {
            for note in &trace.notes {
                told.note(&format!("{}: {note}", path.display()));
            }
        }
        if !self.quiet {
            for note in differing(&trace.log.dictionary.traced, classes.own) {
                told.note(&format!("{}: {note}", path.display()));
            }
        }
        let traced = trace.log.dictionary.traced.iter();
        known.extend(traced.map(|class| class.name.clone()));
        let mut recorder = Recorder::new(&trace.log.dictionary, classes);
        let places = trace.all();
        let mut steps = Steps::new(&trace.log, &places);
        while let Some(step) = steps.next_step() {
            match step {
                Ok(step) => recorder.take(&step),
                Err(damage) => {
                    damaged = true;
                    let what = trace.left_out(&damage);
                    told.note(&format!("{}: {what}", path.display()));
                }
            }
        }
        if recorder.full && !self.quiet {
            told.note(&format!(
                "{}: the run has more objects than are followed; tests are of the first",
                path.display()
            ));
        }
        Ok((recorder.finish(), damaged))
    }
}

/// The most classes whose difference is reported one by one.
const MAX_DIFFERING: usize = 3;

/// How the program's classes differ from the recorded ones.
fn differing(traced: &[TracedClass], own: &ClassPath) -> Vec<String> {
    let mut notes = Vec::new();
    let mut differ = 0;
    for class in traced.iter().filter(|class| !is_jdk(&class.name)) {
        let Some(there) = own.info(&class.name) else {
            continue; // a library's tests need no program that uses it
        };
        let same = class.sha256.is_empty()
            || class.sha256 == there.sha256
            || there.other_sha256.contains(&class.sha256);
        if !same {
            differ += 1;
            if differ <= MAX_DIFFERING {
                notes.push(format!(
                    "class {} on the class path ({}) differs from the one recorded",
                    one_line(&class.name, 300),
                    there.entry.display()
                ));
            }
        }
    }
    if differ > MAX_DIFFERING {
        notes.push(format!("so do {} more", differ - MAX_DIFFERING));
    }
    notes.extend(none_is_there(traced, |name| own.info(name).is_some()));
    notes
}
