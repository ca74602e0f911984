//! Makes tests of many sequences at a time, in two JVMs in different places.
//!
//! A sequence that is to become a test is executed a dozen times, and the next execution depends on
//! earlier results. One by one, each execution would wait for a message and its answer, and one JVM
//! for the other. So many tests are made at once, each by an `async` function that orders
//! executions and awaits them. What they have ordered when all of them wait is one batch for each
//! JVM, and both execute theirs at the same time. All is done in lockstep, so that the same is
//! executed in the same order each time.

use super::Result;
use super::sequence::{Methods, Sequence};
use super::worker::{Ended, Executed, Worker};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::{BTreeMap, HashSet};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// The number of tests that are made at a time.
const WIDTH: usize = 24;
/// The number of those with something endless, for which all others wait.
const ENDLESS_WIDTH: usize = 2;
/// The number of tests that are made at a time if time is short and a round of executions takes too
/// long.
const LEAST_WIDTH: usize = 4;
/// The time of a round that is too long.
const MAX_ROUND: Duration = Duration::from_millis(300);
/// The number of sequences that are executed before it is checked which of them were endless.
const TOGETHER: usize = 2;
/// The factor of the grace period as long as there is no result at all.
const PATIENCE: u32 = 3;

/// How often results that depend on identity hash codes are checked again: two objects come in the
/// same order every other time.
const DRAWS: usize = 12;

/// One of the two JVMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first, where static state is left from one sequence to the next.
    Here,
    /// The other one, in a different place.
    There,
}

/// The static state that a sequence finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The initial state, if that does not take too long.
    Fresh,
    /// The state that others have left.
    Left,
}

/// Two JVMs, and what they are to execute.
pub struct Lab<'a> {
    methods: RefCell<&'a mut Methods>,
    workers: [RefCell<&'a mut Worker>; 2],
    /// For each JVM, the sequences that find the initial static state, and those that find what
    /// others have left.
    ordered: [[RefCell<Vec<Ordered>>; 2]; 2],
    /// Whether static state is ever the initial one, and whether it always is.
    resets: (bool, bool),
    /// Whether [`Lab::next_side`] was called an odd number of times.
    is_odd: Cell<bool>,
    /// The number of the current job.
    job: Cell<usize>,
    /// The jobs of which some execution was endless.
    endless: RefCell<HashSet<usize>>,
}

/// A sequence, and the call from which on it can be shortened if something endless is there.
type Wanted = (Sequence, Option<usize>);

struct Ordered {
    job: usize,
    sequence: Sequence,
    optional: Option<usize>,
    answer: Rc<Cell<Option<Executed>>>,
}

/// An ordered execution, to be awaited.
pub struct Order {
    answer: Rc<Cell<Option<Executed>>>,
}

