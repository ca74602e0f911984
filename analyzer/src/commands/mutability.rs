//! `hindsight mutability`.
//!
//! - [`pipeline`] reads pipelines of stages, as they are typed.
//! - [`random`] has the options and tools of stage R.

use super::program::{Loaded, Source};
use super::{Failure, Misuse};
use crate::files::{makeable, write_whole};
use crate::mutability::analysis::{Outcome, Plan, read_facts, run};
use crate::mutability::answers::Stage;
use crate::mutability::contracts::Contracts;
use crate::mutability::effects::solve::{Library, Solver, any_field};
use crate::mutability::recorded::apply::Recorded;
use crate::mutability::recorded::{Code, Evidence, Notes, Until, observe};
use crate::mutability::report::{self, View, sentence};
use crate::program::Program;
use crate::program::calls::Calls;
use crate::stderr::say;
use crate::text::{count, one_line};
use crate::trace::{Trace, none_is_there};
use anyhow::{Context, Result};
use hindsight_instrument::glob::globs;
use pipeline::Pipeline;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

mod pipeline;
mod random;

/// Say which parameters each method may change.
///
/// A parameter (`this` is one) is mutable if some run of the method changes, by
/// way of it, the object that it refers to or anything that this leads to; the
/// change may happen in methods that it calls. Otherwise it is immutable. A
/// pipeline of stages decides, and what one has decided later ones do not
/// change: S looks at each body alone, SH does so parameter by parameter, P goes
/// along calls, S' follows what is read, stored and returned through bodies and
/// calls (it may also be written S2). A method is pure if it changes no parameter
/// and no static state.
///
/// Recorded runs (--trace) show parameters that are mutable. X follows by the
/// definition how each value was obtained, as far as the trace tells: record with
/// trace-what=calls;writes;reads;values. D does with calls and writes alone: a
/// write counts for an argument if that, and no other argument and no static
/// field, leads to what is written; A adds that what --calls calls never changed
/// is immutable, B that what was given to something mutable is mutable, C that
/// other ways to the object do not matter.
///
/// R makes runs of its own: it calls the methods of which something is unknown, and
/// others, in any order with any values, in a JVM that records this, and judges as X
/// does; with R among its letters, D judges (DRH). This executes the program, which
/// cannot end the JVM, start processes, use the network, or write and delete files
/// outside of that for temporary ones meanwhile. Put R before stages that guess what is
/// immutable.
///
/// Without --sound, methods of the JDK's collections and the like are taken at
/// their word, so that reading a map does not count as a change because some
/// maps reorder. With it, every known implementation is looked at, and an
/// immutable parameter is one.
///
/// The JDK's own methods are analysed once; the result is kept in the cache
/// directory ($XDG_CACHE_HOME or ~/.cache, in hindsight).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # All classes of a jar.
    $ hindsight mutability --classpath app.jar

    # Why? Every call and read down to the write.
    $ hindsight mutability --classpath app.jar --explain 'com.acme.Worker.handle'

    # Only what is proved, for machines.
    $ hindsight mutability --classpath app.jar --sound --format json

    # What two recorded runs show, and then what the code does.
    $ hindsight mutability --classpath app.jar --trace run1 run2

    # Evidence of one run, to be used later with that of others.
    $ hindsight mutability --classpath app.jar --trace run1 --save-evidence one.json
    $ hindsight mutability --classpath app.jar --evidence one.json two.json

    # Have the methods called at random of which nothing can be proved.
    $ hindsight mutability --classpath app.jar --pipeline \"S'-P-R-P\" --seed 1

    # Methods that Randoop or Daikon may call as they like.
    $ hindsight mutability --classpath app.jar --format randoop > side-effect-free.txt

Exit status:
    0 on success, also if a class could not be read (a warning names it),
    1 if the class path, the JDK or a trace cannot be read, if nothing matches, or if
      a run changes what --sound has proved to be immutable,
    2 if the arguments are wrong.")]
pub struct Opts {
    #[command(flatten)]
    source: Source,

