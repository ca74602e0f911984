//! `hindsight generate`.

use super::Format;
use crate::classpath::{ClassPath, is_jdk};
use crate::files::{is_ours, writable};
use crate::generate::asserted::Checked;
use crate::generate::carve::{Access, Recorded, Recorder};
use crate::generate::changes::differences;
use crate::generate::complete::{Wanted, complete};
use crate::generate::distinct::{distinct, diverse};
use crate::generate::emit::{Context as Emit, FIRST_LINE, OBSERVED, Source, Written};
use crate::generate::guard::Guarded;
use crate::generate::observed;
use crate::generate::platform::{Classes, Platform};
use crate::generate::search::{Bounds, Search};
use crate::generate::sequence::Methods;
use crate::generate::suite::{Dropped, Order, Suite, Verdict};
use crate::generate::surface::Surface;
use crate::generate::worker::{Outcome, PLACES, Setup, Worker};
use crate::instrument::plan::globs;
use crate::jdk::Jdk;
use crate::junit::{Framework, write_file};
use crate::model::mutable::Mutability;
use crate::model::{Model, document};
use crate::program::source;
use crate::progress::{Extent, Stages};
use crate::temporary;
use crate::text::one_line;
use crate::trace::Trace;
use crate::trace::steps::Steps;
use anyhow::{Context, Result, bail};
use clap::ArgGroup;
use hindsight_instrument::glob::Globs;
use hindsight_tracelog::trace::dictionary::TracedClass;
use report::{Change, Report};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod report;

/// Make regression tests of recorded runs.
///
/// Tests call the program as the run did (--observed), or in new ways: half of the
/// time any public method with any values, half of the time along the models that
/// hindsight model has made (--model), and assert what comes out. Before they are
/// written they run at least four times: in fresh JVMs, in another order each time, and with
/// another directory, language, time zone, clock and number of processors, and with
/// assertions off. Those that do not always pass are dropped, and counted. While
/// tests are tried out, the program cannot end the JVM, start processes, use the
/// network, or write and delete other than temporary files: a test that
/// wants to is dropped too. Why a sequence of a run is no test is said in a line
/// for each reason, and of each one with --format json.
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
    $ hindsight generate --model app.model --mutability mutability.json \
          --classpath app.jar --out tests --sequences 20000 --seed 1

    # Does the next version do the same?
    $ hindsight generate --observed --trace run --classpath app-1.jar --out tests \\
          --against app-2.jar

Exit status:
    0 on success,
    1 if the input is bad, a part of it damaged, no test could be made, or --against
      does something else,
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
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,

    /// Make new sequences without models: any public method in any order. A model
    /// then says only which classes are tested.
    #[arg(long)]
    universal: bool,

    /// Take about so long for new sequences: half of it to search, the rest to try
    /// out what was found; 60 if --sequences says nothing. Compiling the tests and
    /// running them comes on top, mostly some 5 to 30 seconds, and so does --observed.
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
    /// static state is always as at first. Slow. The tests run without: those that
    /// what others leave behind makes fail are dropped all the same.
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

/// Sequences for which there is time at least, where time bounds a search,
const MIN_SEQUENCES: u32 = 50;
/// unless each would have less than this.
const MIN_LIMIT: Duration = Duration::from_millis(1500);

