//! The child JVM that executes sequences: starting it, talking to it, starting it
//! again where a sequence has ended it. What is said is described in the worker's
//! `Worker.java`.

mod batches;
mod endless;
mod environment;
mod running;
mod setup;
mod wire;

pub use endless::Endless;
use running::Running;
pub use setup::{PLACES, Place, Recording, Setup, Task};
use wire::{Batch, Told};
pub use wire::{class_get_name, primitive, unboxed};

use super::sequence::{Methods, Sequence};
use crate::model::values::Literal;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How many times as long as any before it a sequence may take that can be stopped.
const PATIENCE: u32 = 4;
/// JVMs in which a search goes on at the same time: what the one has done to static state, the other need not know.
/// It is the same number on each machine, for what a search finds depends on it.
pub const PARALLEL: usize = 2;

/// A class, by its place in [`Worker::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassNumber(pub u32);

/// What the worker has told of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// As `Class.getName` gives it.
    pub name: String,
    /// Whether a source anywhere can name it.
    pub accessible: bool,
    /// All its supertypes.
    pub supers: Vec<String>,
}

impl Class {
    /// Whether its objects are of a type, named as `Class.getName` does.
    pub fn is_a(&self, name: &str) -> bool {
        self.name == name || self.supers.iter().any(|known| known == name)
    }
}

/// Whose code an exception comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thrower {
    /// The JDK's, or nobody knows.
    Platform,
    /// What stands in for what the program must not do.
    Guard,
    /// The program's, or what the JVM throws there.
    Program,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It returned nothing,
    Void,
    /// null,
    Null,
    /// a number, text or constant,
    Literal(Literal),
    /// an object: perhaps the same as what an earlier call returned, and its text if it was asked for,
    Object(ClassNumber, Option<usize>, Option<Said>),
    /// or a short array of literals.
    Array(ClassNumber, Vec<Literal>),
    /// It threw: what, with which message, and whose code has made that.
    Threw(ClassNumber, Option<String>, Thrower),
    /// It could not be called.
    Failed(String),
}

/// What an object says when it is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Its text.
    Text(String),
    /// What is in an array, or in a collection of arrays.
    Elements(String),
    /// How many elements an array, collection or map has that says too much, or not the same each time.
    Size(String),
}

impl Said {
    /// The text.
    pub fn text(&self) -> &str {
        match self {
            Said::Text(text) | Said::Elements(text) | Said::Size(text) => text,
        }
    }
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Well,
    /// It took too long.
    TimedOut,
    /// The JVM ended.
    Died,
    /// Memory ran out.
    Memory,
}

/// Where a sequence has not come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stuck {
    /// In which of its calls,
    pub at: usize,
    /// or while what that has returned was asked for its text.
    pub is_shown: bool,
}

/// What came of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// Of each call that was reached.
    pub outcomes: Vec<Outcome>,
    /// Objects at the end, if it was asked for: variable, class, and a number for the state.
    pub states: Vec<(usize, ClassNumber, u64)>,
    /// Basic blocks that ran for the first time in its JVM, if the classes tell.
    pub blocks: Vec<u32>,
    /// Whether the program wanted what it must not.
    pub blocked: bool,
    /// How it ended.
    pub ended: Ended,
    /// Where it did not, if that is known.
    pub stuck: Option<Stuck>,
    /// Whether its last call has started threads that go on.
    pub threads: bool,
    /// Whether several objects have got identity hash codes, where the place tells: what goes by these is in another
    /// order each time.
    pub hashed: bool,
    /// Processor time, as far as it has ended.
    pub took: Duration,
    /// The same with what it has waited.
    pub lasted: Duration,
}

impl Executed {
    /// What the program wanted that it must not, if it has not caught what says so.
    pub fn wanted(&self) -> Option<String> {
        self.outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Threw(_, Some(message), Thrower::Guard) => {
                let what = message.strip_prefix("blocked by hindsight: ")?;
                Some(what.to_owned())
            }
            _ => None,
        })
    }

    /// Of one of which nothing is known but how it ended.
    pub(super) fn none(ended: Ended) -> Executed {
        Executed {
            outcomes: Vec::new(),
            states: Vec::new(),
            blocks: Vec::new(),
            blocked: false,
            ended,
            stuck: None,
            threads: false,
            hashed: false,
            took: Duration::ZERO,
            lasted: Duration::ZERO,
        }
    }
}

