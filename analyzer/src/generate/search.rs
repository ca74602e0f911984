//! New sequences: at random (universal models), then along inferred models (Palulu, 2.1.2).
//!
//! - `along` takes steps along models, `walk` goes along a model as far as the run.
//! - `blame` finds what makes sequences endless.
//! - `came` evaluates executed sequences.
//! - `lambdas` and `values` make arguments.
//!
//! A component is a sequence that ran without an exception and ended in values that no other had;
//! new sequences are made of components and a call. A modelled component knows the place of its
//! object in the model of its class.

mod along;
mod blame;
mod came;
mod lambdas;
mod values;
mod walk;

use super::Result;
use super::focus::Focus;
use super::random::Random;
use super::sequence::{Arg, MethodId, Methods, Sequence, Statement};
use super::surface::Surface;
use super::worker::{ClassNumber, PARALLEL, Worker};
use crate::model::graph::{Node, ROOT};
use crate::model::values::Life;
use crate::model::{CallId, Model};
use blame::Uses;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};
use values::Maker;
use walk::{Walk, Walked};

/// The number of sequences that are made before they are executed.
const BATCH: usize = 64;
/// Sequences after which other JVMs go on, each of which has executed a part of them: some have changed static state
/// for all that come later.
const RENEWED: u64 = 4096 * PARALLEL as u64;
/// Time that a batch should take.
const MAX_BATCH: Duration = Duration::from_millis(300);
/// The most calls of one sequence, except for walks and what follows them.
const MAX_LENGTH: usize = 30;
/// The percentage of walks among sequences along models.
const WALKS: usize = 4;
/// The most components that give values of one class.
const MAX_PER_CLASS: usize = 200;
/// The most components at one node of a model that end in values that others have had.
const MAX_PER_NODE: usize = 20;
/// The amount of trouble after which a method is not called any more: threads that continue, each
/// of which takes some time.
const MAX_TROUBLE: u32 = 16;
/// The trouble of attempting what is forbidden. Good ends reduce it.
const OF_BLOCKED: u32 = 6;
/// The number of steps along models from which the least tried is taken, and of ways to make an
/// object from which the shortest is.
const COMPARED: usize = 3;
/// The percentage of seldom made calls among sequences along models; each is the one that was made
/// least of some.
const SELDOM: usize = 20;
const SELDOM_COMPARED: usize = 8;
/// The number of latest ones, if there are many.
const LAST: usize = 40;
/// The most tests of one method: by walks, by other steps along models, and at random.
const MAX_TESTS: usize = 8;

/// The bounds of a search.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The seed, on which random choices depend.
    pub seed: u64,
    /// The most sequences that are executed, if this bounds the search.
    pub sequences: Option<u64>,
    /// The time for all.
    pub time: Option<Duration>,
}

/// A sequence from which a test is to be made.
#[derive(Debug, Clone)]
pub struct Found {
    /// The calls; the last may throw.
    pub sequence: Sequence,
    /// The class that it concerns.
    pub class: String,
    /// The object that it concerns.
    pub object: Option<usize>,
    /// The number of basic blocks that it was the first to run.
    pub novel: usize,
    /// The time that it has taken, including waits.
    pub lasted: Duration,
}

/// The result of a search.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// The number of sequences that were executed, at random and along models.
    pub executed: [u64; 2],
    /// The number of sequences that were kept as components, likewise.
    pub components: [u64; 2],
    /// The number of sequences that attempted what is forbidden.
    pub blocked: u64,
    /// The number of sequences that took too long, or ended the JVM.
    pub lost: u64,
}