impl Future for Order {
    type Output = Executed;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Executed> {
        self.answer.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<'a> Lab<'a> {
    /// Two workers, and the methods that they may call. What the second one says about static state
    /// holds for both if it matters.
    pub fn new(methods: &'a mut Methods, here: &'a mut Worker, there: &'a mut Worker) -> Lab<'a> {
        Lab {
            resets: (there.resets(), here.resets()),
            methods: RefCell::new(methods),
            workers: [RefCell::new(here), RefCell::new(there)],
            ordered: Default::default(),
            is_odd: Cell::new(false),
            job: Cell::new(0),
            endless: RefCell::default(),
        }
    }

    /// Whether it makes a difference which [`State`] is ordered.
    pub fn resets(&self) -> bool {
        self.resets == (true, false)
    }

    /// One JVM and the other, alternately.
    pub fn next_side(&self) -> Side {
        match self.is_odd.replace(!self.is_odd.get()) {
            true => Side::There,
            false => Side::Here,
        }
    }

    /// Orders the execution of a sequence, which happens when all jobs wait.
    pub fn order(&self, side: Side, state: State, sequence: &Sequence) -> Order {
        self.queue(None, side, state, sequence)
    }

    /// Executes a sequence some times more where identity hash codes are random, if objects are
    /// known to have got any in an execution.
    pub async fn again_if_hashed(&self, executed: &Executed, sequence: &Sequence) -> Vec<Executed> {
        let times = if executed.hashed { DRAWS } else { 0 };
        let orders: Vec<_> = (0..times)
            .map(|_| self.order(Side::Here, State::Left, sequence))
            .collect();
        let mut all = Vec::new();
        for order in orders {
            all.push(order.await);
        }
        all
    }

    /// The same as [`Lab::order`] with a sequence of which only the first calls are needed, and no
    /// texts: if some of the other calls or texts are known to be endless, they are left out, and
    /// take no time.
    pub fn order_needing(
        &self,
        needed: usize,
        side: Side,
        state: State,
        sequence: &Sequence,
    ) -> Order {
        self.queue(Some(needed), side, state, sequence)
    }

    fn queue(
        &self,
        optional: Option<usize>,
        side: Side,
        state: State,
        sequence: &Sequence,
    ) -> Order {
        let answer = Rc::default();
        let is_fresh = self.resets.1 || self.resets.0 && state == State::Fresh;
        let [fresh, left] = &self.ordered[side as usize];
        let list = if is_fresh { fresh } else { left };
        list.borrow_mut().push(Ordered {
            job: self.job.get(),
            sequence: sequence.clone(),
            optional,
            answer: Rc::clone(&answer),
        });
        Order { answer }
    }

    /// A worker, for what it knows about classes. It must not be kept across an await.
    pub fn worker(&self, side: Side) -> Ref<'_, Worker> {
        Ref::map(self.workers[side as usize].borrow(), |worker| &**worker)
    }

    /// The methods. They must not be kept across an await.
    pub fn methods(&self) -> Ref<'_, Methods> {
        Ref::map(self.methods.borrow(), |methods| &**methods)
    }

    /// The methods, for additions. They must not be kept across an await.
    pub fn methods_mut(&self) -> RefMut<'_, Methods> {
        RefMut::map(self.methods.borrow_mut(), |methods| &mut **methods)
    }