/// Classes of a program that are loaded anew for each sequence that is tried out.
const MAX_RELOADED: usize = 500;

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
        let against = self.against.as_deref().map(ClassPath::open).transpose();
        let against = against.context("--against")?;
        writable(&self.out)?;
        let mutability = self
            .mutability
            .as_deref()
            .map(Mutability::read)
            .transpose()?;
        let told = Stages::new(!self.quiet && std::io::stderr().is_terminal());
        told.begin("reading the program", Extent::Unknown);
        let work = temporary::directory()?;
        let dir = fs::canonicalize(work.path()).context("failed to make a temporary directory")?;
        let searches = self.universal || !self.model.is_empty();
        let guarded = Guarded::new(
            &self.classpath,
            &classpath,
            jdk.version,
            searches,
            &dir.join("guarded"),
        )?;
        let setup = Setup {
            entries: guarded.entries,
            jdk,
            dir,
            limit: Duration::from_secs(self.timeout),
            reset: self.reset_statics,
            recorded: None,
        };
        setup.prepare()?;
        let mut methods = Methods::default();
        let mut worker = Worker::new(setup.clone());
        // What is not the same elsewhere is not asserted, nor what depends on static state that others have
        // left, if it does not take too long to load all classes again and again.
        let elsewhere = Setup {
            reset: self.reset_statics || guarded.count <= MAX_RELOADED,
            ..setup.clone()
        };
        let mut other = Worker::at(&PLACES[1], elsewhere);
        let globs = globs(&self.classes);
        let wanted = Wanted {
            classes: &globs,
            mutability: mutability.as_ref(),
            harmful: RefCell::default(),
        };
        let mut observed = Vec::new();
        let mut counts = observed::Counts::default();
        let platform = Platform::new(&setup.jdk);
        let classes = Classes {
            own: &classpath,
            platform: &platform,
        };
        let mut access = Access::new(classes);
        let mut damaged = false;
        for path in &self.trace {
            told.begin("reading the run", Extent::Unknown);
            let (recorded, lacks) = self.record(path, classes, &told)?;
            damaged |= lacks;
            told.begin("trying what the run did", Extent::Unknown);
            let (made, more) = observed::tests(
                &recorded,
                &wanted,
                &mut access,
                &mut methods,
                &mut worker,
                &mut other,
            )?;
            observed.extend(made);
            counts.add(more);
        }
        let mut alike = 0;
        let mut few = |tests: Vec<Checked>| {
            let all = tests.len();
            let tests = diverse(distinct(tests));
            alike += all - tests.len();
            tests
        };
        let observed = few(observed);
        let mut generated = Vec::new();
        let mut searched = None;
        let mut left_out = 0;
        if searches {
            let release = setup.jdk.version;
            told.begin("reading the models", Extent::Unknown);
            let model = self.models()?;
            let classes = source::class_path(&self.classpath, release)?.classes;
            let classes: Vec<Vec<u8>> = classes.into_iter().map(|raw| raw.bytes).collect();
            // Universal models know of a run no more than which classes there are.
            let surface = Surface::new(
                &classes,
                &globs,
                model.as_ref(),
                !self.universal,
                &mut access,
                &mut methods,
            );
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
            // The other half of the time is for all that comes after.
            let half = |seconds| Duration::from_secs(seconds) / 2;
            let bounds = Bounds {
                seed: self.seed,
                sequences: self.sequences,
                time: match (self.time, self.sequences) {
                    (Some(seconds), _) => Some(half(seconds)),
                    (None, Some(_)) => None,
                    (None, None) => Some(half(60)),
                },
            };
            // One sequence must not take what many could use.
            if let Some(time) = bounds.time {
                worker.limit((time / MIN_SEQUENCES).max(MIN_LIMIT).min(setup.limit));
            }
            let extent = match (bounds.time, bounds.sequences) {
                (Some(time), _) => Extent::Time(time),
                (None, Some(number)) => Extent::Number(number, worker.counter()),
                (None, None) => Extent::Unknown,
            };
            told.begin("searching", extent);
            let search = Search::new(
                &surface,
                model.as_ref(),
                &mut methods,
                &mut worker,
                self.seed,
            );
            let (found, tally) = search.run(&bounds)?;
            searched = Some(tally);
            worker.limit(setup.limit);
            // What is found is tried out for a while, also where the last sequences have taken long: first
            // what runs the most that nothing before has, then some of each phase.
            let until = bounds.time.map(|time| Instant::now() + time / 2);
            let trying = bounds
                .time
                .map_or(Extent::Unknown, |time| Extent::Time(time / 2));
            told.begin("trying out what was found", trying);
            let (mut novel, more): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|one| one.novel > 0);
            novel.sort_by_key(|one| Reverse(one.novel));
            let mut found = novel.into_iter().chain(Ends::of(more));
            loop {
                if until.is_some_and(|until| Instant::now() >= until) {
                    left_out = found.count();
                    break;
                }
                let Some(one) = found.next() else { break };
                // What others do on the way is asserted in tests of theirs.
                let last = one.sequence.len() - 1;
                let on: Vec<Option<usize>> = one.sequence.iter().map(|call| call.on).collect();
                let object = one.object;
                let asks: Vec<bool> = (one.sequence.iter())
                    .map(|call| wanted.changes_nothing(methods.get(call.method)))
                    .collect();
                let own = |_: &Worker, at: usize, _: &Outcome| {
                    at == last || object.is_some() && on[at] == object && !asks[at]
                };
                let mut kept = vec![false; one.sequence.len()];
                kept.last_mut().into_iter().for_each(|last| *last = true);
                let checked = Checked {
                    sequence: one.sequence,
                    assertions: Vec::new(),
                    kept,
                    fluent: Vec::new(),
                    observers: 0,
                    class: one.class,
                    whole: None,
                };
                let came = complete(
                    checked,
                    one.object,
                    &own,
                    &wanted,
                    &access,
                    &mut methods,
                    &mut worker,
                    &mut other,
                )?;
                generated.extend(came);
            }
        }
        let known: HashSet<_> = observed.iter().map(|test| test.sequence.clone()).collect();
        let mut generated = few(generated);
        generated.retain(|test| !known.contains(&test.sequence));
        let paths: Vec<PathBuf> = classpath.paths().map(Path::to_owned).collect();
        let release = classpath.release().min(setup.jdk.version);
        let suite = Suite::new(&setup, self.framework, paths, release, &told)?;
        let context = Emit {
            methods: &methods,
            worker: &worker,
            classes,
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
        let mut checked: BTreeMap<usize, Checked> = BTreeMap::new();
        let mut kinds = Vec::new();
        let natural = observed.len();
        let mut first = 0;
        for (tests, what, how) in [
            (
                observed,
                OBSERVED,
                format!("from recorded runs ({})", list(&self.trace)),
            ),
            (generated, "Generated", how),
        ] {
            let about = line(&how);
            let naming = (what, about.as_str());
            let mut tests: BTreeMap<usize, Checked> = (first..).zip(tests).collect();
            first += tests.len();
            let sources = suite.compile(&context, &tests, naming, &mut dropped)?;
            let failed = suite.prove(
                &sources,
                (self.seed, natural),
                setup.limit,
                &mut tests,
                &mut dropped,
            )?;
            // Static state that others had left may have stood in for a call that was left out.
            let whole = failed.into_iter().filter_map(|(number, test)| {
                dropped.failed -= usize::from(test.whole.is_some());
                Some((number, *test.whole?))
            });
            let whole: BTreeMap<usize, Checked> = whole.collect();
            if !whole.is_empty() {
                // What they leave behind must not matter to the others either.
                tests.extend(whole);
                let sources = suite.compile(&context, &tests, naming, &mut dropped)?;
                suite.prove(
                    &sources,
                    (self.seed, natural),
                    setup.limit,
                    &mut tests,
                    &mut dropped,
                )?;
            }
            let mut unchanged = Dropped::default();
            written.extend(suite.compile(&context, &tests, naming, &mut unchanged)?);
            kinds.push((tests.keys().copied().collect::<Vec<_>>(), what, about));
            checked.append(&mut tests);
        }
        let is_both = kinds.iter().all(|(numbers, ..)| !numbers.is_empty());
        if !written.is_empty() && (is_both || against.is_some()) {
            suite.compile_all(&written)?;
        }
        if is_both {
            // They will run together: what the ones leave behind must not matter to the others.
            let before = checked.len();
            suite.prove(
                &written,
                (self.seed, natural),
                setup.limit,
                &mut checked,
                &mut dropped,
            )?;
            if checked.len() < before {
                written.clear();
                for (numbers, what, about) in &kinds {
                    let tests = numbers.iter().filter_map(|number| {
                        let test = checked.get(number)?;
                        Some((*number, test.clone()))
                    });
                    let mut unchanged = Dropped::default();
                    let naming = (*what, about.as_str());
                    let sources =
                        suite.compile(&context, &tests.collect(), naming, &mut unchanged)?;
                    written.extend(sources);
                }
                if against.is_some() {
                    suite.compile_all(&written)?;
                }
            }
        }
        let (files, removed) = self.write(&written)?;
        told.begin("running the tests on the other version", Extent::Unknown);
        let changes = match self.against.as_deref().zip(against) {
            Some((text, found)) => {
                let other = Guarded::new(
                    text,
                    &found,
                    setup.jdk.version,
                    false,
                    &setup.dir.join("guarded-against"),
                )?;
                let order = Order {
                    seed: self.seed,
                    reverse: false,
                    place: 0,
                };
                let verdicts = suite.run(&written, &other.entries, order, setup.limit)?;
                let mut next = Worker::new(Setup {
                    entries: other.entries,
                    ..setup.clone()
                });
                let mut changes = Vec::new();
                for (source, test) in tests_of(&written) {
                    let Some(how) = failure(verdicts.get(&test.number)) else {
                        continue;
                    };
                    let differences = match checked.get(&test.number) {
                        Some(known) => {
                            differences(known, &test.calls, &methods, &mut worker, &mut next)?
                        }
                        None => Vec::new(),
                    };
                    changes.push(Change {
                        class: source.class(),
                        test: test.name.clone(),
                        how,
                        differences,
                    });
                }
                Some(changes)
            }
            None => None,
        };
        let total: usize = written.iter().map(|source| source.tests.len()).sum();
        let report = Report {
            files,
            removed,
            total,
            alike,
            dropped,
            counts: self.observed.then_some(counts),
            searched,
            left_out,
            changes,
        };
        drop(told);
        report.print(self.format, out)?;
        if total == 0 && !self.quiet {
            eprintln!("hindsight: no tests: {}", self.reason(&report));
        }
        if total == 0 || damaged || report.changes.is_some_and(|changes| !changes.is_empty()) {
            return Err(super::Failure.into());
        }
        Ok(())
    }

    /// Why no test has come of it.
    fn reason(&self, report: &Report) -> &'static str {
        let carved = report
            .counts
            .as_ref()
            .is_some_and(|counts| counts.carved > 0);
        let executed = report
            .searched
            .iter()
            .flat_map(|tally| tally.executed)
            .sum::<u64>();
        match (
            carved || executed > 0,
            report.searched.is_some(),
            !self.classes.is_empty(),
        ) {
            (true, ..) => "nothing that was tried did the same each time, or may be done in a test",
            (false, true, _) => "there was no time to try anything; give more with --time",
            (false, false, true) => {
                "the run used no public class of the program that matches --classes"
            }
            (false, false, false) => {
                "the run used no public class of --classpath: is it of another program?"
            }
        }
    }

    /// What a run did, and whether some of it could not be read.
    fn record(&self, path: &Path, classes: Classes<'_>, told: &Stages) -> Result<(Recorded, bool)> {
        let trace = Trace::open(path)?;
        let mut damaged = trace.is_damaged;
        if !self.quiet {
            for note in &trace.notes {
                told.note(&format!("hindsight: {}: {note}", path.display()));
            }
        }
        if !self.quiet {
            for note in differing(&trace.log.dictionary.traced, classes.own) {
                told.note(&format!("hindsight: {}: {note}", path.display()));
            }
        }
        let mut recorder = Recorder::new(&trace.log.dictionary, classes);
        let places = trace.all();
        let mut steps = Steps::new(&trace.log, &places);
        while let Some(step) = steps.next_step() {
            match step {
                Ok(step) => recorder.take(&step),
                Err(error) => {
                    damaged = true;
                    told.note(&format!(
                        "hindsight: damaged: {}: {error}; the rest of the block is left out",
                        path.display()
                    ));
                }
            }
        }
        if recorder.full && !self.quiet {
            told.note(&format!(
                "hindsight: {}: the run has more objects than are followed; tests are of the first",
                path.display()
            ));
        }
        Ok((recorder.finish(), damaged))
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

    /// Writes the files, and removes those of the same kind and of the same classes
    /// that an earlier run has left: what they say of the program may be over.
    fn write(&self, written: &[Source]) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let mut files = Vec::new();
        // All or none.
        for source in written {
            let path = self.out.join("src/test/java").join(source.path());
            let ours = is_ours(&path, FIRST_LINE.as_bytes())
                .unwrap_or_else(|error| error.kind() == ErrorKind::NotFound);
            if !ours {
                bail!(
                    "{} is there and not ours: it is not overwritten, and nothing is written",
                    path.display()
                );
            }
            files.push(path);
        }
        for (source, path) in written.iter().zip(&files) {
            write_file(path, &source.text)?;
        }
        let kinds: Vec<&str> = [
            (OBSERVED, self.observed),
            ("Generated", self.universal || !self.model.is_empty()),
        ]
        .into_iter()
        .filter_map(|(kind, made)| made.then_some(kind))
        .collect();
        let mut removed = Vec::new();
        // Without any test there is an error, and what was there is better than nothing.
        if !files.is_empty() {
            let root = self.out.join("src/test/java");
            stale(&root, "", &kinds, &globs(&self.classes), &mut removed)?;
            removed.retain(|path| !files.contains(path));
        }
        for path in &removed {
            fs::remove_file(path)
                .with_context(|| format!("failed to remove {}", path.display()))?;
        }
        Ok((files, removed))
    }
}

