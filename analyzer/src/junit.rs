//! From crashes to JUnit tests.
//!
//! 1. [`asked`] parses for which frames tests are wanted; [`candidate`] decides for each of them
//!    whether and how it can be called, and into which test class it goes. [`origins`] finds what
//!    identifies the classes and methods that compilers have numbered.
//! 2. [`value`] and [`call`] write the body of one test; [`source`] puts the tests of one class into
//!    a file. [`build`] finds out how values can be made instead of loaded.
//! 3. [`compile`] runs javac and falls back to calls by name if the direct call does not compile;
//!    [`run`] runs each test in a JVM of its own, which [`launch`] starts.
//! 4. [`verdict`] compares the outcome with the recording; [`together`] runs what reproduces in one
//!    JVM.
//! 5. [`write`] keeps the sources, [`project`] makes them a Maven project, [`report`] reports on
//!    each frame; [`differences`] finds changed classes.
//!
//! - [`alike`] finds frames that end alike, which need not all be tried again.
//! - [`missing`] finds tests that reproduce, but lack static state that the fixed program needs.
//! - [`unreported`] finds exceptions that make test runners themselves fail.
//! - [`locks`] finds the locks with which a method may have been called.
//! - [`defaults`] handles the default locale and time zone of the recorded JVM.
//! - [`ended`] finds out why JVMs end before they should.
//! - `error` says why there are no tests.
//! - [`memory`] and [`preview`] handle options of the JVM that crashes need, [`paths`] those that
//!   name files.
//!
//! [`generate`] does all this for several crashes together, because one javac run costs as much as
//! a hundred tests.

pub mod alike;
pub mod asked;
pub mod build;
pub mod call;
pub mod candidate;
pub mod compile;
pub mod defaults;
pub mod differences;
pub mod ended;
mod error;
pub mod launch;
pub mod locks;
pub mod memory;
pub mod missing;
pub mod origins;
pub mod paths;
pub mod preview;
pub mod project;
pub mod report;
pub mod run;
pub mod source;
pub mod together;
pub mod unreported;
pub mod value;
pub mod verdict;
pub mod write;

pub use error::{Error, Result};

use crate::classpath::ClassPath;
use crate::files::{self, failed};
use crate::input::Input;
use crate::jdk::Jdk;
use crate::progress::{Extent, Stages};
use crate::temporary;
use crate::trim;
use asked::Asked;
use candidate::{Plan, State};
use hindsight_tracelog::crash::Defaults;
use hindsight_tracelog::reader::Crash;
use report::{Report, Verdict};
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The replay library, which emitted tests need.
pub const REPLAY_JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hindsight-replay.jar"));
/// Its name in the output.
pub const REPLAY_JAR_NAME: &str = "hindsight-replay.jar";

/// The version of JUnit for which tests are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Framework {
    /// JUnit 5 (Jupiter).
    #[default]
    Junit5,
    /// JUnit 4.
    Junit4,
}

impl Framework {
    /// The framework's usual name.
    pub fn name(self) -> &'static str {
        match self {
            Framework::Junit5 => "JUnit 5",
            Framework::Junit4 => "JUnit 4",
        }
    }

    /// Its name in `--framework`.
    pub fn option(self) -> &'static str {
        match self {
            Framework::Junit5 => "junit5",
            Framework::Junit4 => "junit4",
        }
    }
}

/// The origin of the values in tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// Made by constructors, setters, factories, builders and the JDK's API if that gives the same
    /// objects; else loaded.
    #[default]
    Built,
    /// Loaded from the crash file, except what a literal can express.
    Loaded,
}

/// The options of `hindsight junit`.
#[derive(Debug)]
pub struct Options {
    /// The directory for the tests.
    pub out: PathBuf,
    /// The version of JUnit.
    pub framework: Framework,
    /// The origin of values.
    pub values: Source,
    /// The frames for which tests are wanted; empty for all.
    pub frames: Vec<Asked>,
    /// Whether tests are written even if they do not reproduce.
    pub keep_all: bool,
    /// Whether to run the candidates.
    pub run: bool,
    /// Whether to make a Maven project.
    pub project: bool,
    /// The options of the JVMs in which the candidates run.
    pub java_options: Vec<String>,
    /// The time that one candidate may take.
    pub timeout: Duration,
    /// The progress of the work.
    pub told: Stages,
}