#[derive(Debug, Clone)]
struct Component {
    sequence: Sequence,
    /// The modelled object, with the class of its model and its place there.
    modelled: Option<Modelled>,
    /// The objects: variable and class.
    objects: Vec<(usize, ClassNumber)>,
    /// The components from which it is built, and those from which these are.
    parts: BTreeSet<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Modelled {
    class: usize,
    object: usize,
    node: Node,
    /// The life that it follows: of the values on edges, it takes those that belong together.
    life: Option<Life>,
}

/// A sequence that is to be executed.
#[derive(Clone)]
struct Candidate {
    sequence: Sequence,
    /// Its last call.
    method: MethodId,
    modelled: Option<Modelled>,
    /// The state of the walk, if it is one.
    walk: Option<Walk>,
    /// The components from which it is built, and those from which these are.
    parts: BTreeSet<usize>,
}

impl Candidate {
    /// Calls that are not to throw, though it goes on if they do: those of a walk before the last.
    fn unwanted(&self) -> Vec<usize> {
        let last = self.sequence.len() - 1;
        let unwanted = self.walk.iter().flat_map(Walk::unwanted);
        unwanted.filter(|at| *at != last).collect()
    }

    /// Whether it is not too long.
    fn fits(&self) -> bool {
        let most = match self.modelled {
            Some(_) => walk::MAX_LENGTH,
            None => MAX_LENGTH,
        };
        self.sequence.len() <= most
    }
}

/// How a sequence was found.
#[derive(Debug, Clone, Copy)]
struct How {
    phase: usize,
    /// Whether it was found by a walk, which seldom reaches the same as steps.
    by_walk: bool,
    /// The number of basic blocks that it was the first to run.
    novel: usize,
    /// The time that it has taken.
    lasted: Duration,
}

/// A search in progress.
pub struct Search<'a> {
    methods: &'a mut Methods,
    worker: &'a mut Worker,
    surface: &'a Surface,
    model: Option<&'a Model>,
    /// The names of the classes with models.
    classes: Vec<String>,
    random: Random,
    components: Vec<Component>,
    modelled: Vec<usize>,
    /// The objects of components that have run what none before them had: component, variable, and
    /// class.
    promising: Vec<(usize, usize, ClassNumber)>,
    /// How often edges of models were tried, by where they begin.
    tried: HashMap<(usize, Node, CallId), u32>,
    /// The results of walks, by class.
    walked: HashMap<usize, Walked>,
    /// How often lives were followed from where walks begin.
    followed: HashMap<(usize, Life), u32>,
    /// Walks that continue without a call.
    again: Vec<Candidate>,
    /// The modelled components by class, and by their place.
    standing: Vec<BTreeMap<Node, Vec<usize>>>,
    focus: Option<Focus>,
    /// Whether time bounds the search, so that it is not reproducible anyway.
    timed: bool,
    /// The classes with models whose tests are wanted.
    targets: Vec<usize>,
    /// The classes to which the search has turned for now.
    turned: Vec<usize>,
    /// How often methods were called, and how often they returned.
    returned: HashMap<MethodId, (u32, u32)>,
    /// The origins of objects of a class: component and variable.
    values: HashMap<ClassNumber, Vec<(usize, usize)>>,
    states: HashSet<(ClassNumber, u64)>,
    /// The [`fingerprint`]s of sequences that were executed; along a model, including their place
    /// in it.
    known: HashSet<u128>,
    /// The number of components by place.
    reached: HashMap<(usize, Node), usize>,
    /// How many values of the pool were tried in turn, by the method and the place of the argument.
    in_turn: HashMap<(MethodId, usize), usize>,
    /// How often calls of a method were endless.
    lost: HashMap<MethodId, u32>,
    /// The results of all sequences that contain each component.
    uses: Vec<Uses>,
    /// The recent trouble with each method.
    trouble: HashMap<MethodId, u32>,
    /// The methods whose last call has ended well.
    proven: HashSet<MethodId>,
    /// The methods that are preferred.
    preferred: Vec<MethodId>,
    /// The basic blocks that sequences have run.
    covered: HashSet<u32>,
    found: Vec<Found>,
    per_method: HashMap<(MethodId, bool, bool, bool), usize>,
    /// The result so far.
    pub tally: Tally,
}

