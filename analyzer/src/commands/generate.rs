//! `hindsight generate`.
//!
//! - [`prepare`] collects what all phases work with.
//! - [`carve`], the first phase, makes tests of what runs did; [`invent`], the second, of new
//!   sequences.
//! - [`prove`] compiles and runs the tests, [`files`] replaces those of an earlier run, and
//!   [`report`] says what was made.

use super::Format;
use crate::confine;
use crate::generate::distinct::few;
use crate::generate::observed::Lost;
use crate::junit::Framework;
use crate::stderr::say;
use anyhow::Result;
use clap::ArgGroup;
use invent::Searched;
use report::{Changes, Report};
use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

mod carve;
mod files;
mod invent;
mod prepare;
mod prove;
mod report;

/// Make regression tests of recorded runs.
///
/// Tests call the program as the run did (--observed), or in new ways: half of the time any public
/// method with any values, half of the time along the models that hindsight model has made
/// (--model), and assert the results. Before they are written they run at least four times: in
/// fresh JVMs, in another order each time, and with another directory, language, time zone, clock,
/// number of processors and environment, and with assertions off. Those that do not always pass are
/// dropped, and counted. While tests are tried, the program cannot end the JVM, start processes,
/// use the network, read the standard input, or write and delete other than temporary files: a test
/// that attempts to is dropped too. If the program does so by detours, the kernel prevents it, if
/// it has Landlock (Linux 5.19 or newer). The reasons why sequences of a run are not tests are
/// printed in a line for each reason, and for each sequence with --format json.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("source").required(true).multiple(true)
    .args(["observed", "model", "universal"]))]
#[command(after_help = "\
Examples:
    # What the run did, as tests.
    $ hindsight generate --observed --trace run --classpath app.jar --out tests

    # The same with what objects say of themselves (methods that change nothing).
    $ hindsight mutability --classpath app.jar --format json > mutability.json
    $ hindsight generate --observed --trace run --mutability mutability.json \\
          --classpath app.jar --out tests

    # New sequences along the models of runs; the same each time.
    $ hindsight generate --model app.model --mutability mutability.json \\
          --classpath app.jar --out tests --sequences 20000 --seed 1

    # Does the next version do the same?
    $ hindsight generate --observed --trace run --classpath app-1.jar --out tests \\
          --against app-2.jar

Exit status:
    0 on success,
    1 if the input is bad, a part of it damaged, no test could be made, or --against
      does something else, or lets fewer see what the tests name,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directory of a run that was recorded with mode=trace; may be given again.
    #[arg(long, value_name = "DIR", requires = "observed")]
    trace: Vec<PathBuf>,

    /// Make tests of what the runs of --trace did.
    #[arg(long, requires = "trace")]
    observed: bool,

    /// Make new sequences along these models, which hindsight model --out has written; may be given
    /// again.
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,

    /// Make new sequences without models: any public method in any order. A model
    /// then says only which classes are tested.
    #[arg(long)]
    universal: bool,

    /// Take about this long for new sequences: half of it to search, the rest to try what was
    /// found; 60 if --sequences says nothing. Compiling and running the tests takes additional
    /// time, mostly some 5 to 30 seconds, and so does --observed.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=86400))]
    time: Option<u64>,

    /// Try this many new sequences. With the same seed, the result is the same tests if the program
    /// is deterministic and nothing takes too long.
    #[arg(long, value_name = "N")]
    sequences: Option<u64>,

    /// The program: directories and jars, joined as in a JVM's class path.
    #[arg(long, visible_alias = "cp", value_name = "CP")]
    classpath: String,

    /// Where the tests go: below src/test/java. Tests of the same kind from an earlier run are
    /// replaced if they are of classes that this run has called or could call, and removed if they
    /// are of classes that --classpath does not have any more; others stay.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Only tests of classes that match these globs, separated by `;`: `*` within a
    /// package, `**` across.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true
    )]
    classes: String,

    /// Which methods change nothing: the output of hindsight mutability --format json. They are
    /// asked at the end of a test.
    #[arg(long, value_name = "FILE")]
    mutability: Option<PathBuf>,

    /// Run the tests on another version of the program, too, and report what it does differently.
    #[arg(long, value_name = "CP")]
    against: Option<String>,

    /// The seed, on which all random choices depend.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// For which JUnit.
    #[arg(long, value_enum, default_value_t)]
    framework: Framework,

    /// Processor time that one sequence may take; twice as long if it waits.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    timeout: Duration,

    /// Load the program's classes anew for each sequence that is tried, so that it finds the
    /// initial static state. This is slow. The tests run without it: those that fail because of
    /// what others leave behind are dropped all the same.
    #[arg(long)]
    reset_statics: bool,

    /// The JDK to compile and run with; else JAVA_HOME's, else that of the java on
    /// the path.
    #[arg(long, value_name = "DIR")]
    jdk: Option<PathBuf>,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No notes and no progress on stderr.
    #[arg(long)]
    quiet: bool,
}

