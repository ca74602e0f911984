//! The child JVM that executes sequences: starts it, communicates with it, and starts it again if a
//! sequence has ended it. The protocol is described in the worker's `Worker.java`.
//!
//! - `batches` shares batches of sequences among JVMs.
//! - `endless` learns which calls are endless.
//! - `environment` makes the environment of the JVMs.
//! - `running` is one JVM with its pipes.
//! - `setup` decides how and where the JVMs are started.
//! - `wire` encodes and decodes messages.

mod batches;
mod endless;
mod environment;
mod running;
mod setup;
mod wire;

use super::{Error, Result};
pub use endless::Endless;
use running::Running;
pub use setup::{PLACES, Place, Recording, Setup, Task};
use wire::{Batch, Told};
pub use wire::{class_get_name, primitive, unboxed};

use super::sequence::{Methods, Sequence};
use crate::model::values::Literal;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time of a sequence that can be stopped, as a multiple of the longest before it.
const PATIENCE: u32 = 4;
/// JVMs in which a search goes on at the same time: what the one has done to static state, the other need not know.
/// It is the same number on each machine, for what a search finds depends on it.
pub const PARALLEL: usize = 2;

/// A class, by its index in [`Worker::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassNumber(pub u32);

/// A class as the worker has described it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The name as in `Class.getName`.
    pub name: String,
    /// Whether a source in any package can name it.
    pub accessible: bool,
    /// All its supertypes.
    pub supers: Vec<String>,
}

impl Class {
    /// Whether its objects are of a type, with a name as in `Class.getName`.
    pub fn is_a(&self, name: &str) -> bool {
        self.name == name || self.supers.iter().any(|known| known == name)
    }
}

/// The code that has thrown an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thrower {
    /// The JDK's, or unknown code.
    Platform,
    /// The replacement of what the program must not do.
    Guard,
    /// The program's, or the JVM on its behalf.
    Program,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It returned nothing.
    Void,
    /// It returned null.
    Null,
    /// It returned a number, text or constant.
    Literal(Literal),
    /// It returned an object: perhaps the same as an earlier call, and with its text if that was
    /// asked for.
    Object(ClassNumber, Option<usize>, Option<Said>),
    /// It returned a short array of literals.
    Array(ClassNumber, Vec<Literal>),
    /// It threw: the class, the message, and the code that has thrown it.
    Threw(ClassNumber, Option<String>, Thrower),
    /// It could not be called.
    Failed(String),
}

/// What an object says about itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Its text.
    Text(String),
    /// The elements of an array, or of a collection of arrays.
    Elements(String),
    /// The number of elements of an array, collection or map whose text is too long, or differs
    /// each time.
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
    /// It ended by itself.
    Well,
    /// It took too long.
    TimedOut,
    /// The JVM ended.
    Died,
    /// Memory ran out.
    Memory,
}

/// The place at which a sequence did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stuck {
    /// The index of the call.
    pub at: usize,
    /// Whether the call has returned, and its result was being asked for its text.
    pub is_shown: bool,
}

/// The result of executing a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// The outcomes of the calls that were reached.
    pub outcomes: Vec<Outcome>,
    /// The objects at the end, if they were asked for: variable, class, and a number for the state.
    pub states: Vec<(usize, ClassNumber, u64)>,
    /// The basic blocks that ran for the first time in its JVM, if the classes report them.
    pub blocks: Vec<u32>,
    /// Whether the program attempted what is forbidden.
    pub blocked: bool,
    /// How it ended.
    pub ended: Ended,
    /// The place at which it did not end, if that is known.
    pub stuck: Option<Stuck>,
    /// Whether its last call has started threads that continue.
    pub threads: bool,
    /// Whether several objects have got identity hash codes, in places where that is known: then
    /// what depends on these is in another order each time.
    pub hashed: bool,
    /// The processor time, if it has ended.
    pub took: Duration,
    /// The time including waits.
    pub lasted: Duration,
}

impl Executed {
    /// The forbidden action that the program attempted, unless it has caught the exception.
    pub fn wanted(&self) -> Option<String> {
        self.outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Threw(_, Some(message), Thrower::Guard) => {
                let what = message.strip_prefix("blocked by hindsight: ")?;
                Some(what.to_owned())
            }
            _ => None,
        })
    }

    /// A result of which only the kind of end is known.
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