impl<'a> Search<'a> {
    /// A search that has found nothing yet.
    pub fn new(
        surface: &'a Surface,
        model: Option<&'a Model>,
        methods: &'a mut Methods,
        worker: &'a mut Worker,
        seed: u64,
    ) -> Search<'a> {
        let classes: Vec<String> = model.map_or(Vec::new(), |model| {
            let with_edges = model.classes.iter().filter(|(name, class)| {
                let edges = class.graph.edges(ROOT);
                edges.iter().any(|edge| model.call(edge.call).creates())
                    || !edges.is_empty() && !surface.constants_of(name).is_empty()
            });
            with_edges.map(|(name, _)| name.clone()).collect()
        });
        let targets = (0..classes.len()).filter(|at| surface.is_tested(&classes[*at]));
        Search {
            focus: model.map(|model| Focus::new(model, &classes, surface)),
            targets: targets.collect(),
            turned: Vec::new(),
            timed: false,
            standing: vec![BTreeMap::new(); classes.len()],
            returned: HashMap::new(),
            methods,
            worker,
            surface,
            model,
            classes,
            random: Random::new(seed),
            components: Vec::new(),
            modelled: Vec::new(),
            promising: Vec::new(),
            tried: HashMap::new(),
            walked: HashMap::new(),
            followed: HashMap::new(),
            again: Vec::new(),
            values: HashMap::new(),
            states: HashSet::new(),
            known: HashSet::new(),
            reached: HashMap::new(),
            in_turn: HashMap::new(),
            lost: HashMap::new(),
            uses: Vec::new(),
            trouble: HashMap::new(),
            proven: HashSet::new(),
            preferred: Vec::new(),
            covered: HashSet::new(),
            found: Vec::new(),
            per_method: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// Searches, with half of the time at random if there is a model.
    ///
    /// # Errors
    ///
    /// Fails if the worker does.
    pub fn run(mut self, bounds: &Bounds) -> Result<(Vec<Found>, Tally)> {
        self.timed = bounds.time.is_some();
        let started = Instant::now();
        let phases = if self.classes.is_empty() { 1 } else { 2 };
        for phase in 0..phases {
            let sequences = bounds.sequences;
            let most = sequences.map(|whole| whole * (phase as u64 + 1) / phases as u64);
            let time = bounds.time;
            let time = time.map(|whole| whole * (phase as u32 + 1) / phases as u32);
            self.explore(phase, most, time.map(|time| started + time))?;
        }
        self.worker.end_others();
        Ok((self.found, self.tally))
    }

    /// Executes this many further sequences at random, until some time.
    ///
    /// # Errors
    ///
    /// Fails if the worker does.
    pub fn more(&mut self, sequences: u64, until: Option<Instant>) -> Result<()> {
        let executed: u64 = self.tally.executed.iter().sum();
        self.explore(0, Some(executed + sequences), until)
    }

    /// Ends the worker's JVM in an orderly way.
    pub fn rest(&mut self) {
        self.worker.rest();
    }

    /// From now on, prefers these methods, and those that were never called. Returns whether there
    /// are any.
    pub fn prefer(&mut self, names: &[(String, String, String)]) -> bool {
        let names: HashSet<(&str, &str, &str)> = (names.iter())
            .map(|(class, name, descriptor)| (class.as_str(), name.as_str(), descriptor.as_str()))
            .collect();
        let all = self.surface.methods.iter().copied();
        let wanted = all.filter(|&id| {
            let method = self.methods.get(id);
            let name = (&*method.class, &*method.name, &*method.descriptor);
            names.contains(&name) || !self.proven.contains(&id)
        });
        self.preferred = wanted.collect();
        !self.preferred.is_empty()
    }

    /// One phase, until this many sequences were executed in all.
    fn explore(&mut self, phase: usize, most: Option<u64>, until: Option<Instant>) -> Result<()> {
        self.worker.declare(self.methods)?;
        let mut renewed = self.worker.executions();
        if phase == 1 {
            self.worker.renew();
        }
        let mut idle = 0;
        // If sequences cost JVMs, small batches are needed to keep to the time.
        let mut size = BATCH;
        loop {
            let executed: u64 = self.tally.executed.iter().sum();
            let left = most.map_or(BATCH as u64, |most| most.saturating_sub(executed));
            if left == 0 || idle > 200 || until.is_some_and(|end| Instant::now() >= end) {
                return Ok(());
            }
            if phase == 1 {
                self.turn();
            }
            let batch = self.batch(phase, size.min(left as usize));
            idle = if batch.is_empty() { idle + 1 } else { 0 };
            let began = Instant::now();
            self.execute(batch, phase)?;
            if self.worker.executions() - renewed >= RENEWED {
                self.worker.renew();
                renewed = self.worker.executions();
            }
            if until.is_some() {
                size = match began.elapsed() < MAX_BATCH {
                    true => (2 * size).min(BATCH),
                    false => (size / 4).max(1),
                };
            }
        }
    }

    fn batch(&mut self, phase: usize, size: usize) -> Vec<Candidate> {
        let mut batch = Vec::new();
        // One that may be endless is not tried many times at once.
        let mut new = HashSet::new();
        while batch.len() < size
            && let Some(again) = self.again.pop()
        {
            if !self.is_doubtful(&again) && self.is_new(&again) {
                batch.push(again);
            }
        }
        for _ in 0..4 * size {
            if batch.len() == size {
                break;
            }
            let made = match phase {
                1 if self.random.percent(WALKS) => self.walk(),
                // A component that has run something new lately may do so again.
                _ if self.random.percent(15 * (1 + phase)) => self.on_promising(),
                0 => self.at_random(None),
                _ if self.random.percent(SELDOM) => self.seldom(),
                _ if self.random.percent(60) => self.toward(),
                _ if self.modelled.is_empty() || self.random.percent(30) => {
                    let class = self.random.below(self.classes.len());
                    self.begin(class)
                }
                // This is a call that the model does not have, on what it has made.
                _ if self.random.percent(15) => {
                    let place = *self.random.pick(&self.modelled).unwrap_or(&0);
                    let modelled = self.components.get(place).and_then(|one| one.modelled);
                    modelled.and_then(|known| {
                        let own = self.surface.of_class(&self.classes[known.class]);
                        self.at_random(Some((place, known.object, own)))
                    })
                }
                _ => {
                    let place = *self.random.pick(&self.modelled).unwrap_or(&0);
                    self.extend(place)
                }
            };
            if let Some(made) = made
                && made.fits()
                && !self.is_doubtful(&made)
                && (self.proven.contains(&made.method) || new.insert(made.method))
            {
                let is_new = self.is_new(&made);
                // One that is known has been executed, whoever's turn it was.
                if let Some(last) = made.sequence.last() {
                    self.note_turns(last);
                }
                if is_new {
                    batch.push(made);
                }
            }
        }
        batch
    }

    /// Whether a sequence was never executed. It is marked, so that it will not be executed again.
    fn is_new(&mut self, made: &Candidate) -> bool {
        let print = fingerprint(&(&made.sequence, made.modelled));
        self.known.insert(print)
    }

    /// A call on an object of a component that has run something new lately, along its model if it
    /// is a modelled one.
    fn on_promising(&mut self) -> Option<Candidate> {
        let last = self.promising.len().saturating_sub(LAST);
        let (place, var, class) = *self.random.pick(&self.promising[last..])?;
        let modelled = self.components[place].modelled;
        if modelled.is_some_and(|known| known.object == var) && self.random.percent(60) {
            return self.extend(place);
        }
        let own = self.callable(class)?;
        self.at_random(Some((place, var, own)))
    }

    /// The methods that can be called on an object of a class: those of one of its types.
    fn callable(&mut self, class: ClassNumber) -> Option<&'a [MethodId]> {
        let surface = self.surface;
        let supers = surface.supers(&self.worker.class(class).name);
        let supers: Vec<&'a [MethodId]> = (supers.iter())
            .map(|class| surface.of_class(class))
            .filter(|methods| !methods.is_empty())
            .collect();
        self.random.pick(&supers).copied()
    }