/// Parses a time in seconds, which may have a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    match time.as_millis() {
        0 => Err("it leaves no time for any sequence".to_owned()),
        1..=86_400_000 => Ok(time),
        _ => Err("it is more than a day".to_owned()),
    }
}

impl Opts {
    /// Writes tests, and the results to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, no test can be made, or the tests cannot
    /// be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let bounds = self.time.is_some() || self.sequences.is_some();
        if bounds && !self.searches() && !self.quiet {
            say(
                "--time and --sequences bound the search for new sequences; without --model or --universal there is none",
            );
        }
        let program = self.prepare()?;
        let mut tools = program.tools();
        let carved = self.carve(&mut tools)?;
        let until = self.until();
        let searched = self.invent(&mut tools)?;
        let is_repeated = self.is_repeated(&searched);
        let about = [&carved.about, &searched.about];
        let all = carved.tests.len() + searched.tests.len();
        let (observed, generated) = few(carved.tests, searched.tests, &tools.methods);
        let alike = all - observed.len() - generated.len();
        let suite = self.suite(&program)?.until(until);
        let proven = self.prove(&suite, &tools, observed, generated)?;
        let (files, removed) = self.write(&proven.written, &program.classpath, about)?;
        let changes = self.compare(&suite, &mut tools, &proven)?;
        program.told.end();
        let new = proven.stand_ins(&tools.methods, &carved.traced);
        let total: usize = (proven.written.iter())
            .map(|source| source.tests.len())
            .sum();
        let mut report = Report {
            files,
            removed,
            total,
            reason: None,
            alike: alike + proven.alike,
            dropped: proven.dropped,
            counts: self.observed.then_some(carved.counts),
            new,
            searched: searched.tally,
            is_repeated,
            found: searched.found,
            lost: searched.lost,
            left_out: searched.left_out,
            changes,
            confined: confine::guards(),
        };
        report.reason = (total == 0).then(|| self.reason(&report).into_owned());
        report.print(self.format, out)?;
        if let Some(reason) = report.reason.as_ref().filter(|_| !self.quiet) {
            say(format_args!("no tests: {reason}"));
        }
        let is_changed = |changes: &Changes| {
            !changes.tests.is_empty() || changes.narrowed.iter().next().is_some()
        };
        if total == 0 || carved.damaged || report.changes.as_ref().is_some_and(is_changed) {
            return Err(super::Failure.into());
        }
        Ok(())
    }

    /// Whether new sequences are made.
    fn searches(&self) -> bool {
        self.universal || !self.model.is_empty()
    }

    /// Whether the same seed gives the same tests again: not with a time alone, nor if something is
    /// random or takes too long.
    fn is_repeated(&self, searched: &Searched) -> Option<bool> {
        let tally = searched.tally?;
        let is_counted = self.sequences.is_some() && self.time.is_none();
        let by_chance = [Lost::Unstable, Lost::Ended];
        let is_lost = by_chance
            .iter()
            .any(|why| searched.lost.contains_key(why.word()));
        is_counted.then_some(tally.lost == 0 && !is_lost)
    }

    /// The reason why there is no test.
    fn reason(&self, report: &Report) -> Cow<'static, str> {
        let counts = report.counts.as_ref();
        let carved = counts.is_some_and(|counts| counts.carved > 0);
        let called = counts.is_some_and(|counts| {
            !(counts.unmade.is_empty() && counts.omitted.is_empty() && counts.untried.is_empty())
        });
        let executed = report
            .searched
            .iter()
            .flat_map(|tally| tally.executed)
            .sum::<u64>();
        if report.left_out > 0 {
            return format!(
                "of what was found, there was no time to try out {}; give more with --time",
                report.left_out
            )
            .into();
        }
        if report.dropped.count() > 0 {
            return "of what was tried, the tests do not compile, or do not always pass".into();
        }
        match (
            carved || executed > 0,
            report.searched.is_some(),
            !self.classes.is_empty(),
        ) {
            (true, ..) => "nothing that was tried did the same each time, or may be done in a test",
            (false, true, _) if self.sequences == Some(0) => "--sequences 0 leaves nothing to try",
            (false, true, _) => "there was no time to try anything; give more with --time",
            (false, false, _) if called => "a test can make nothing of what the run called",
            (false, false, true) => {
                "the run called no public method that a test could of classes that match --classes"
            }
            (false, false, false) => {
                "the run called no public method that a test could of the public classes of \
                 --classpath: is it of another program?"
            }
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_may_have_parts_of_seconds() {
        assert_eq!(seconds("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(seconds("2"), Ok(Duration::from_secs(2)));
        for wrong in ["0", "0.0001", "-1", "x", "NaN", "1e9"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