    /// Only classes that match these globs, separated by `;`: `*` within a
    /// package, `**` across. The others are analysed all the same.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true
    )]
    classes: String,

    /// Stages in order, joined by `-`. Default: S'-P, with recorded runs X-S'-P.
    #[arg(long, value_name = "X-Y-Z", value_parser = Pipeline::parse)]
    pipeline: Option<Pipeline>,

    /// Call a parameter immutable only if that is proved.
    #[arg(long)]
    sound: bool,

    /// Also count changes that are made after the method has returned, by way of where it has kept
    /// its parameter, or to whom it has given it.
    #[arg(long)]
    transitive: bool,

    /// Recorded runs, for stages X and D.
    #[arg(long, value_name = "DIR", num_args = 1..)]
    trace: Vec<PathBuf>,

    /// Files of evidence from other runs, for stages X and D.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    evidence: Vec<PathBuf>,

    /// Write all evidence to a file, that of --evidence too.
    #[arg(long, value_name = "FILE")]
    save_evidence: Option<PathBuf>,

    /// Heuristic A: the calls of a method that must have left a parameter alone.
    #[arg(long, value_name = "N", default_value_t = 10)]
    calls: u64,

    /// Heuristic A: the percentage of what a method can be seen to do (writes, reads, calls of
    /// recorded methods) that these calls must have done.
    #[arg(long, value_name = "PERCENT", default_value_t = 85, value_parser = clap::value_parser!(u8).range(0..=100))]
    coverage: u8,

    /// Let virtual calls run only methods of classes that the program makes
    /// instances of (rapid type analysis); instances made by reflection are not
    /// seen.
    #[arg(long)]
    rta: bool,

    /// How to print: text, json, csv; randoop and chicory list pure methods as
    /// these tools read them.
    #[arg(long, value_enum, default_value_t)]
    format: Print,

    /// Only methods that match these globs of `class.method`, with the whole
    /// chain of calls and reads behind each verdict.
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "",
        hide_default_value = true
    )]
    explain: String,

    // This is the last one, because all that follows would be listed under its heading.
    #[command(flatten)]
    random: random::Options,
}

/// How verdicts are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
#[expect(
    missing_docs,
    reason = "a variant's documentation would be part of the help"
)]
pub enum Print {
    #[default]
    Text,
    Json,
    Csv,
    Randoop,
    Chicory,
}