    /// A seldom made call on an object of a class of which there is one: what the run has not done
    /// with what it had.
    fn seldom(&mut self) -> Option<Candidate> {
        let mut classes: Vec<ClassNumber> = self.values.keys().copied().collect();
        classes.sort_unstable();
        let mut best: Option<(u32, ClassNumber, MethodId)> = None;
        for _ in 0..SELDOM_COMPARED {
            let class = *self.random.pick(&classes)?;
            let Some(own) = self.callable(class) else {
                continue;
            };
            let method = *self.random.pick(own)?;
            let called = self.returned.get(&method).map_or(0, |(called, _)| *called);
            if best.is_none_or(|(least, ..)| called < least) {
                best = Some((called, class, method));
            }
        }
        let (_, class, method) = best?;
        let from = &self.values[&class];
        let last = from.len().saturating_sub(LAST);
        let (place, var) = *self.random.pick(&from[last..])?;
        self.at_random(Some((place, var, &[method])))
    }

    /// A call of any method; or of one of these, on an object of a component.
    fn at_random(&mut self, on: Option<(usize, usize, &[MethodId])>) -> Option<Candidate> {
        let id = match on {
            Some((.., own)) => *self.random.pick(own)?,
            None if !self.preferred.is_empty() && self.random.percent(60) => {
                *self.random.pick(&self.preferred)?
            }
            None => *self.random.pick(&self.surface.methods)?,
        };
        let method = self.methods.get(id).clone();
        let mut maker = Maker::default();
        let mut receiver = None;
        let mut modelled = None;
        if let Some((place, var, _)) = on {
            if method.is_static || method.is_constructor() || method.is_constant() {
                return None;
            }
            let component = self.components[place].clone();
            let offset = maker.add(place, &component.sequence);
            modelled = component.modelled.map(|known| Modelled {
                object: known.object + offset,
                ..known
            });
            receiver = Some(var + offset);
        } else if !method.is_static && !method.is_constructor() {
            receiver = Some(self.object(&method.class, None, &mut maker)?);
        }
        let (types, _) = method.types();
        let mut args = Vec::new();
        for (at, ty) in types.iter().enumerate() {
            let generic = self.surface.generic(&method, at);
            args.push(self.parameter((id, at), ty, generic, &mut maker)?);
        }
        self.candidate(maker, id, receiver, args, modelled)
    }

