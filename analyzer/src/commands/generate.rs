//! `hindsight generate`.

use super::Format;
use crate::classpath::ClassPath;
use crate::generate::asserted::Checked;
use crate::generate::carve::{Access, Recorder};
use crate::generate::emit::{Context as Emit, FIRST_LINE, Source};
use crate::generate::guard::Guarded;
use crate::generate::observed::{self, Wanted};
use crate::generate::search::{Bounds, Search, Tally};
use crate::generate::sequence::Methods;
use crate::generate::suite::{Dropped, Suite, Verdict};
use crate::generate::surface::Surface;
use crate::generate::worker::{Outcome, Setup, Worker};
use crate::instrument::plan::globs;
use crate::jdk::Jdk;
use crate::junit::{Framework, write_file};
use crate::model::mutable::Mutability;
use crate::model::{Model, document};
use crate::program::source;
use crate::text::{count, one_line};
use crate::trace::Trace;
use crate::trace::steps::Steps;
use anyhow::{Context, Result, bail};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Make regression tests of recorded runs.
///
/// Tests call the program as the run did (--observed), or in new ways: half of the
/// time any public method with any values, half of the time along the models that
/// hindsight model has made (--model), and assert what comes out. Before they are written they run three times, in fresh JVMs and
/// in another order each time; those that do not always pass are dropped, and
/// counted. While tests are tried out, the program cannot end the JVM, start
/// processes, use the network, or write and delete files outside of a scratch
/// directory: a test that wants to is dropped too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # What the run did, as tests.
    $ hindsight generate --observed --trace run --classpath app.jar --out tests

    # The same with what objects say of themselves (methods that change nothing).
    $ hindsight mutability --classpath app.jar --format json > mutability.json
    $ hindsight generate --observed --trace run --mutability mutability.json \\
          --classpath app.jar --out tests

    # New sequences along the models of runs; the same each time.
    $ hindsight generate --model app.model --mutability mutability.json \
          --classpath app.jar --out tests --sequences 20000 --seed 1

    # Does the next version do the same?
    $ hindsight generate --observed --trace run --classpath app-1.jar --out tests \\
          --against app-2.jar

