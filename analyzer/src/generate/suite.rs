//! Compiles emitted tests and runs them in fresh JVMs, in different orders.
//!
//! - `compile` compiles them and drops those that javac rejects.
//! - `late` finds tests that do harm later.
//! - `spoilers` finds tests that make others fail.

mod compile;
mod late;
mod spoilers;

use super::Result;
use super::asserted::Checked;
use super::emit::{Source, Written};
use super::worker::{PLACES, Setup, Task};
use crate::confine;
use crate::files::failed;
use crate::jdk::child::{Ended, wait};
use crate::junit::{Framework, write_file};
use crate::progress::{Extent, Stages};
use compile::Compiled;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const ASSERTIONS: &str = include_str!("stubs/Assertions.java");
const EXECUTABLE: &str = include_str!("stubs/Executable.java");
const ASSERT: &str = include_str!("stubs/Assert.java");
const RUNNABLE: &str = include_str!("stubs/ThrowingRunnable.java");

/// The status of a JVM that leaves the remaining tests to another one, as in `Suite.java`.
const TIRED: i32 = 3;
/// The line that says that another thread attempted what a test must not do, as in `Suite.java`.
const HARM: &str = "harm";
/// How often tests are searched for that do harm later, because the first ones may do it for
/// others.
const MAX_HARMFUL: usize = 3;
/// The runs of a suite before it is written. Each second one is the reverse of the one before, so
/// that either of two tests comes first at times.
pub const RUNS: u64 = 4;
/// The most runs, if some tests pass only in some orders.
const MAX_RUNS: u64 = 16;
/// The size up to which a suite runs twice as often, which takes seconds.
const SMALL: usize = 2000;

/// The order in which tests run, and the place.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// The seed, on which random choices depend.
    pub seed: u64,
    /// Whether the order is reversed.
    pub reverse: bool,
    /// The number of the place.
    pub place: usize,
}

/// The numbers of dropped tests, by reason.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The number of tests that do not compile.
    pub not_compiled: usize,
    /// The message of javac about the first of these.
    pub error: Option<String>,
    /// The reason why the first of those tests cannot even be written that cannot.
    pub unwritten: Option<String>,
    /// The number of new sequences that can only be written with types without arguments: they
    /// pass what no typed caller could.
    pub untyped: usize,
    /// The number of tests that failed in all runs.
    pub failed: usize,
    /// The number of tests that failed in some runs.
    pub flaky: usize,
    /// The number of tests that passed, but made others fail behind them.
    pub spoiling: usize,
    /// The number of tests that passed, but left something to be done later that attempted what a
    /// test must not do.
    pub harmful: usize,
    /// The number of tests that took too long.
    pub timed_out: usize,
}

impl Dropped {
    /// The number of all of them.
    pub fn count(&self) -> usize {
        self.not_compiled
            + self.untyped
            + self.failed
            + self.flaky
            + self.spoiling
            + self.harmful
            + self.timed_out
    }
}

/// The end of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Well.
    Passed,
    /// It failed with this exception.
    Failed(String),
    /// It did not end in time.
    TimedOut,
    /// The JVM ended.
    Died,
}

/// A test in the worker's list: its number, class and method.
type Listed = (usize, String, String);

/// The tests in an order.
fn listed(written: &[Source], order: Order) -> Vec<Listed> {
    let tests = written.iter().flat_map(|source| {
        let class = source.class();
        let of = |test: &Written| (test.number, class.clone(), test.name.clone());
        source.tests.iter().map(of).collect::<Vec<_>>()
    });
    let mut list: Vec<Listed> = tests.collect();
    let mut random = super::random::Random::new(order.seed);
    for at in (1..list.len()).rev() {
        list.swap(at, random.below(at + 1));
    }
    if order.reverse {
        list.reverse();
    }
    list
}

/// A run of all tests.
struct Run {
    list: Vec<Listed>,
    place: usize,
    ran: Ran,
}

