//! What recorded runs show: stages D and X.
//!
//! - [`observe`] goes through a trace once. The active calls, with their arguments, are in
//!   [`frames`]; [`exact`] follows the formal semantics on them (stage X), with [`sets`] of
//!   parameters; [`ways`] is how a value was obtained; [`mirror`] is a copy of the heap that shows
//!   which arguments lead to an object (stage D).
//! - [`bodies`] finds the operation of a body that an event comes from, so that a value is
//!   identified by the way it was obtained, not by its object alone.
//! - [`Evidence`] is the result. It does not depend on a pipeline, and the evidence of many runs
//!   merges in any order ([`evidence`]); [`apply`] makes verdicts of it.
//!
//! **Invariant:** what X calls mutable is mutable: where an event may come from several operations,
//! or a value may have been obtained in several ways, only what all of them have in common counts.

pub mod apply;
mod bodies;
pub mod evidence;
mod exact;
mod frames;
mod mirror;
mod sets;
mod ways;

pub use evidence::Evidence;

use super::effects::solve::Solver;
use super::facts::Facts;
use crate::program::Program;
use crate::program::calls::Calls;
use crate::trace::Trace;
use crate::trace::steps::{Place, Step, Steps, What};
use bodies::Bodies;
use exact::Exact;
use frames::{Frame, LongCalls, Threads};
use mirror::Mirror;
use std::collections::BTreeMap;
use std::time::Instant;

/// The program to which a run belongs.
pub struct Code<'p> {
    /// The program.
    pub program: &'p Program,
    /// The facts, by method.
    pub facts: &'p [Facts],
    /// The methods that calls may run.
    pub calls: &'p Calls<'p>,
    /// Finds the lambdas that calls may run.
    pub solver: &'p Solver<'p>,
    /// For classes that were rewritten before the run without changing what they do: for the
    /// SHA-256 of the class that ran, the SHA-256 of that on the class path.
    pub stand_ins: &'p BTreeMap<String, String>,
}

/// How much of a run is examined. What was seen until then counts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Until {
    /// The most steps of a call that no other code of the program has made.
    pub steps: Option<u64>,
    /// The time at which to stop.
    pub time: Option<Instant>,
}

/// A call that takes this many times the examined number of steps is taken to be endless.
const ENDLESS: u64 = 10;

/// The number of steps between two looks at the clock.
const CLOCK: u64 = 1 << 14;

/// What the user should know of a run.
#[derive(Debug, Default)]
pub struct Notes {
    /// The notes; warnings are among them.
    pub lines: Vec<String>,
}

/// Goes through a trace. The memory it takes is proportional to the objects that the run stores in
/// each other (D) and to the calls that are active (X).
pub fn observe(
    trace: &Trace,
    code: &Code<'_>,
    transitive: bool,
    until: Until,
    notes: &mut Notes,
) -> Evidence {
    let places = trace.all();
    let dictionary = &trace.log.dictionary;
    let what = dictionary.start.as_ref().map(|start| start.what.clone());
    let has = |word: &str| {
        what.as_ref()
            .is_none_or(|what| what.iter().any(|one| one == word))
    };
    let mut run = Run {
        bodies: Bodies::new(code, dictionary),
        threads: Threads::default(),
        exact: Exact::new(transitive, has("reads") && has("values")),
        mirror: Mirror::default(),
        unreadable: 0,
        lost: 0,
    };
    let mut steps = Steps::new(&trace.log, &places);
    let mut seen = 0u64;
    let mut long = LongCalls::default();
    while let Some(step) = steps.next_step() {
        let late = || until.time.is_some_and(|end| Instant::now() >= end);
        if seen.is_multiple_of(CLOCK) && late() {
            break;
        }
        seen += 1;
        let step = match step {
            Ok(step) => step,
            Err(_) => {
                // Calls and returns are missing, so what is on the stacks is not known.
                run.unreadable += 1;
                run.threads.forget_all();
                continue;
            }
        };
        if let Some(most) = until.steps
            && let Some(steps) = long.has(&step, most, &mut run.threads)
        {
            // This is far more, and it is the last call of a JVM that did not end by itself.
            if steps > ENDLESS * most {
                break;
            }
            run.keep_up(step.what);
            continue;
        }
        run.take(step);
    }
    let mut evidence = Evidence::default();
    run.bodies.finish(&mut evidence);
    run.remark(trace, has, notes);
    evidence
}

/// What is known of a run up to a step.
struct Run<'c> {
    bodies: Bodies<'c>,
    threads: Threads,
    exact: Exact,
    mirror: Mirror,
    /// The number of blocks that could not be read.
    unreadable: u64,
    /// The number of events that were lost.
    lost: u64,
}