/// A worker, in whatever JVM it runs.
pub struct Worker {
    setup: Setup,
    place: &'static Place,
    /// The running JVMs: the first, and others in which a search also runs.
    running: [Option<Running>; PARALLEL],
    /// Which of them have run before.
    started: [bool; PARALLEL],
    /// JVMs that are to follow each of them, as soon as they run.
    next: [Option<JoinHandle<Result<Running>>>; PARALLEL],
    /// Whether any JVM has ever answered.
    alive: bool,
    /// The minimum time of a sequence, if sequences get little time.
    hurry: Option<Duration>,
    /// The longest time of a sequence that has ended.
    longest: Duration,
    /// All classes that were described.
    pub classes: Vec<Class>,
    by_name: HashMap<String, ClassNumber>,
    /// The result type of each method, or the reason why it cannot be called.
    pub declared: Vec<Result<ClassNumber, String>>,
    /// The calls that were endless.
    pub endless: Endless,
    /// The number of JVMs that were started.
    pub starts: u32,
    /// The number of JVMs that were given up because a class failed to be initialised.
    spoilt: u32,
    /// The number of sequences that were executed, which another thread may read.
    executions: Arc<AtomicU64>,
}

impl Worker {
    /// A worker that is started on demand, at the first of the [`PLACES`].
    pub fn new(setup: Setup) -> Worker {
        Worker::at(&PLACES[0], setup)
    }

    /// A worker in another place.
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

    /// The counter of executed sequences.
    pub fn counter(&self) -> Arc<AtomicU64> {
        self.executions.clone()
    }

    /// The number of executed sequences.
    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    fn executed_more(&self, sequences: usize) {
        let more = sequences as u64;
        self.executions.fetch_add(more, Ordering::Relaxed);
    }

    /// The description of a class.
    pub fn class(&self, number: ClassNumber) -> &Class {
        &self.classes[number.0 as usize]
    }

    /// The description of a class, by its name as in `Class.getName`.
    pub fn named(&self, name: &str) -> Option<&Class> {
        self.by_name.get(name).map(|number| self.class(*number))
    }

    /// Adds the description of a class, if there is none yet.
    pub(super) fn learn(&mut self, class: Class) -> ClassNumber {
        let next = ClassNumber(self.classes.len() as u32);
        let known = *self.by_name.entry(class.name.clone()).or_insert(next);
        if known == next {
            self.classes.push(class);
        }
        known
    }

    /// Resolves new methods; [`Self::declared`] has the results.
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
        // The answers are handled by `execute`.
        self.execute(methods, &[])?;
        Ok(())
    }

    /// The JVM that is waiting, or else one that is started.
    fn start(&mut self, at: usize, methods: &Methods) -> Result<Running> {
        self.starts += 1;
        let again = std::mem::replace(&mut self.started[at], true);
        let next = match self.next[at].take() {
            Some(next) => next
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            None => Running::start(&self.setup, self.place, at)?,
        };
        // If one JVM was not enough, more will be needed, and mostly a processor is idle. A
        // recorded JVM is only started when it is needed.
        if again && self.setup.recorded.is_none() {
            let (setup, place) = (self.setup.clone(), self.place);
            let mut told = Vec::new();
            wire::declare(&mut told, 0, methods).map_err(Error::NotTold)?;
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

    /// Ends the JVMs in which only searches run.
    pub fn end_others(&mut self) {
        self.running[1..].fill_with(|| None);
        self.next[1..].fill_with(|| None);
    }

    /// Sets another time for sequences, in another JVM.
    pub fn limit(&mut self, limit: Duration) {
        if self.setup.limit != limit {
            self.setup.limit = limit;
            self.renew();
            self.next = Default::default();
        }
    }

    /// Gives sequences little time, but at least this much, unless another one has needed more. The
    /// JVM of one that takes longer continues, if it can, with whatever this has left behind.
    pub fn hurry(&mut self, least: Duration) {
        self.hurry = Some(least);
    }

    /// The time after which a sequence is stopped.
    fn quick_limit(&self) -> Option<Duration> {
        let (least, most) = (self.hurry?, self.setup.limit);
        let limit = (PATIENCE * self.longest).clamp(least.min(most), most);
        self.alive.then_some(limit)
    }

    /// Ends the JVMs in an orderly way; the next sequence gets another one.
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

    /// Executes sequences in order.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn execute(&mut self, methods: &Methods, batch: &[Sequence]) -> Result<Vec<Executed>> {
        self.told(methods, Batch::of(batch), Told::Outcomes)
    }

    /// Executes sequences each of which finds the initial static state.
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

    /// Executes sequences that find static state as others have left it, even if [`Setup::reset`]
    /// says otherwise.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn execute_left(&mut self, methods: &Methods, batch: &[Sequence]) -> Result<Vec<Executed>> {
        self.told(methods, Batch::of(batch), Told::Left)
    }

    /// Whether each sequence finds the initial static state.
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
