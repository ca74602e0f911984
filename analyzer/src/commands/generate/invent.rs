//! The second phase of `hindsight generate`: makes new sequences, and tests of them.

use super::Opts;
use super::prepare::Tools;
use crate::generate::asserted::Checked;
use crate::generate::carve::{Access, is_check};
use crate::generate::complete::{Fits, Wanted, complete};
use crate::generate::distinct::Invented;
use crate::generate::lab::Lab;
use crate::generate::observed::Lost;
use crate::generate::search::{Bounds, Found, Search, Tally};
use crate::generate::sequence::{Arg, Methods};
use crate::generate::surface::Surface;
use crate::generate::worker::{Outcome, Worker};
use crate::model::{Model, document};
use crate::program::source;
use crate::progress::Extent;
use anyhow::{Result, bail};
use hindsight_classfile::ClassFile;
use hindsight_instrument::glob::Globs;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

/// The least number of sequences for which there is time, if time bounds a search.
const MIN_SEQUENCES: u32 = 50;
/// The time below which that number is not guaranteed.
const MIN_LIMIT: Duration = Duration::from_millis(1500);

/// The least processor time that a sequence of a search may take, if others have taken far less and
/// time bounds it.
const MIN_SEARCHED: Duration = Duration::from_millis(50);
/// The least processor time of one that is to become a test: in a JVM that has just begun, all
/// takes longer.
const MIN_TRIED: Duration = Duration::from_secs(1);

/// The least time that tests in the making get after the time is over: if that is short, all may
/// still be in the making.
const MIN_GRACE: Duration = Duration::from_secs(3);

/// The time that it takes to make a test of a sequence that itself takes no time.
const TRYING: Duration = Duration::from_millis(20);

/// The result of a search.
#[derive(Default)]
pub(super) struct Searched {
    pub tests: Vec<Invented>,
    /// The classes that they may concern.
    pub about: HashSet<String>,
    pub tally: Option<Tally>,
    /// The number of sequences that were found and tried.
    pub found: usize,
    /// The number of those that have not become tests, by reason.
    pub lost: BTreeMap<&'static str, (usize, &'static str)>,
    /// The number of sequences for which there was no time.
    pub left_out: usize,
}

impl Opts {
    /// Searches for new sequences, if any are wanted, and makes tests of them.
    pub(super) fn invent(&self, tools: &mut Tools<'_>) -> Result<Searched> {
        if !self.searches() {
            return Ok(Searched::default());
        }
        let bounds = self.bounds();
        let (found, tested, tally) = self.search(&bounds, tools)?;
        // What is found is tried for a while, even if the last sequences have taken long: first
        // what runs the most that nothing before has, then some of each phase.
        let until = bounds.time.map(|time| Instant::now() + time / 2);
        let trying = bounds
            .time
            .map_or(Extent::Unknown, |time| Extent::Time(time / 2));
        tools
            .program
            .told
            .begin("trying out what was found", trying);
        let grace = (bounds.time).map_or(Duration::MAX, |time| (time / 20).max(MIN_GRACE));
        let (mut novel, more): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.novel > 0);
        // If time is short, one that waits long takes it from all others that are in the making
        // beside it.
        let gain = |one: &Found| match bounds.time {
            Some(_) => one.novel as u128 * 1000 / (TRYING + one.lasted).as_millis().max(1),
            None => one.novel as u128,
        };
        novel.sort_by_key(|one| Reverse(gain(one)));
        let found = novel.into_iter().chain(Ends::of(more));
        let lab = Lab::new(&mut tools.methods, &mut tools.worker, &mut tools.other);
        let jobs = found.map(|one| try_out(one, &tested, &tools.wanted, &tools.access, &lab));
        let (came, left_out) = lab.all(jobs, until, grace)?;
        let mut searched = Searched {
            tally: Some(tally),
            found: came.len(),
            left_out,
            ..Searched::default()
        };
        for came in came {
            match came {
                Ok(test) => searched.tests.push(test),
                Err(why) => {
                    let (word, reason) = (why.word(), why.reason());
                    searched.lost.entry(word).or_insert((0, reason)).0 += 1;
                }
            }
        }
        searched.about = tested;
        Ok(searched)
    }

    /// The time when all should be done, if a search begins now that time bounds.
    pub(super) fn until(&self) -> Option<Instant> {
        let half = self.bounds().time.filter(|_| self.searches())?;
        Some(Instant::now() + 2 * half)
    }

    fn bounds(&self) -> Bounds {
        // The other half of the time is for all that comes after.
        let half = |seconds| Duration::from_secs(seconds) / 2;
        Bounds {
            seed: self.seed,
            sequences: self.sequences,
            time: match (self.time, self.sequences) {
                (Some(seconds), _) => Some(half(seconds)),
                (None, Some(_)) => None,
                (None, None) => Some(half(60)),
            },
        }
    }

    /// The sequences that a search finds, and the classes that tests may concern.
    fn search(
        &self,
        bounds: &Bounds,
        tools: &mut Tools<'_>,
    ) -> Result<(Vec<Found>, HashSet<String>, Tally)> {
        let setup = &tools.program.setup;
        let wanted = &tools.program.wanted;
        let told = &tools.program.told;
        told.begin("reading the models", Extent::Unknown);
        let model = self.models()?;
        let classes = source::class_path(&self.classpath, setup.jdk.version)?.classes;
        let classes: Vec<Vec<u8>> = classes.into_iter().map(|raw| raw.bytes).collect();
        // Universal models only have the classes of a run.
        let surface = Surface::new(
            &classes,
            wanted,
            model.as_ref(),
            !self.universal,
            &mut tools.access,
            &mut tools.methods,
        );
        if surface.methods.is_empty() {
            let why = match (wanted.is_empty(), &model) {
                (true, Some(_)) => "is in the model: is it of another program?",
                (true, None) => "has public methods",
                (false, _) if classes.iter().any(|class| is_of(class, wanted)) => {
                    "that matches --classes has methods that a test could call"
                }
                (false, _) => "matches --classes",
            };
            bail!("no public class of the class path {why}");
        }
        let model = model.filter(|_| !self.universal);
        // One sequence must not take what many could use.
        if let Some(time) = bounds.time {
            let limit = (time / MIN_SEQUENCES).max(MIN_LIMIT).min(setup.limit);
            tools.worker.limit(limit);
            tools.worker.hurry(MIN_SEARCHED);
        }
        let extent = match (bounds.time, bounds.sequences) {
            (Some(time), _) => Extent::Time(time),
            (None, Some(number)) => Extent::Number(number, tools.worker.counter()),
            (None, None) => Extent::Unknown,
        };
        told.begin("searching", extent);
        let search = Search::new(
            &surface,
            model.as_ref(),
            &mut tools.methods,
            &mut tools.worker,
            self.seed,
        );
        let (found, tally) = search.run(bounds)?;
        tools.worker.limit(setup.limit);
        if bounds.time.is_some() {
            tools.worker.hurry(MIN_TRIED);
            tools.other.hurry(MIN_TRIED);
        }
        Ok((found, surface.classes().cloned().collect(), tally))
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
}