/// Classes whose difference is told one by one.
const MAX_DIFFERING: usize = 3;

/// In which ways the program's classes are not those that were recorded.
fn differing(traced: &[TracedClass], own: &ClassPath) -> Vec<String> {
    let mut notes = Vec::new();
    let (mut recorded, mut found, mut differ) = (0, 0, 0);
    for class in traced.iter().filter(|class| !is_jdk(&class.name)) {
        recorded += 1;
        let Some(there) = own.info(&class.name) else {
            continue; // a library's tests need no program that uses it
        };
        found += 1;
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
    if found == 0 && recorded > 0 {
        notes.push(format!(
            "none of the {recorded} classes that were recorded is on the class path"
        ));
    }
    notes
}

/// Takes from a list in turns, from its two ends.
struct Ends<T> {
    list: VecDeque<T>,
    last: bool,
}

impl<T> Ends<T> {
    fn of(list: Vec<T>) -> Ends<T> {
        Ends {
            list: list.into(),
            last: false,
        }
    }
}

impl<T> Iterator for Ends<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.last = !self.last;
        match self.last {
            true => self.list.pop_back(),
            false => self.list.pop_front(),
        }
    }
}

/// How a test fails, if it does.
fn failure(verdict: Option<&Verdict>) -> Option<String> {
    Some(match verdict {
        Some(Verdict::Passed) => return None,
        Some(Verdict::Failed(message)) => message.clone(),
        Some(Verdict::TimedOut) => "takes too long".to_owned(),
        Some(Verdict::Died) | None => "ends the JVM".to_owned(),
    })
}

