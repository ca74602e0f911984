//! The last phases of `hindsight generate`: tests are written, compiled and run, and another
//! version is compared.

use super::Opts;
use super::prepare::{Program, Tools};
use super::report::{Change, Changes};
use crate::classpath::is_jdk;
use crate::generate::asserted::Checked;
use crate::generate::changes::{Difference, Differences, differences};
use crate::generate::distinct::{ask_together, leave_out_contained};
use crate::generate::emit::{Context as Emit, OBSERVED, Source, Written};
use crate::generate::narrowed;
use crate::generate::sequence::{Method, Methods};
use crate::generate::suite::{Dropped, Order, Suite, Verdict};
use crate::generate::worker::{Setup, Worker};
use crate::progress::Extent;
use anyhow::Result;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The beginning of javac's message about a call that may throw what is neither caught nor
/// declared.
const UNREPORTED: &str = "unreported exception ";

/// Tests that pass.
pub(super) struct Proven {
    pub written: Vec<Source>,
    /// All of them by number.
    checked: BTreeMap<usize, Checked>,
    pub dropped: Dropped,
    /// The number of tests that others contain, or whose text equals that of others.
    pub alike: usize,
    /// Tests with numbers below it are of what a run did.
    natural: usize,
}

impl Proven {
    /// The classes of the JDK objects that such tests make anew in place of those of the run, each
    /// once: recorded classes are not among them.
    pub fn stand_ins(&self, methods: &Methods, recorded: &HashSet<String>) -> Vec<String> {
        let tests = self.checked.range(..self.natural).map(|(_, test)| test);
        let made = tests.flat_map(|test| &test.sequence);
        let made = made.map(|call| methods.get(call.method));
        made.filter(|made| {
            made.is_constructor() && is_jdk(&made.class) && !recorded.contains(&made.class)
        })
        .map(|made| made.class.clone())
        .collect()
    }
}