impl Opts {
    /// Writes verdicts to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the class path, the JDK, or a recording cannot be read, if `out`
    /// cannot be written, and with [`Failure`] if nothing matches or a run
    /// contradicts a proof.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let has_runs = !self.trace.is_empty() || !self.evidence.is_empty();
        let pipeline = self.pipeline(has_runs)?;
        if let Some(path) = &self.save_evidence {
            makeable(path)?;
        }
        let loaded = Loaded::open(&self.source, self.sound)?;
        let mut warnings = loaded.warnings().to_vec();
        let mut notes = Notes::default();
        let outcome = loaded.with_library(|program, library, step| {
            let plan = Plan {
                stages: pipeline.stages.clone(),
                sound: self.sound,
                instances: self.rta,
                transitive: self.transitive,
                recorded: self.recorded(program, library, &mut notes)?,
            };
            if pipeline.random().is_none() {
                return anyhow::Ok(run(program, library, &plan, None, step)?);
            }
            let (outcome, mut more) =
                self.random
                    .with_inputs(self.source.classpath(), self.source.jdk(), |inputs| {
                        Ok(run(program, library, &plan, Some(inputs), step)?)
                    })?;
            notes.lines.append(&mut more);
            Ok(outcome)
        })?;
        // The verdicts are printed all the same.
        let saved = self.save(&outcome.recorded.evidence);
        for class in &outcome.others {
            let note = format!(
                "class {class} is another version than that of the evidence, which does not count for it"
            );
            notes.lines.push(note);
        }
        notes.lines.sort();
        notes.lines.dedup();
        if !self.source.is_quiet() {
            for note in &notes.lines {
                say(format_args!("warning: {}", one_line(note, usize::MAX)));
            }
        }
        warnings.append(&mut notes.lines);
        let printed = self.print(&loaded, &pipeline, &outcome, &warnings, out);
        saved?;
        printed?;
        contradictions(loaded.program(), &outcome)
    }

    fn save(&self, evidence: &Evidence) -> Result<()> {
        let Some(path) = &self.save_evidence else {
            return Ok(());
        };
        write_whole(path, 0o666, |mut out| {
            let failed = || format!("failed to write {}", path.display());
            evidence.write(&mut out).with_context(failed)
        })
    }

    fn pipeline(&self, has_runs: bool) -> Result<Pipeline> {
        let usual = if has_runs { "X-S'-P" } else { "S'-P" };
        let pipeline = match &self.pipeline {
            Some(pipeline) => pipeline.clone(),
            None => Pipeline::parse(usual).map_err(anyhow::Error::msg)?,
        };
        match self.misused(&pipeline, has_runs) {
            Some(misused) => Err(Misuse(misused).into()),
            None => Ok(pipeline),
        }
    }

    /// The message about options that contradict each other.
    fn misused(&self, pipeline: &Pipeline, has_runs: bool) -> Option<String> {
        let is_random = pipeline.random().is_some();
        match (pipeline.recorded(), has_runs) {
            (Some(stage), false) => {
                return Some(format!(
                    "stage {} of --pipeline {} needs a recorded run: name its directory with --trace (a run is \
                     recorded by the agent with mode=trace) or a file with --evidence, or leave the stage out",
                    stage.name(),
                    pipeline.text
                ));
            }
            (None, true) if self.save_evidence.is_none() && !is_random => {
                return Some(
                    "--trace and --evidence are of no use without a stage that reads them (X or D in --pipeline)"
                        .to_owned(),
                );
            }
            _ => {}
        }
        if self.save_evidence.is_some() && !has_runs && !is_random {
            return Some(
                "--save-evidence has nothing to save without --trace, --evidence, or R in --pipeline"
                    .to_owned(),
            );
        }
        if let (true, Some(stage)) = (self.sound, pipeline.unproved()) {
            return Some(format!(
                "stage {} of --pipeline {} guesses what is immutable, so it is of no use with --sound",
                stage.name(),
                pipeline.text
            ));
        }
        let keeps = pipeline.stages.contains(&Stage::Flow);
        (self.transitive && !keeps).then(|| {
            "--transitive needs S' in --pipeline: no other stage knows what a method keeps and returns"
                .to_owned()
        })
    }

    /// What all runs have shown.
    fn recorded(
        &self,
        program: &Program,
        library: &dyn Library,
        notes: &mut Notes,
    ) -> Result<Recorded> {
        let mut evidence = Evidence::default();
        // A recording that is named twice counts once. Two runs may well show the same.
        let mut read = BTreeSet::new();
        for path in &self.evidence {
            let failed = || format!("failed to read {}", path.display());
            let bytes = fs::read(path).with_context(failed)?;
            if !read.insert(fs::canonicalize(path).with_context(failed)?) {
                continue;
            }
            let one = Evidence::read(&bytes).map_err(anyhow::Error::msg);
            evidence.merge(one.with_context(failed)?);
        }
        if !self.trace.is_empty() {
            let facts = read_facts(program, |class| !program.class(class).library, &|_| {});
            let calls = Calls::by_hierarchy(program);
            let contracts = Contracts::new(program, any_field(program), self.sound);
            let solver = Solver::new(&calls, &facts, library, &contracts, self.sound);
            let code = Code {
                program,
                facts: &facts,
                calls: &calls,
                solver: &solver,
                stand_ins: &BTreeMap::new(),
            };
            for path in &self.trace {
                let trace = Trace::open(path)?;
                if !read.insert(fs::canonicalize(path)?) {
                    continue;
                }
                let named = trace.notes.iter();
                let named = named.map(|note| format!("{}: {note}", path.display()));
                notes.lines.extend(named);
                let traced = &trace.log.dictionary.traced;
                let none = none_is_there(traced, |name| is_there(program, name));
                let none = none.map(|note| format!("{}: {note}", path.display()));
                notes.lines.extend(none);
                evidence.merge(observe(
                    &trace,
                    &code,
                    self.transitive,
                    Until::default(),
                    notes,
                ));
            }
        }
        Ok(Recorded {
            evidence,
            calls: self.calls,
            coverage: f64::from(self.coverage) / 100.0,
        })
    }

    fn print(
        &self,
        loaded: &Loaded,
        pipeline: &Pipeline,
        outcome: &Outcome,
        warnings: &[String],
        out: &mut dyn Write,
    ) -> Result<()> {
        let (classes, explain) = (globs(&self.classes), globs(&self.explain));
        let view = View {
            program: loaded.program(),
            outcome,
            classes: &classes,
            explain: &explain,
        };
        if view.methods().next().is_none() {
            let lacks = match (explain.is_empty(), classes.is_empty()) {
                (false, _) => "no method matches --explain",
                (true, false) => "no method matches --classes",
                (true, true) => "the class path has no methods",
            };
            let example = view.of_classes().next().map(|row| row.full_name());
            let example = example.filter(|_| !explain.is_empty());
            let example = example.map_or_else(String::new, |name| {
                format!(", which takes names like {}", one_line(&name, 300))
            });
            say(format_args!("{lacks}{example}"));
            return Err(Failure.into());
        }
        match self.format {
            Print::Text => report::text(&view, super::colour(), out)?,
            Print::Json => {
                let asked = report::Asked {
                    pipeline: &pipeline.text,
                    sound: self.sound,
                    transitive: self.transitive,
                    warnings,
                };
                report::json(&view, &asked, out)?;
            }
            Print::Csv => report::csv(&view, out)?,
            Print::Randoop => report::randoop(&view, out)?,
            Print::Chicory => report::chicory(&view, out)?,
        }
        Ok(())
    }
}