/// Makes tests of `inputs` and reports on each frame. `jdk` may be missing only if nothing is run.
///
/// # Errors
///
/// Fails if javac or the candidates cannot be run at all, or the output cannot
/// be written.
pub fn generate(
    inputs: &[Input],
    classpath: &ClassPath,
    jdk: Option<&Jdk>,
    options: &Options,
) -> Result<Report> {
    let proved = options.run && !options.keep_all;
    let mut plan = Plan::new(inputs, classpath, &options.frames, &options.out, proved);
    write::check(&plan, options)?;
    if let Some(jdk) = jdk {
        if options.run {
            ended::check_options(jdk, options)?;
        }
        plan.refuse_newer(jdk.version);
        let work = temporary::directory()?;
        let place = compile::Workplace::new(work.path(), classpath, jdk)?;
        origins::find(&mut plan, &place, options)?;
        place.add_resources(&plan)?;
        let mut pending = plan.supported();
        if options.run && options.values == Source::Built {
            options
                .told
                .begin("finding out how values are made", Extent::Unknown);
            plan.recipes = build::find(&plan, &pending, &place, options)?;
            for &index in &pending {
                plan.candidates[index].built = true;
            }
        }
        let mut tried = together::Tried::default();
        let mut missing = missing::Tried::default();
        let mut alike = alike::Alike::default();
        while !pending.is_empty() {
            options.told.begin("compiling tests", Extent::Unknown);
            compile::settle(&mut plan, &pending, &place, options)?;
            if !options.run {
                break;
            }
            let pending_still = plan.only(&pending, |state| matches!(state, State::Pending));
            options
                .told
                .begin("comparing the values of tests", Extent::Unknown);
            if !build::check(&mut plan, &pending_still, &place, options)?.is_empty() {
                continue;
            }
            let mut compiled = plan.only(&pending, |state| matches!(state, State::Pending));
            run::run(&mut plan, &compiled, &place, options)?;
            defaults::find(&mut plan, &compiled, &place, options)?;
            let again = missing::tries(&mut plan, &mut compiled, &mut missing);
            let due = alike.first(&plan, &compiled);
            pending = second_tries(&mut plan, &due);
            pending.extend(again);
            if pending.is_empty() {
                let due = alike.others(&plan);
                pending = second_tries(&mut plan, &due);
            }
            if pending.is_empty() {
                options
                    .told
                    .begin("running tests in one JVM", Extent::Unknown);
                pending = together::tries(&mut plan, &place, options, &compiled, &mut tried)?;
            }
        }
    }
    options.told.end();
    plan.note_subclasses();
    missing::note(&mut plan);
    let keep = |verdict: Verdict| match verdict {
        Verdict::Reproduces | Verdict::NotRun => true,
        Verdict::Differs | Verdict::Passes | Verdict::NotCompiled => options.keep_all,
        Verdict::Unsupported => false,
    };
    let written = write::write(&plan, keep, options)?;
    if options.project && !written.is_empty() {
        let replay = written.iter().any(|written| written.library);
        project::write(&plan, replay, jdk, options)?;
    }
    Ok(report::report(&plan, &written, jdk, options))
}

/// Gives another chance to candidates that did not reproduce: with a lock, if one ended for lack of
/// it; then with everything loaded, if an object was built instead (it was equal, but programs may
/// compare by identity); then with the static fields of the recorded program; then with its system
/// properties instead, which may determine how it runs; then with both. If its default locale and
/// time zone differ from those here, all of this is tried with the recorded ones as well, except
/// what is built, which comes first with them.
///
/// A candidate that returns because it, or a method that it called, caught the exception in the
/// recording has returned then, too, so it is not tried again; nor is one that took too long.
fn second_tries(plan: &mut Plan<'_>, tried: &[usize]) -> Vec<usize> {
    let mut again = Vec::new();
    let others: Vec<bool> = (0..plan.inputs.len())
        .map(|crash| defaults::others(plan, crash) != Defaults::default())
        .collect();
    let catchers = report::catchers(plan);
    for &index in tried {
        let candidate = &mut plan.candidates[index];
        let State::Done(verdict @ (Verdict::Differs | Verdict::Passes), reason) = &candidate.state
        else {
            continue;
        };
        let crash = &plan.inputs[candidate.crash].crash;
        let is_caught = report::is_caught(crash, catchers[candidate.crash], candidate.frame);
        if is_caught && *verdict == Verdict::Passes || reason.starts_with(verdict::TIMED_OUT) {
            continue;
        }
        let defaults = !candidate.defaults && others[candidate.crash];
        let frame = &crash.failure.frames[candidate.frame];
        if let Some(held) = locks::next(candidate, frame, reason) {
            candidate.held = held;
            if held.owner().is_some() {
                candidate.state = State::Pending;
                again.push(index);
                continue;
            }
        }
        if candidate.builds() {
            candidate.built = defaults;
            candidate.defaults = defaults;
        } else {
            let statics = has_statics(crash, candidate.frame);
            let properties = call::properties(&crash.meta).next().is_some();
            let next = match (candidate.statics, candidate.properties) {
                (false, false) if statics => (true, false),
                (false, false) | (true, false) if properties => (false, true),
                (false, true) if statics => (true, true),
                _ if defaults => (false, false),
                _ => continue,
            };
            candidate.defaults |= next == (false, false);
            (candidate.statics, candidate.properties) = next;
            // Static fields and arguments share objects, so all of them are loaded.
            candidate.built &= !candidate.statics;
        }
        candidate.state = State::Pending;
        again.push(index);
    }
    again
}

/// Whether a test of a frame has static fields to set, or fields of enum constants.
fn has_statics(crash: &Crash, frame: usize) -> bool {
    !crash.failure.statics.is_empty() || trim::constants(crash, frame).next().is_some()
}

/// The result of work on one frame's values, or nothing if the work panics, which is printed on
/// stderr: one frame must not cost the tests of all others.
fn caught<T: Default>(work: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_default()
}

/// Writes a file, and creates its directories.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), files::Error> {
    let failed = failed("write", path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, content).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panics_gives_nothing() {
        let far = std::hint::black_box(7);
        assert_eq!(caught(|| Some([1, 2][far])), None);
        assert_eq!(caught(|| vec![far]), [7]);
    }
}