Exit status:
    0 on success,
    1 if the input is bad, no test could be made, or --against does something else,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directory of a run that was recorded with mode=trace; may be given again.
    #[arg(long, value_name = "DIR", requires = "observed")]
    trace: Vec<PathBuf>,

    /// Make tests of what the runs of --trace did.
    #[arg(long, requires = "trace")]
    observed: bool,

    /// Make new sequences along these models, which hindsight model --out has
    /// written; may be given again.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["observed", "universal"])]
    model: Vec<PathBuf>,

    /// Make new sequences without models: any public method in any order. A model
    /// then says only which classes are tested.
    #[arg(long)]
    universal: bool,

    /// Search for new sequences for so long; 60 if --sequences says nothing.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,

    /// Try so many new sequences. With the same seed, the same tests come out if the
    /// program is deterministic and nothing takes too long.
    #[arg(long, value_name = "N")]
    sequences: Option<u64>,

    /// The program: directories and jars, joined as in a JVM's class path.
    #[arg(long, value_name = "CP")]
    classpath: String,

    /// Where the tests go: below src/test/java.
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

    /// Which methods change nothing: what hindsight mutability --format json has
    /// written. They are asked at the end of a test.
    #[arg(long, value_name = "FILE")]
    mutability: Option<PathBuf>,

    /// Run the tests on another version of the program, too, and tell what it does
    /// otherwise.
    #[arg(long, value_name = "CP")]
    against: Option<String>,

    /// What looks random depends on this number alone.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// For which JUnit.
    #[arg(long, value_enum, default_value_t)]
    framework: Framework,

    /// Processor time that one sequence may take; twice as long if it waits.
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    timeout: u64,

    /// Load the program's classes anew for each sequence that is tried, so that
    /// static state is always as at first. Slow.
    #[arg(long)]
    reset_statics: bool,

    /// The JDK to compile and run with; else JAVA_HOME's, else that of the java on
    /// the path.
    #[arg(long, value_name = "DIR")]
    jdk: Option<PathBuf>,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No notes on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes tests, and what became of them to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, no test can be made, or the tests cannot
    /// be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        if self.timeout == 0 {
            bail!("--timeout 0 leaves no time for any sequence");
        }
        let jdk = Jdk::find(self.jdk.as_deref())?;
        let classpath = ClassPath::open(&self.classpath)?;
        let mutability = self
            .mutability
            .as_deref()
            .map(Mutability::read)
            .transpose()?;
        let work = tempfile::tempdir().context("failed to make a temporary directory")?;
        let dir = fs::canonicalize(work.path()).context("failed to make a temporary directory")?;
        let setup = Setup {
            entries: Guarded::new(
                &self.classpath,
                &classpath,
                jdk.version,
                &dir.join("guarded"),
            )?
            .entries,
            jdk,
            dir,
            limit: Duration::from_secs(self.timeout),
            reset: self.reset_statics,
            recorded: None,
        };
        setup.prepare()?;
        let mut methods = Methods::default();
        let mut worker = Worker::new(setup.clone());
        let mut other = Worker::new(setup.clone());
        let globs = globs(&self.classes);
        let wanted = Wanted {
            classes: &globs,
            mutability: mutability.as_ref(),
        };
        let mut observed = Vec::new();
        let mut counts = observed::Counts::default();
        let mut access = Access::new(&classpath);
        for path in &self.trace {
            let recorded = self.record(path, &classpath)?;
            let (made, more) = observed::tests(
                &recorded,
                &wanted,
                &mut access,
                &mut methods,
                &mut worker,
                &mut other,
            )?;
            observed.extend(made);
            counts.carved += more.carved;
            counts.same += more.same;
        }
        let mut generated = Vec::new();
        let mut searched = None;
        if self.universal || !self.model.is_empty() {
            let release = setup.jdk.version;
            let model = self.models()?;
            let classes = source::class_path(&self.classpath, release)?.classes;
            let classes: Vec<Vec<u8>> = classes.into_iter().map(|raw| raw.bytes).collect();
            let surface = Surface::new(&classes, &globs, model.as_ref(), &mut access, &mut methods);
            if surface.methods.is_empty() {
                bail!(
                    "no public class of the class path {}",
                    match (globs.is_empty(), &model) {
                        (false, _) => "matches --classes",
                        (true, Some(_)) => "is in the model: is it of another program?",
                        (true, None) => "has public methods",
                    }
                );
            }
            let model = model.filter(|_| !self.universal);
            let bounds = Bounds {
                seed: self.seed,
                sequences: self.sequences,
                time: match (self.time, self.sequences) {
                    (Some(seconds), _) => Some(Duration::from_secs(seconds)),
                    (None, Some(_)) => None,
                    (None, None) => Some(Duration::from_secs(60)),
                },
            };
            let search = Search::new(
                &surface,
                model.as_ref(),
                &mut methods,
                &mut worker,
                self.seed,
            );
            let (found, tally) = search.run(&bounds)?;
            searched = Some(tally);
            for one in found {
                // What others do on the way is asserted in tests of theirs.
                let last = one.sequence.len() - 1;
                let on: Vec<Option<usize>> = one.sequence.iter().map(|call| call.on).collect();
                let object = one.object;
                let own = |_: &Worker, at: usize, _: &Outcome| {
                    at == last || object.is_some() && on[at] == object
                };
                let mut kept = vec![false; one.sequence.len()];
                kept.last_mut().into_iter().for_each(|last| *last = true);
                let checked = Checked {
                    sequence: one.sequence,
                    assertions: Vec::new(),
                    kept,
                    observers: 0,
                    class: one.class,
                };
                generated.extend(observed::complete(
                    checked,
                    one.object,
                    &own,
                    &wanted,
                    &access,
                    &mut methods,
                    &mut worker,
                    &mut other,
                )?);
            }
        }
        let generated = observed::distinct(generated);
        let paths: Vec<PathBuf> = classpath.paths().map(Path::to_owned).collect();
        let suite = Suite::new(&setup, self.framework, paths, "suite")?;
        let context = Emit {
            methods: &methods,
            worker: &worker,
            classpath: &classpath,
            framework: self.framework,
        };
        let list = |paths: &[PathBuf]| {
            let names = paths.iter().map(|path| path.display().to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        let how = match (self.universal, &self.model) {
            (true, _) => "at random".to_owned(),
            (false, models) => format!("along models of recorded runs ({})", list(models)),
        };
        let line = |how: &str| {
            format!(
                "Written by hindsight {} {how}. A test that fails shows what has changed since.",
                crate::VERSION
            )
        };
        let mut dropped = Dropped::default();
        let mut written = Vec::new();
        let mut first = 0;
        for (tests, what, how) in [
            (
                observed,
                "Observed",
                format!("from recorded runs ({})", list(&self.trace)),
            ),
            (generated, "Generated", how),
        ] {
            let about = line(&how);
            let naming = (what, about.as_str());
            let mut tests: BTreeMap<usize, Checked> = (first..).zip(tests).collect();
            first += tests.len();
            let sources = suite.compile(&context, &tests, naming, &mut dropped)?;
            suite.prove(&sources, self.seed, setup.limit, &mut tests, &mut dropped)?;
            written.extend(suite.compile(&context, &tests, naming, &mut Dropped::default())?);
        }
        if !written.is_empty() && self.against.is_some() {
            suite.compile_all(&written)?;
        }
        let files = self.write(&written)?;
        let changes = match &self.against {
            Some(against) => {
                let found = ClassPath::open(against)?;
                let other = Guarded::new(
                    against,
                    &found,
                    setup.jdk.version,
                    &setup.dir.join("guarded-against"),
                )?;
                Some(suite.run(&written, &other.entries, self.seed, setup.limit)?)
            }
            None => None,
        };
        let changes = changes.map(|verdicts| changes_of(&written, &verdicts));
        let total: usize = written.iter().map(|source| source.tests.len()).sum();
        let report = Report {
            files,
            total,
            dropped,
            counts: self.observed.then_some(counts),
            searched,
            changes,
        };
        report.print(self.format, out)?;
        if total == 0 || report.changes.is_some_and(|changes| !changes.is_empty()) {
            return Err(super::Failure.into());
        }
        Ok(())
    }

    fn record(
        &self,
        path: &Path,
        classpath: &ClassPath,
    ) -> Result<crate::generate::carve::Recorded> {
        let trace = Trace::open(path)?;
        if !self.quiet {
            for note in &trace.notes {
                eprintln!("hindsight: {}: {note}", path.display());
            }
        }
        let mut recorder = Recorder::new(&trace.log.dictionary, classpath);
        let places = trace.all();
        let mut steps = Steps::new(&trace.log, &places);
        while let Some(step) = steps.next_step() {
            match step {
                Ok(step) => recorder.take(&step),
                Err(error) => eprintln!(
                    "hindsight: damaged: {}: {error}; the rest of the block is left out",
                    path.display()
                ),
            }
        }
        if recorder.full && !self.quiet {
            eprintln!(
                "hindsight: {}: the run has more objects than are followed; tests are of the first",
                path.display()
            );
        }
        Ok(recorder.finish())
    }

    fn models(&self) -> Result<Option<Model>> {
        let mut all: Option<Model> = None;
        for path in &self.model {
            let model = document::read(path)?;
            match &mut all {
                Some(all) => all.merge(&model),
                None => all = Some(model),
            }
        }
        Ok(all)
    }

    fn write(&self, written: &[Source]) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for source in written {
            let path = self.out.join("src/test/java").join(source.path());
            let theirs = fs::read_to_string(&path).is_ok_and(|text| !text.starts_with(FIRST_LINE));
            if theirs {
                bail!(
                    "{} is there and not ours: it is not overwritten",
                    path.display()
                );
            }
            write_file(&path, &source.text)?;
            files.push(path);
        }
        Ok(files)
    }
}