impl Opts {
    /// A suite for the tests that are tried.
    pub(super) fn suite<'a>(&self, program: &'a Program) -> Result<Suite<'a>> {
        let paths: Vec<PathBuf> = program.classpath.paths().map(Path::to_owned).collect();
        let setup = &program.setup;
        let release = program.classpath.release().min(setup.jdk.version);
        let place = ("suite", paths);
        let suite = Suite::new(setup, self.framework, place, release, &program.told)?;
        Ok(suite)
    }

    /// Writes tests as sources, and keeps those that always pass.
    pub(super) fn prove(
        &self,
        suite: &Suite<'_>,
        tools: &Tools<'_>,
        observed: Vec<Checked>,
        generated: Vec<Checked>,
    ) -> Result<Proven> {
        let limit = tools.program.setup.limit;
        let context = Emit {
            methods: &tools.methods,
            worker: &tools.worker,
            classes: tools.classes,
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
        let mut checked: BTreeMap<usize, Checked> = BTreeMap::new();
        let mut kinds = Vec::new();
        let order = (self.seed, observed.len());
        let (mut first, mut alike) = (0, 0);
        let mut is_merged = false;
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
            alike += written_alike(&sources);
            let failed = suite.prove(&sources, order, limit, &mut tests, &mut dropped)?;
            // Static state that others had left may have replaced a call that was left out.
            let whole = failed.into_iter().filter_map(|(number, test)| {
                dropped.failed -= usize::from(test.whole.is_some());
                Some((number, *test.whole?))
            });
            let whole: BTreeMap<usize, Checked> = whole.collect();
            if !whole.is_empty() {
                // What they leave behind must not matter to the others either.
                tests.extend(whole);
                let sources = suite.compile(&context, &tests, naming, &mut dropped)?;
                alike += written_alike(&sources);
                suite.prove(&sources, order, limit, &mut tests, &mut dropped)?;
            }
            let fewer = match what == OBSERVED {
                true => leave_out_contained(&mut tests, &tools.methods),
                false => ask_together(&mut tests, &tools.wanted, &tools.methods),
            };
            alike += fewer;
            is_merged |= what != OBSERVED && fewer > 0;
            kinds.push((tests.keys().copied().collect::<Vec<_>>(), what, about));
            checked.append(&mut tests);
        }
        // All of them have been compiled before, or their parts.
        let sources =
            |checked: &BTreeMap<usize, Checked>, dropped: &mut Dropped| -> Result<Vec<Source>> {
                let mut written = Vec::new();
                for (numbers, what, about) in &kinds {
                    let tests = numbers.iter().filter_map(|number| {
                        let test = checked.get(number)?;
                        Some((*number, test.clone()))
                    });
                    let naming = (*what, about.as_str());
                    written.extend(suite.compile(&context, &tests.collect(), naming, dropped)?);
                }
                Ok(written)
            };
        let mut written = sources(&checked, &mut dropped)?;
        let is_both = kinds.iter().all(|(numbers, ..)| !numbers.is_empty());
        if is_both || is_merged {
            suite.compile_all(&written)?;
            // They will run together: what some leave behind must not matter to the others. Nor
            // have merged tests run as they are now.
            let before = checked.len();
            suite.prove(&written, order, limit, &mut checked, &mut dropped)?;
            if checked.len() < before {
                written = sources(&checked, &mut dropped)?;
            }
        }
        Ok(Proven {
            written,
            checked,
            dropped,
            alike,
            natural: order.1,
        })
    }

    /// Runs the tests on the other version, if there is one, and reports what differs.
    pub(super) fn compare(
        &self,
        suite: &Suite<'_>,
        tools: &mut Tools<'_>,
        proven: &Proven,
    ) -> Result<Option<Changes>> {
        let program = tools.program;
        let setup = &program.setup;
        let Some((found, other)) = &program.against else {
            return Ok(None);
        };
        let what = "running the tests on the other version";
        program.told.begin(what, Extent::Unknown);
        let order = Order {
            seed: self.seed,
            reverse: false,
            place: 0,
        };
        // They are compiled anew: what they call may have another descriptor and mean the same.
        let paths: Vec<PathBuf> = found.paths().map(Path::to_owned).collect();
        let release = program.classpath.release().max(found.release());
        let release = release.min(setup.jdk.version);
        let place = ("suite-against", paths);
        let ported = Suite::new(setup, self.framework, place, release, &program.told)?;
        let refused = ported.compile_most(&proven.written)?;
        let those = |are_refused: bool| {
            let mut sources = proven.written.clone();
            for source in &mut sources {
                (source.tests).retain(|test| refused.contains_key(&test.number) == are_refused);
            }
            sources
        };
        let mut verdicts = ported.run(&those(false), &other.entries, order, setup.limit)?;
        if !refused.is_empty() {
            // What is missing shows with the existing classes.
            suite.compile_all(&proven.written)?;
            verdicts.extend(suite.run(&those(true), &other.entries, order, setup.limit)?);
        }
        let mut next = Worker::new(Setup {
            entries: other.entries.clone(),
            ..setup.clone()
        });
        let mut tests = Vec::new();
        let mut unloadable: BTreeMap<String, String> = BTreeMap::new();
        let mut lacking = HashSet::new();
        let mut refusals = HashSet::new();
        let mut narrowed = narrowed::All::default();
        for (source, test) in tests_of(&proven.written) {
            let known = proven.checked.get(&test.number);
            let hidden =
                known.map(|known| narrowed.add(known, &tools.methods, &program.classpath, found));
            let refused = refused.get(&test.number);
            let how = match (refused, failure(verdicts.get(&test.number))) {
                (Some(error), _) => format!("does not compile: {error}"),
                (None, Some(how)) => how,
                (None, None) => continue,
            };
            let Differences {
                mut calls,
                unloadable: classes,
            } = match known {
                Some(known) => differences(
                    known,
                    &test.calls,
                    &tools.methods,
                    &mut tools.worker,
                    &mut next,
                )?,
                None => Differences::default(),
            };
            if let (Some(error), Some(known)) = (refused, known)
                && calls.is_empty()
                && error.starts_with(UNREPORTED)
            {
                // It does the same if it is not compiled anew.
                let may_throw =
                    |method: &Method| narrowed::throws_more(method, &program.classpath, found);
                calls.extend(undeclared(known, test, &tools.methods, error, may_throw));
            }
            if refused.is_none() && calls.iter().any(|one| !one.is_missing) {
                // javac has found what is called instead. If nothing else differs, that is the
                // difference.
                calls.retain(|one| !one.is_missing);
            }
            let all = calls.len() + classes.len();
            for one in classes {
                unloadable.entry(one.class).or_insert(one.why);
            }
            // What is missing is reported once, whatever needs it.
            calls.retain(|one| {
                let mut lacks = one.lacks.iter();
                lacks.all(|member| lacking.insert(member.clone()))
            });
            // Nor is what only javac rejects: a member that is not visible any more is reported as
            // such.
            let is_told = match refused {
                Some(error) if all == 0 => {
                    let mut hidden = hidden.iter().flatten();
                    hidden.any(|name| narrowed::refuses(error, name)) || !refusals.insert(error)
                }
                _ => calls.is_empty() && all > 0,
            };
            tests.push(Change {
                class: source.class(),
                test: test.name.clone(),
                how,
                compiles: refused.is_none(),
                is_told,
                differences: calls,
            });
        }
        let unloadable = unloadable.into_iter();
        Ok(Some(Changes {
            tests,
            narrowed,
            unloadable: unloadable
                .map(|(class, why)| format!("{class}: {why}"))
                .collect(),
        }))
    }
}

/// The calls that `may_throw` more than was declared, which javac rejects.
fn undeclared<'a>(
    test: &'a Checked,
    written: &'a Written,
    methods: &'a Methods,
    error: &'a str,
    may_throw: impl Fn(&Method) -> bool + 'a,
) -> impl Iterator<Item = Difference> + 'a {
    let calls = test.sequence.iter().zip(&written.calls);
    calls.filter_map(move |(call, text)| {
        let method = methods.get(call.method);
        may_throw(method).then(|| Difference {
            call: text.clone(),
            old: "declares no exception".to_owned(),
            new: error.to_owned(),
            is_missing: false,
            lacks: Some(format!(
                "{}.{}{}",
                method.class, method.name, method.descriptor
            )),
        })
    })
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

/// The number of tests that are not in these files because the text of others equals theirs.
fn written_alike(written: &[Source]) -> usize {
    written.iter().map(|source| source.alike).sum()
}

/// All tests with their files.
fn tests_of(written: &[Source]) -> impl Iterator<Item = (&Source, &Written)> {
    let each = |source| (std::iter::repeat(source), source);
    let pairs = written.iter().map(each);
    pairs.flat_map(|(same, source): (_, &Source)| same.zip(&source.tests))
}