/// Whether a class file is of a class that some patterns match.
fn is_of(class: &[u8], wanted: &Globs) -> bool {
    let class = ClassFile::parse(class);
    let name = class.as_ref().ok().and_then(|class| class.name().ok());
    name.is_some_and(|name| wanted.matches(&name.to_string_lossy().replace('/', ".")))
}

/// Makes a test of what a search has found.
async fn try_out(
    mut one: Found,
    tested: &HashSet<String>,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    lab: &Lab<'_>,
) -> Result<Invented, Lost> {
    without_checks(&mut one, &lab.methods());
    // The results of earlier calls are asserted in tests of theirs.
    let last = one.sequence.len() - 1;
    let object = one.object;
    let mut own = vec![false; one.sequence.len()];
    for (at, call) in one.sequence.iter().enumerate() {
        own[at] = at == last
            || object.is_some()
                && call.on == object
                && !wanted.changes_nothing(lab.methods().get(call.method));
    }
    let mut kept = vec![false; one.sequence.len()];
    kept[last] = true;
    let checked = Checked {
        sequence: one.sequence,
        assertions: Vec::new(),
        kept,
        fluent: Vec::new(),
        observers: 0,
        class: one.class,
        whole: None,
    };
    let fits = |_: &Worker, at: usize, _: &Outcome| match own[at] {
        true => Fits::Whole,
        false => Fits::Nothing,
    };
    let is_novel = one.novel > 0;
    let mut test = complete(checked, (object, is_novel), &fits, wanted, access, lab).await?;
    if !test.settle(&lab.methods(), |class| tested.contains(class)) {
        return Err(Lost::Silent);
    }
    Ok(Invented { test, is_novel })
}

/// Leaves out calls that only check their argument: what follows does that itself.
fn without_checks(found: &mut Found, methods: &Methods) {
    let mut at = 0;
    while at + 1 < found.sequence.len() {
        let call = &found.sequence[at];
        let passed = match call.args.first() {
            Some(Arg::Var(var)) if is_check(methods.get(call.method)) => *var,
            _ => {
                at += 1;
                continue;
            }
        };
        let gone = at;
        let to = |var: usize| match var.cmp(&gone) {
            Ordering::Less => var,
            Ordering::Equal => passed,
            Ordering::Greater => var - 1,
        };
        found.sequence.remove(gone);
        for later in &mut found.sequence[gone..] {
            *later = later.renumbered(to);
        }
        found.object = found.object.map(to);
    }
}

/// Takes elements of a list alternately from its two ends.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::sequence::{Method, Statement};

    #[test]
    fn what_is_only_looked_at_is_passed_itself() {
        let mut methods = Methods::default();
        let mut call = |class: &str, name: &str, on: Option<usize>, args: &[usize]| Statement {
            method: methods.intern(Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: "(Ljava/lang/Object;)Ljava/lang/Object;".to_owned(),
                is_static: on.is_none(),
                runs: None,
            }),
            on,
            args: args.iter().map(|var| Arg::Var(*var)).collect(),
            may_throw: false,
            shown: false,
        };
        let check = ("java.util.Objects", "requireNonNull");
        let of = |sequence| Found {
            sequence,
            class: "A".to_owned(),
            object: Some(3),
            novel: 0,
            lasted: Duration::ZERO,
        };
        let mut found = of(vec![
            call("A", "of", None, &[]),
            call(check.0, check.1, None, &[0]),
            call(check.0, check.1, None, &[1]),
            call("A", "twin", Some(2), &[]),
            call("A", "same", Some(3), &[1]),
        ]);
        let left = vec![
            call("A", "of", None, &[]),
            call("A", "twin", Some(0), &[]),
            call("A", "same", Some(1), &[0]),
        ];
        // A sequence concerns its last call.
        let last = vec![
            call("A", "of", None, &[]),
            call(check.0, check.1, None, &[0]),
        ];
        without_checks(&mut found, &methods);
        assert_eq!((found.sequence, found.object), (left, Some(1)));
        let mut found = of(last.clone());
        without_checks(&mut found, &methods);
        assert_eq!(found.sequence, last);
    }
}