/// All tests with their files.
fn tests_of(written: &[Source]) -> impl Iterator<Item = (&Source, &Written)> {
    let each = |source| (std::iter::repeat(source), source);
    let pairs = written.iter().map(each);
    pairs.flat_map(|(same, source): (_, &Source)| same.zip(&source.tests))
}

/// Finds our files below a directory whose names say that they are of these kinds
/// and of classes that match.
fn stale(
    dir: &Path,
    package: &str,
    kinds: &[&str],
    classes: &Globs,
    found: &mut Vec<PathBuf>,
) -> Result<()> {
    let failed = || format!("failed to read {}", dir.display());
    for entry in fs::read_dir(dir).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().with_context(failed)?.is_dir() {
            stale(&path, &format!("{package}{name}."), kinds, classes, found)?;
            continue;
        }
        let of_class = kinds.iter().find_map(|kind| {
            let (class, rest) = name.rsplit_once(kind)?;
            let number = rest.strip_suffix("Test.java")?;
            (number.bytes().all(|byte| byte.is_ascii_digit())).then_some(class)
        });
        if let Some(class) = of_class
            && (classes.is_empty() || classes.matches(&format!("{package}{class}")))
            && is_ours(&path, FIRST_LINE.as_bytes()).unwrap_or(false)
        {
            found.push(path);
        }
    }
    Ok(())
}