/// A worker, whatever JVM it runs in.
pub struct Worker {
    setup: Setup,
    place: &'static Place,
    /// The JVMs that run: the first, and others that a search goes on in beside it.
    running: [Option<Running>; PARALLEL],
    /// Which of them have run before.
    started: [bool; PARALLEL],
    /// JVMs that are to follow each of them, as soon as they run.
    next: [Option<JoinHandle<Result<Running>>>; PARALLEL],
    /// Whether any JVM has ever answered.
    alive: bool,
    /// What sequences get at least, where they get little time,
    hurry: Option<Duration>,
    /// and the most time that one has taken that came to its end.
    longest: Duration,
    /// All classes that were told of.
    pub classes: Vec<Class>,
    by_name: HashMap<String, ClassNumber>,
    /// What each method returns, or why it cannot be called.
    pub declared: Vec<Result<ClassNumber, String>>,
    /// What had no end.
    pub endless: Endless,
    /// JVMs that were started,
    pub starts: u32,
    /// and those that were given up for a class that failed to be initialised.
    spoilt: u32,
    /// Sequences that were executed, which another thread may look at.
    executions: Arc<AtomicU64>,
}

impl Worker {
    /// A worker that is started when it is needed, at the first of the [`PLACES`].
    pub fn new(setup: Setup) -> Worker {
        Worker::at(&PLACES[0], setup)
    }

    /// One in another place.
    pub fn at(place: &'static Place, setup: Setup) -> Worker {
        Worker {
            hurry: None,
            longest: Duration::ZERO,
            setup,
            place,
            running: Default::default(),
            started: Default::default(),
            next: Default::default(),
            alive: false,
            classes: Vec::new(),
            by_name: HashMap::new(),
            declared: Vec::new(),
            endless: Endless::default(),
            starts: 0,
            spoilt: 0,
            executions: Arc::default(),
        }
    }

    /// Counts sequences that are executed.
    pub fn counter(&self) -> Arc<AtomicU64> {
        self.executions.clone()
    }

    /// How many sequences were executed.
    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    fn executed_more(&self, sequences: usize) {
        let more = sequences as u64;
        self.executions.fetch_add(more, Ordering::Relaxed);
    }

    /// What is known of a class.
    pub fn class(&self, number: ClassNumber) -> &Class {
        &self.classes[number.0 as usize]
    }

    /// What is known of a class, by its name as `Class.getName` gives it.
    pub fn named(&self, name: &str) -> Option<&Class> {
        self.by_name.get(name).map(|number| self.class(*number))
    }

    /// Takes down what is told of a class, if nothing is known of it.
    pub(super) fn learn(&mut self, class: Class) -> ClassNumber {
        let next = ClassNumber(self.classes.len() as u32);
        let known = *self.by_name.entry(class.name.clone()).or_insert(next);
        if known == next {
            self.classes.push(class);
        }
        known
    }

    /// Has the methods found that are new; [`Self::declared`] says what came of it.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started.
    pub fn declare(&mut self, methods: &Methods) -> Result<()> {
        let first = self.declared.len();
        if first == methods.all().len() {
            return Ok(());
        }
        let unknown = || Err("the JVM ended when it was looked for".to_owned());
        self.declared.resize_with(methods.all().len(), unknown);
        // What comes back is taken by `execute`.
        self.execute(methods, &[])?;
        Ok(())
    }

    /// The JVM that waits, or else one that is started.
    fn start(&mut self, at: usize, methods: &Methods) -> Result<Running> {
        self.starts += 1;
        let again = std::mem::replace(&mut self.started[at], true);
        let next = match self.next[at].take() {
            Some(next) => next
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            None => Running::start(&self.setup, self.place, at)?,
        };
        // Where one JVM was not enough, more will be needed, and mostly there is a processor that is idle.
        // What records is told of each JVM, whatever it does.
        if again && self.setup.recorded.is_none() {
            let (setup, place) = (self.setup.clone(), self.place);
            let mut told = Vec::new();
            wire::declare(&mut told, 0, methods).context("failed to tell of methods")?;
            let declared = methods.all().len();
            self.next[at] = Some(thread::spawn(move || {
                let mut next = Running::start(&setup, place, at)?;
                // If it does not read, it is as useless as it will turn out to be.
                let _ = next.input.write_all(&told);
                let _ = next.input.flush();
                next.declared = declared;
                Ok(next)
            }));
        }
        Ok(next)
    }