/// Whether a class, by its name with dots, is on the class path.
fn is_there(program: &Program, name: &str) -> bool {
    let class = program.names.find(name.replace('.', "/").as_bytes());
    let class = class.and_then(|name| program.find(name));
    class.is_some_and(|class| !program.class(class).missing)
}

/// Fails if a run changes what is proved to be immutable, which shows a mistake of ours.
fn contradictions(program: &Program, outcome: &Outcome) -> Result<()> {
    if outcome.contradictions.is_empty() {
        return Ok(());
    }
    let all = globs("");
    let view = View {
        program,
        outcome,
        classes: &all,
        explain: &all,
    };
    for (method, param, reason) in &outcome.contradictions {
        let mut row = view.method(*method);
        let name = format!("{}({})", row.full_name(), row.parameter_types());
        let Some(cell) = row.params.get_mut(usize::from(*param)) else {
            continue;
        };
        cell.reason = reason.clone();
        let param_name = cell.name.clone();
        let seen = sentence(&view, &row, usize::from(*param));
        let found = format!("{name}: {param_name} was proved to be immutable, but {seen}");
        say(one_line(&found, usize::MAX));
    }
    say(format_args!(
        "{} proved and disproved: a mistake of hindsight's, please report it",
        count(outcome.contradictions.len(), "parameter")
    ));
    Err(Failure.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;

    /// What follows the options of random inputs would be listed as one of them.
    #[test]
    fn only_options_of_random_inputs_are_listed_as_such() {
        let command = Opts::augment_args(clap::Command::new("mutability"));
        let headed = command.get_arguments();
        let headed = headed.filter(|option| option.get_help_heading().is_some());
        let mut headed: Vec<&str> = headed.map(|option| option.get_id().as_str()).collect();
        headed.sort_unstable();
        assert_eq!(headed, ["agent", "seed", "sequences", "time"]);
    }
}