    fn candidate(
        &mut self,
        maker: Maker,
        method: MethodId,
        on: Option<usize>,
        args: Vec<Arg>,
        modelled: Option<Modelled>,
    ) -> Option<Candidate> {
        let unusable = self
            .worker
            .declared
            .get(method.0 as usize)
            .is_some_and(Result::is_err);
        if unusable || self.is_out(method) || !self.surface.is_written(method, &args) {
            return None;
        }
        let mut parts = BTreeSet::new();
        for place in maker.offsets.keys() {
            parts.insert(*place);
            parts.extend(&self.components[*place].parts);
        }
        let mut sequence = maker.sequence;
        sequence.push(Statement {
            method,
            on,
            args,
            may_throw: false,
            shown: false,
        });
        Some(Candidate {
            sequence,
            method,
            modelled,
            walk: None,
            parts,
        })
    }

    /// Whether a method is not called any more.
    fn is_out(&mut self, method: MethodId) -> bool {
        let trouble = self.trouble.get(&method);
        trouble.is_some_and(|trouble| *trouble >= MAX_TROUBLE) || self.has_no_end(method)
    }

    fn execute(&mut self, batch: Vec<Candidate>, phase: usize) -> Result<()> {
        let sequences: Vec<Sequence> = batch.iter().map(|one| one.sequence.clone()).collect();
        let unwanted: Vec<Vec<usize>> = batch.iter().map(Candidate::unwanted).collect();
        let executed = self.worker.explore(self.methods, &sequences, &unwanted)?;
        for (candidate, executed) in batch.into_iter().zip(executed) {
            self.tally.executed[phase] += 1;
            self.take(candidate, &executed, phase);
        }
        Ok(())
    }
}

/// A hash that represents a value of which there are too many to keep: a collision is practically
/// impossible. It is the same each time.
fn fingerprint(value: &impl Hash) -> u128 {
    let half = |number: u8| {
        let mut hasher = DefaultHasher::new();
        (number, value).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