    /// Runs one job.
    ///
    /// # Errors
    ///
    /// Fails if a worker does.
    pub fn one<F: Future>(&self, job: F) -> Result<F::Output> {
        let mut job = std::pin::pin!(job);
        loop {
            if let Poll::Ready(done) = job.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return Ok(done);
            }
            self.execute(false, |_| false)?;
        }
    }

    /// Runs many jobs at once. Returns their results in order, and the number of those that were
    /// not begun or not ended. None is begun after `until`, and those that have not ended `grace`
    /// later are given up. If there is such a time, a job that has executed something endless waits
    /// for all others, which it would otherwise delay each time.
    ///
    /// # Errors
    ///
    /// Fails if a worker does.
    pub fn all<F: Future>(
        &self,
        jobs: impl IntoIterator<Item = F>,
        until: Option<Instant>,
        grace: Duration,
    ) -> Result<(Vec<F::Output>, usize)> {
        let mut jobs = jobs.into_iter().enumerate();
        let mut going: Vec<(usize, Pin<Box<F>>)> = Vec::new();
        let mut waiting: BTreeMap<usize, Pin<Box<F>>> = BTreeMap::new();
        let mut done = BTreeMap::new();
        self.endless.borrow_mut().clear();
        let mut width = if until.is_some() { LEAST_WIDTH } else { WIDTH };
        loop {
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            while !is_late
                && going.len() < width
                && let Some((at, job)) = jobs.next()
            {
                going.push((at, Box::pin(job)));
            }
            if going.is_empty() {
                going.extend((0..ENDLESS_WIDTH).map_while(|_| waiting.pop_first()));
            }
            let grace = grace.saturating_mul(if done.is_empty() { PATIENCE } else { 1 });
            if going.is_empty() || until.is_some_and(|until| Instant::now() >= until + grace) {
                break;
            }
            going.retain_mut(|(at, job)| {
                self.job.set(*at);
                match job.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(came) => {
                        done.insert(*at, came);
                        false
                    }
                    Poll::Pending => true,
                }
            });
            let began = Instant::now();
            self.execute(until.is_some(), |job| waiting.contains_key(&job))?;
            if until.is_some() {
                width = match began.elapsed() < MAX_ROUND {
                    true => (2 * width).min(WIDTH),
                    false => (width / 2).max(LEAST_WIDTH),
                };
                let endless = self.endless.borrow();
                waiting.extend(going.extract_if(.., |(at, _)| endless.contains(at)));
            }
        }
        let left = going.len() + waiting.len() + jobs.count();
        let all = self.ordered.iter().flatten();
        all.for_each(|list| list.borrow_mut().clear());
        Ok((done.into_values().collect(), left))
    }

    /// Executes all that was ordered, except for what `waits`; in haste, as much as there is time
    /// for in one round, and the rest in the next ones.
    fn execute(&self, is_hasty: bool, waits: impl Fn(usize) -> bool) -> Result<()> {
        let ordered = self.ordered.each_ref().map(|lists| {
            lists.each_ref().map(|list| {
                let (wait, go) =
                    (list.take().into_iter()).partition::<Vec<_>, _>(|one| waits(one.job));
                list.replace(wait);
                let go = go.into_iter();
                go.map(|one| ((one.sequence, one.optional), (one.job, one.answer)))
                    .unzip::<_, _, Vec<_>, Vec<_>>()
            })
        });
        let batches = ordered
            .each_ref()
            .map(|lists| lists.each_ref().map(|list| &list.0[..]));
        let methods = self.methods();
        let methods = &*methods;
        let run =
            |worker: &mut Worker, [fresh, left]: [&[Wanted]; 2]| -> Result<[Vec<Executed>; 2]> {
                let mut done = [Vec::new(), Vec::new()];
                if fresh.is_empty() && left.is_empty() {
                    return Ok(done);
                }
                let began = Instant::now();
                let size = if is_hasty { LEAST_WIDTH } else { TOGETHER };
                worker.declare(methods)?;
                let fresh = fresh.chunks(size).map(|chunk| (0, chunk));
                for (kind, chunk) in fresh.chain(left.chunks(size).map(|chunk| (1, chunk))) {
                    done[kind].extend(sensible(chunk, worker, methods, kind == 0)?);
                    if is_hasty && began.elapsed() > MAX_ROUND {
                        break;
                    }
                }
                Ok(done)
            };
        let [here, there] = &self.workers;
        let (mut here, mut there) = (here.borrow_mut(), there.borrow_mut());
        let (here, there): (&mut Worker, &mut Worker) = (&mut here, &mut there);
        // They are two JVMs.
        let (here, there) = thread::scope(|scope| {
            let there = scope.spawn(|| run(there, batches[1]));
            (run(here, batches[0]), there.join())
        });
        let there = there.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let done = [here?, there?].into_iter().flatten();
        let lists = self.ordered.iter().flatten();
        for ((executed, (sequences, answers)), list) in
            done.zip(ordered.into_iter().flatten()).zip(lists)
        {
            let mut executed = executed.into_iter();
            for ((sequence, optional), (job, answer)) in sequences.into_iter().zip(answers) {
                let Some(executed) = executed.next() else {
                    list.borrow_mut().push(Ordered {
                        job,
                        sequence,
                        optional,
                        answer,
                    });
                    continue;
                };
                if executed.ended == Ended::TimedOut {
                    self.endless.borrow_mut().insert(job);
                }
                answer.set(Some(executed));
            }
        }
        Ok(())
    }
}

/// Executes sequences, except those with something endless that they can do without.
fn sensible(
    chunk: &[Wanted],
    worker: &mut Worker,
    methods: &Methods,
    is_fresh: bool,
) -> Result<Vec<Executed>> {
    let is_endless = |(sequence, optional): &Wanted| {
        optional.is_some_and(|optional| worker.endless.is_in(sequence, optional, methods))
    };
    let left_out: Vec<bool> = chunk.iter().map(is_endless).collect();
    let go = chunk.iter().zip(&left_out).filter(|(_, is_out)| !**is_out);
    let go: Vec<Sequence> = go.map(|((sequence, _), _)| sequence.clone()).collect();
    let done = match is_fresh {
        true => worker.execute_fresh(methods, &go)?,
        false => worker.execute_left(methods, &go)?,
    };
    let mut done = done.into_iter();
    // It has not delayed any other.
    let all = left_out.into_iter().map_while(|is_out| match is_out {
        true => Some(Executed::none(Ended::Died)),
        false => done.next(),
    });
    Ok(all.collect())
}