impl Run<'_> {
    /// Handles a step of a call that is not followed any more: references are kept up to date,
    /// since they are needed later.
    fn keep_up(&mut self, what: What) {
        let Run { bodies, mirror, .. } = self;
        if let What::Write { place, value } = what
            && let Some(target) = bodies.target(&place, None)
        {
            mirror.write(bodies, &mut [], &target, value.map(frames::object));
        }
    }

    /// Handles a step.
    fn take(&mut self, step: Step) {
        let Run {
            bodies,
            threads,
            exact,
            mirror,
            lost,
            ..
        } = self;
        let thread = step.thread;
        match step.what {
            What::Enter { method, arguments } => {
                let body = bodies.of(method);
                let mut frame = Frame::new(threads.next_serial(), body, method);
                for argument in &arguments {
                    if let Some(object) = frames::object(argument.value) {
                        frame
                            .args
                            .push((bodies.get(body).param(argument.index), object));
                    }
                }
                bodies.get_mut(body).calls += 1;
                exact.enter(bodies, threads.stack(thread), &mut frame);
                mirror.enter(bodies, threads.stack(thread), &frame);
                threads.stack(thread).push(frame);
            }
            What::Exit { method, value } => {
                if let Some(frame) = threads.leave(thread, method) {
                    let value = value.and_then(frames::object);
                    let stack = threads.stack(thread);
                    exact.exit(bodies, stack, &frame, value);
                }
            }
            What::Unwind { method, exception } => {
                if let Some(frame) = threads.leave(thread, method) {
                    let object = exception.map(|object| object.serial());
                    exact.unwind(bodies, thread, &frame, object);
                }
            }
            What::Caught { method, exception } => {
                threads.catch(thread, method);
                let object = exception.map(|object| object.serial());
                exact.caught(bodies, thread, threads.stack(thread), object);
            }
            What::Bind { method, this } => {
                let stack = threads.stack(thread);
                if let (Some(frame), Some(this)) = (stack.last_mut(), this)
                    && frame.method == method
                    && frame.bind(this.serial())
                {
                    exact.bind(frame, this.serial());
                    mirror.bind(bodies, stack, this.serial());
                }
            }
            What::Write { place, value } => {
                let value = value.map(frames::object);
                let stack = threads.stack(thread);
                if let Some(target) = bodies.target(&place, stack.last())
                    && !bodies.is_cache(target.field)
                {
                    exact.write(bodies, stack, &target, value);
                    mirror.write(bodies, stack, &target, value);
                }
            }
            What::Read { place, value } => {
                let stack = threads.stack(thread);
                if let Some(value) = value.and_then(frames::object)
                    && let Some(target) = bodies.target(&place, stack.last())
                {
                    exact.read(bodies, stack, &target, value);
                    mirror.read(&target, value);
                } else if let Place::Field { .. } | Place::Element { .. } = place {
                    bodies.saw_read(&place, stack.last());
                }
            }
            What::Called { callee, values } => {
                let stack = threads.stack(thread);
                exact.called(bodies, stack, callee, &values);
                mirror.called(bodies, stack, callee, &values);
            }
            What::Lost(gap) => {
                *lost = lost.saturating_add(gap.events());
                threads.forget(thread);
            }
            What::End => threads.end(thread),
            What::Thread { paused: true, .. } => threads.forget(thread),
            What::New {
                object, elements, ..
            } => {
                for (index, element) in (0..).zip(elements.into_iter().flatten()) {
                    let array = Some(object);
                    let place = Place::Element { array, index };
                    if let Some(element) = frames::object(element)
                        && let Some(target) = bodies.target(&place, None)
                    {
                        mirror.read(&target, element);
                    }
                }
            }
            What::Thread { .. } | What::Class { .. } | What::Going { .. } => {}
        }
        exact.tidy(threads);
    }

    /// Notes what the user should know of it; `has` says what was recorded.
    fn remark(&self, trace: &Trace, has: impl Fn(&str) -> bool, notes: &mut Notes) {
        for (word, why) in [
            ("writes", "nothing can be seen to change"),
            ("reads", "stage X loses track of what is read from fields"),
            ("values", "neither stage can tell which objects take part"),
        ] {
            if !has(word) {
                notes.lines.push(format!(
                    "{}: recorded without {word} (trace-what): {why}",
                    trace.directory.display()
                ));
            }
        }
        if self.unreadable > 0 {
            notes.lines.push(format!(
                "{}: {} blocks could not be read; calls that were running then are left out",
                trace.directory.display(),
                self.unreadable
            ));
        }
        if self.lost > 0 {
            notes.lines.push(format!(
                "{}: {} events were lost; calls that were running then are left out",
                trace.directory.display(),
                self.lost
            ));
        }
        if self.mirror.is_full() {
            notes.lines.push(format!(
                "{}: too many objects for stage D, which has seen the first {} references between them only",
                trace.directory.display(),
                mirror::MOST
            ));
        }
        for name in &self.bodies.other_versions() {
            notes.lines.push(format!(
                "class {name} was recorded in another version than that on the class path: what was seen of it does not count"
            ));
        }
    }
}