    /// Ends the JVMs; the next sequence gets another one.
    pub fn renew(&mut self) {
        self.running = Default::default();
    }

    /// Ends the JVMs that only searches go on in.
    pub fn end_others(&mut self) {
        self.running[1..].fill_with(|| None);
        self.next[1..].fill_with(|| None);
    }

    /// Gives sequences another time, in another JVM.
    pub fn limit(&mut self, limit: Duration) {
        if self.setup.limit != limit {
            self.setup.limit = limit;
            self.renew();
            self.next = Default::default();
        }
    }

    /// Has sequences get little time, but so much at least, if no other has needed more; the JVM of one that
    /// takes longer goes on, if it can, with whatever this has left behind.
    pub fn hurry(&mut self, least: Duration) {
        self.hurry = Some(least);
    }

    /// The time of a sequence that is to be stopped after it.
    fn quick_limit(&self) -> Option<Duration> {
        let (least, most) = (self.hurry?, self.setup.limit);
        let limit = (PATIENCE * self.longest).clamp(least.min(most), most);
        self.alive.then_some(limit)
    }

    /// Has the JVMs end in good order; the next sequence gets another one.
    pub fn rest(&mut self) {
        for mut running in self.running.iter_mut().filter_map(Option::take) {
            let told = running
                .input
                .write_all(b"Q")
                .and_then(|()| running.input.flush());
            let end = Instant::now() + Duration::from_secs(60);
            while told.is_ok() && Instant::now() < end {
                if !matches!(running.child.try_wait(), Ok(None)) {
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Executes sequences, in their order.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn execute(&mut self, methods: &Methods, batch: &[Sequence]) -> Result<Vec<Executed>> {
        self.told(methods, Batch::of(batch), Told::Outcomes)
    }

    /// Executes sequences each of which finds static state as it was at first.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn execute_fresh(
        &mut self,
        methods: &Methods,
        batch: &[Sequence],
    ) -> Result<Vec<Executed>> {
        self.told(methods, Batch::of(batch), Told::Fresh)
    }

    /// Executes sequences that find static state as others have left it, also where [`Setup::reset`] says
    /// otherwise.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn execute_left(&mut self, methods: &Methods, batch: &[Sequence]) -> Result<Vec<Executed>> {
        self.told(methods, Batch::of(batch), Told::Left)
    }

    /// Whether each sequence finds static state as it was at first.
    pub fn resets(&self) -> bool {
        self.setup.reset
    }

    /// Executes sequences, and tells the states of objects at the end, which may take longer than the calls. Of
    /// each, some calls are `unwanted` where they throw: it goes on then, but what it has run is new to the next one.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn explore(
        &mut self,
        methods: &Methods,
        batch: &[Sequence],
        unwanted: &[Vec<usize>],
    ) -> Result<Vec<Executed>> {
        self.told(
            methods,
            Batch {
                sequences: batch,
                unwanted,
            },
            Told::States,
        )
    }

    fn told(&mut self, methods: &Methods, batch: Batch<'_>, what: Told) -> Result<Vec<Executed>> {
        let mut done = self.executed(methods, batch, what)?;
        let batch = batch.sequences;
        for (sequence, executed) in batch.iter().zip(&done) {
            self.endless.learn(sequence, executed, methods);
        }
        // A number that is returned as an object is a box.
        for (sequence, executed) in batch.iter().zip(&mut done) {
            for (statement, outcome) in sequence.iter().zip(&mut executed.outcomes) {
                let descriptor = &methods.get(statement.method).descriptor;
                let is_object = |(_, result): (&str, &str)| result.starts_with(['L', '[']);
                if let Outcome::Literal(literal) = outcome
                    && !descriptor.rsplit_once(')').is_some_and(is_object)
                {
                    *literal = primitive(literal.clone());
                }
            }
        }
        Ok(done)
    }
}