/// A test that another version does not pass: its class and name, and how.
struct Change {
    class: String,
    test: String,
    how: String,
}

fn changes_of(written: &[Source], verdicts: &BTreeMap<usize, Verdict>) -> Vec<Change> {
    let mut changes = Vec::new();
    for source in written {
        for (number, name, _) in &source.tests {
            let how = match verdicts.get(number) {
                Some(Verdict::Passed) => continue,
                Some(Verdict::Failed(message)) => message.clone(),
                Some(Verdict::TimedOut) => "takes too long".to_owned(),
                Some(Verdict::Died) | None => "ends the JVM".to_owned(),
            };
            changes.push(Change {
                class: source.class(),
                test: name.clone(),
                how,
            });
        }
    }
    changes
}

struct Report {
    files: Vec<PathBuf>,
    total: usize,
    dropped: Dropped,
    counts: Option<observed::Counts>,
    searched: Option<Tally>,
    changes: Option<Vec<Change>>,
}

impl Report {
    fn print(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Text => self.text(out),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, &self.json())?;
                writeln!(out)?;
                Ok(())
            }
        }
    }

    fn text(&self, out: &mut dyn Write) -> Result<()> {
        let Dropped {
            not_compiled,
            failed,
            flaky,
            timed_out,
        } = self.dropped;
        if let Some(counts) = self.counts {
            writeln!(
                out,
                "{} of {} carved sequences did the same again",
                counts.same, counts.carved
            )?;
        }
        if let Some(tally) = self.searched {
            for (phase, how) in ["at random", "along models"].into_iter().enumerate() {
                if tally.executed[phase] > 0 {
                    writeln!(
                        out,
                        "{} sequences {how}, {} built upon",
                        tally.executed[phase], tally.components[phase]
                    )?;
                }
            }
            if tally.blocked + tally.lost > 0 {
                writeln!(
                    out,
                    "{} wanted what they must not, {} took too long or ended the JVM",
                    tally.blocked, tally.lost
                )?;
            }
        }
        writeln!(
            out,
            "{} in {}",
            count(self.total, "test"),
            count(self.files.len(), "file")
        )?;
        for (number, why) in [
            (not_compiled, "do not compile"),
            (failed, "failed in a JVM of their own"),
            (flaky, "passed in some orders only"),
            (timed_out, "took too long"),
        ] {
            if number > 0 {
                writeln!(out, "dropped {number}: {why}")?;
            }
        }
        for file in &self.files {
            writeln!(out, "  {}", file.display())?;
        }
        if let Some(changes) = &self.changes {
            writeln!(
                out,
                "the other version passes {} of {}",
                self.total - changes.len(),
                self.total
            )?;
            for change in changes {
                let how = one_line(&change.how, 400);
                writeln!(out, "  {}.{}: {how}", change.class, change.test)?;
            }
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let changes = self.changes.as_ref().map(|changes| {
            let rows = changes.iter().map(
                |change| json!({"class": change.class, "test": change.test, "how": change.how}),
            );
            rows.collect::<Vec<_>>()
        });
        json!({
            "schema": "hindsight.generate/1",
            "tests": self.total,
            "files": self.files,
            "observed": self.counts.map(|counts| json!({
                "carved": counts.carved,
                "same": counts.same,
            })),
            "searched": self.searched.map(|tally| json!({
                "at_random": {"executed": tally.executed[0], "components": tally.components[0]},
                "along_models": {"executed": tally.executed[1], "components": tally.components[1]},
                "blocked": tally.blocked,
                "lost": tally.lost,
            })),
            "dropped": {
                "not_compiled": self.dropped.not_compiled,
                "failed": self.dropped.failed,
                "flaky": self.dropped.flaky,
                "timed_out": self.dropped.timed_out,
            },
            "changes": changes,
        })
    }
}