/// The ends of tests.
#[derive(Default)]
struct Ran {
    verdicts: BTreeMap<usize, Verdict>,
    /// The tests of each JVM in which another thread attempted what a test must not do.
    harmful: Vec<Vec<Listed>>,
}

/// Tests that are being tried.
pub struct Suite<'a> {
    setup: &'a Setup,
    framework: Framework,
    /// The program's classes as they are.
    classpath: Vec<PathBuf>,
    /// The release of Java, for javac.
    release: u32,
    dir: PathBuf,
    told: &'a Stages,
    /// The time until which the search goes on for why tests do not always pass.
    until: Option<Instant>,
    /// The sources of the compiled classes.
    compiled: Mutex<Compiled>,
}

impl<'a> Suite<'a> {
    /// A suite in a directory of its own, with this name, of sources for a release of Java.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn new(
        setup: &'a Setup,
        framework: Framework,
        (name, classpath): (&str, Vec<PathBuf>),
        release: u32,
        told: &'a Stages,
    ) -> Result<Suite<'a>> {
        let dir = setup.dir.join(name);
        let arrays = |lines: &[&str]| -> String {
            let methods = lines.iter().map(|ty| {
                format!(
                    "    public static void assertArrayEquals({ty}[] expected, {ty}[] actual) {{\n        \
                     check(java.util.Arrays.equals(expected, actual), java.util.Arrays.toString(expected),\n                \
                     java.util.Arrays.toString(actual));\n    }}\n"
                )
            });
            methods.collect()
        };
        let common = ["boolean", "byte", "char", "short", "int", "long", "Object"];
        let all = [&common[..], &["float", "double"]].concat();
        let test = |package: &str| format!("package {package};\npublic @interface Test {{}}\n");
        for (path, text) in [
            (
                "junit5/Assertions.java",
                ASSERTIONS.replace("@ARRAYS@", &arrays(&all)),
            ),
            ("junit5/Executable.java", EXECUTABLE.to_owned()),
            ("junit5/Test.java", test("org.junit.jupiter.api")),
            (
                "junit4/Assert.java",
                ASSERT.replace("@ARRAYS@", &arrays(&common)),
            ),
            ("junit4/ThrowingRunnable.java", RUNNABLE.to_owned()),
            ("junit4/Test.java", test("org.junit")),
        ] {
            write_file(&dir.join("stubs").join(path), text)?;
        }
        Ok(Suite {
            setup,
            framework,
            classpath,
            release,
            dir,
            told,
            until: None,
            compiled: Mutex::default(),
        })
    }

    /// The same, with only the required runs after `until`.
    #[must_use]
    pub fn until(mut self, until: Option<Instant>) -> Suite<'a> {
        self.until = until;
        self
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn classes(&self) -> PathBuf {
        self.dir.join("classes")
    }

    /// Runs tests on the program's classes in `entries`. If a JVM ends, another one follows.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started.
    pub fn run(
        &self,
        written: &[Source],
        entries: &[PathBuf],
        order: Order,
        limit: Duration,
    ) -> Result<BTreeMap<usize, Verdict>> {
        let ran = self.run_list(listed(written, order), entries, order.place, limit)?;
        Ok(ran.verdicts)
    }

    /// Runs these tests in this order.
    fn run_list(
        &self,
        mut left: Vec<Listed>,
        entries: &[PathBuf],
        place: usize,
        limit: Duration,
    ) -> Result<Ran> {
        // Those of another run at the same time differ.
        let place = place % PLACES.len();
        let list = self.dir.join(format!("list{place}"));
        let results = self.dir.join(format!("results{place}"));
        let place = &PLACES[place];
        let mut ran = Ran::default();
        while !left.is_empty() {
            let lines = left
                .iter()
                .map(|(number, class, name)| format!("{number}\t{class}\t{name}\n"));
            write_file(&list, lines.collect::<String>())?;
            // The results of another JVM do not belong here. The JVM may write the file, but not
            // create it.
            write_file(&results, "")?;
            let mut command = self.setup.command(Task::Tests(&results), place);
            command
                .arg(limit.as_millis().to_string())
                .args([&list, &results])
                .arg(self.classes())
                .args(entries.iter().map(|entry| self.setup.at(place, entry)))
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let patience = limit * (left.len() as u32).min(1000) + Duration::from_secs(120);
            let child =
                confine::spawn(command).map_err(failed("run java of", &self.setup.jdk.home))?;
            let ended = wait(child, patience)?;
            let (told, is_harmful) = read(&results);
            let mut told_all: BTreeSet<usize> = told.keys().copied().collect();
            if is_harmful {
                let those = left.iter().filter(|test| told_all.contains(&test.0));
                ran.harmful.push(those.cloned().collect());
            }
            let verdicts = &mut ran.verdicts;
            let tired = matches!(ended, Ended::Exit(status) if status.code() == Some(TIRED));
            verdicts.extend(told);
            if told_all.len() < left.len()
                && (!tired || told_all.is_empty())
                && let Some((first, ..)) = left.iter().find(|test| !told_all.contains(&test.0))
                && !matches!(
                    verdicts.get(&left[told_all.len().saturating_sub(1)].0),
                    Some(Verdict::TimedOut)
                )
            {
                let verdict = match ended {
                    Ended::TimedOut { .. } => Verdict::TimedOut,
                    Ended::Exit(_) => Verdict::Died,
                };
                verdicts.insert(*first, verdict);
                told_all.insert(*first);
            }
            left.retain(|test| !told_all.contains(&test.0));
        }
        Ok(ran)
    }

    /// Runs a suite in fresh JVMs, in different orders, at different places. If some tests do not
    /// always pass, others may not either: it continues as long as more are found.
    fn runs(&self, written: &[Source], seed: u64, limit: Duration) -> Result<Vec<Run>> {
        let count: usize = written.iter().map(|source| source.tests.len()).sum();
        let least = if count <= SMALL { 2 * RUNS } else { RUNS };
        let done = Arc::new(AtomicU64::new(0));
        let extent = Extent::Number(least, done.clone());
        self.told.begin("running the tests", extent);
        let mut runs: Vec<Run> = Vec::new();
        let (mut passed, mut failed) = (BTreeSet::new(), BTreeSet::new());
        let (mut flaky, mut calm) = (0, 0);
        let one = |run: u64| -> Result<Run> {
            let order = Order {
                seed: seed.wrapping_add(run / 2),
                reverse: run % 2 == 1,
                place: run as usize,
            };
            let (list, place) = (listed(written, order), order.place);
            let ran = self.run_list(list.clone(), &self.setup.entries, place, limit)?;
            done.fetch_add(1, Ordering::Relaxed);
            Ok(Run { list, place, ran })
        };
        for pair in 0..MAX_RUNS / 2 {
            let run = 2 * pair;
            let is_enough = run >= least && (flaky == 0 || calm >= RUNS);
            if is_enough || run >= RUNS && self.is_late() {
                break;
            }
            // Each has a JVM and a place of its own.
            let both = thread::scope(|scope| {
                let second = scope.spawn(|| one(run + 1));
                [Ok(one(run)), second.join()]
            });
            for run in both {
                let run = run.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                for (test, verdict) in &run.ran.verdicts {
                    match verdict {
                        Verdict::Passed => passed.insert(*test),
                        _ => failed.insert(*test),
                    };
                }
                let now = passed.intersection(&failed).count();
                calm = if now > flaky { 0 } else { calm + 1 };
                flaky = now;
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// Those of these tests that end differently on the program's classes as they are: nothing of
    /// the JDK is replaced there, whose names or bytes a test may assert. Only the kernel keeps
    /// them from doing harm, so they do not run without its support.
    fn otherwise(
        &self,
        written: &[Source],
        these: &BTreeSet<usize>,
        seed: u64,
        limit: Duration,
    ) -> Result<BTreeSet<usize>> {
        if confine::guards().is_empty() {
            return Ok(BTreeSet::new());
        }
        let order = Order {
            seed,
            reverse: false,
            place: 0,
        };
        let mut list = listed(written, order);
        list.retain(|(test, ..)| these.contains(test));
        let ran = self.run_list(list, &self.classpath, order.place, limit)?;
        let verdicts = ran.verdicts.into_iter();
        let failed = verdicts.filter(|(_, verdict)| *verdict != Verdict::Passed);
        Ok(failed.map(|(test, _)| test).collect())
    }

    /// Runs a suite in fresh JVMs and drops the tests that do not always pass, or others that make
    /// them fail. Returns those that never pass. The tests with numbers below `natural` are of what
    /// the run did.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started.
    pub fn prove(
        &self,
        written: &[Source],
        (seed, natural): (u64, usize),
        limit: Duration,
        tests: &mut BTreeMap<usize, Checked>,
        dropped: &mut Dropped,
    ) -> Result<BTreeMap<usize, Checked>> {
        let mut written = written.to_vec();
        let mut runs = self.runs(&written, seed, limit)?;
        for _ in 0..MAX_HARMFUL {
            let harmful = self.harmful(&runs, limit)?;
            if harmful.is_empty() {
                break;
            }
            dropped.harmful += harmful.len();
            tests.retain(|number, _| !harmful.contains(number));
            without(&mut written, &harmful);
            runs = self.runs(&written, seed, limit)?;
        }
        let what = "looking for tests that make others fail";
        self.told.begin(what, Extent::Unknown);
        let spoilers = self.spoilers(&runs, natural, limit)?;
        if !spoilers.is_empty() {
            // Without them, others may pass.
            without(&mut written, &spoilers);
            runs = self.runs(&written, seed, limit)?;
            dropped.spoiling += spoilers.len();
            tests.retain(|number, _| !spoilers.contains(number));
        }
        let count = runs.len() as u64;
        let mut failures: BTreeMap<usize, u64> = BTreeMap::new();
        let mut late: BTreeSet<usize> = BTreeSet::new();
        for (test, verdict) in runs.iter().flat_map(|run| &run.ran.verdicts) {
            if *verdict == Verdict::TimedOut {
                late.insert(*test);
            }
            *failures.entry(*test).or_default() += u64::from(*verdict != Verdict::Passed);
        }
        let there: BTreeSet<usize> = written
            .iter()
            .flat_map(|source| source.tests.iter().map(|test| test.number))
            .collect();
        let what = "running the tests on the program as it is";
        self.told.begin(what, Extent::Unknown);
        let passed = failures.iter().filter(|(_, failures)| **failures == 0);
        for test in self.otherwise(
            &written,
            &passed.map(|(test, _)| *test).collect(),
            seed,
            limit,
        )? {
            failures.insert(test, 1);
        }
        let mut all = std::mem::take(tests);
        let mut failed = BTreeMap::new();
        for (test, failures) in failures {
            let checked = all.remove(&test).filter(|_| there.contains(&test));
            if late.contains(&test) {
                dropped.timed_out += 1;
            } else if failures == count {
                dropped.failed += 1;
                failed.extend(checked.map(|checked| (test, checked)));
            } else if failures == 0 {
                tests.extend(checked.map(|checked| (test, checked)));
            } else {
                dropped.flaky += 1;
            }
        }
        Ok(failed)
    }
}

/// Leaves out tests.
fn without(written: &mut [Source], these: &BTreeSet<usize>) {
    for source in written {
        source.tests.retain(|test| !these.contains(&test.number));
    }
}

/// Parses the ends of tests, and whether another thread attempted what a test must not do.
fn read(path: &Path) -> (BTreeMap<usize, Verdict>, bool) {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let number = parts.next()?.parse().ok()?;
        let verdict = match parts.next()? {
            "passed" => Verdict::Passed,
            "failed" => Verdict::Failed(parts.next()?.to_owned()),
            "timeout" => Verdict::TimedOut,
            _ => return None,
        };
        Some((number, verdict))
    };
    let is_harmful = text.lines().any(|line| line == HARM);
    (text.lines().filter_map(line).collect(), is_harmful)
}
