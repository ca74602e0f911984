//! Batches of sequences: shares them among JVMs, and receives the results.

use super::running::{Answers, Running};
use super::wire::{Batch, Message, Told, send};
use super::{ClassNumber, Ended, Executed, Outcome, PARALLEL, Worker};
use crate::generate::sequence::Methods;
use crate::generate::{Error, Result};
use crate::junit::verdict::NOT_INITIALIZED;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

/// The multiple of its limit that a sequence may last until the worker, which keeps time itself, is
/// taken to be unable to do so.
const LONGEST: u32 = 20;
/// The additional time in which a busy machine reports that.
const SLACK: Duration = Duration::from_secs(10);
/// The additional time in which a JVM starts.
const STARTING: Duration = Duration::from_secs(60);
/// The most JVMs that are given up because a class failed to be initialised in them.
const MAX_SPOILT: u32 = 10;

/// The part of a batch that one JVM executes.
struct Share<'a> {
    /// The index of the JVM.
    at: usize,
    batch: Batch<'a>,
    done: Vec<Executed>,
    /// The number of sequences that were done when its last JVM ended.
    before: usize,
    /// The number of JVMs that have ended since then.
    barren: u32,
    /// Whether nothing is left to do.
    is_over: bool,
}

impl<'a> Share<'a> {
    fn new(at: usize, batch: Batch<'a>) -> Share<'a> {
        Share {
            at,
            batch,
            done: Vec::new(),
            before: 0,
            barren: 0,
            is_over: false,
        }
    }

    /// Notes that a JVM has ended. Returns whether another one may do better.
    fn ended(&mut self, has_answered: bool) -> bool {
        if self.done.len() == self.before {
            self.barren += 1;
            if self.barren == 1 {
                // It may have ended because of what an earlier sequence has left behind.
                return true;
            }
            if self.batch.sequences.is_empty() || !has_answered {
                return false;
            }
            self.done.push(Executed::none(Ended::Died));
        }
        self.barren = 0;
        self.before = self.done.len();
        self.is_over = self.before == self.batch.sequences.len();
        true
    }
}

impl Worker {
    /// Executes sequences in one JVM; in a search, each half in a JVM of its own.
    pub(super) fn executed(
        &mut self,
        methods: &Methods,
        batch: Batch<'_>,
        what: Told,
    ) -> Result<Vec<Executed>> {
        let jvms = if what == Told::States { PARALLEL } else { 1 };
        let all = batch.sequences.len();
        let size = all.div_ceil(jvms).max(1);
        // Without any sequence, it is told of methods.
        let mut shares: Vec<Share<'_>> = ((0..all.max(1)).step_by(size).enumerate())
            .map(|(at, first)| Share::new(at, batch.from(first).first(size)))
            .collect();
        while !shares.iter().all(|share| share.is_over) {
            self.round(methods, &mut shares, what)?;
        }
        self.executed_more(all);
        Ok(shares.into_iter().flat_map(|share| share.done).collect())
    }

    /// Executes the rest of each share until its JVM ends, all at the same time.
    fn round(&mut self, methods: &Methods, shares: &mut [Share<'_>], what: Told) -> Result<()> {
        let quick = self.quick_limit();
        let mut going = Vec::new();
        for share in shares.iter_mut().filter(|share| !share.is_over) {
            let running = match self.running[share.at].take() {
                Some(running) => running,
                None => self.start(share.at, methods)?,
            };
            going.push((share, running));
        }
        let goes_on: Vec<bool> = thread::scope(|scope| {
            let mut talks = Vec::new();
            for (share, running) in &mut going {
                let Running {
                    child,
                    input,
                    answers,
                    declared,
                } = running;
                let known = std::mem::replace(declared, methods.all().len());
                let first = share.done.len();
                let left = share.batch.from(first);
                // One that reads no more would keep us waiting as long as it runs.
                let sending =
                    scope.spawn(move || send(input, known, methods, left, first, what, quick));
                talks.push((share, child, answers, sending));
            }
            let talks = talks.into_iter();
            let ends = talks.map(|(share, child, answers, sending)| {
                let told = self.collect(answers, share.batch.sequences.len(), &mut share.done);
                if told.is_none() {
                    // It is not used again. It may have ended by itself.
                    let _ = child.kill();
                }
                let sent = sending.join();
                let sent = sent.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                // If not all was sent, this JVM is not used again, either.
                told.is_some() && sent.is_ok()
            });
            ends.collect()
        });
        for ((share, running), goes_on) in going.into_iter().zip(goes_on) {
            if goes_on {
                self.running[share.at] = Some(running);
                share.is_over = true;
            } else if !share.ended(self.alive) {
                return Err(Error::EndsAtOnce(self.setup.jdk.home.clone()));
            }
        }
        Ok(())
    }

    /// Whether a call has left, or met, a class that failed to be initialised and never will be in
    /// that JVM, as when two classes need each other and the wrong one was first.
    fn spoils(&self, executed: &Executed) -> bool {
        executed.outcomes.iter().any(|outcome| match outcome {
            Outcome::Threw(class, message, _) => match self.class(*class).name.as_str() {
                "java.lang.ExceptionInInitializerError" => true,
                "java.lang.NoClassDefFoundError" => {
                    (message.as_deref()).is_some_and(|said| said.starts_with(NOT_INITIALIZED))
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// Receives answers until the batch ends; `None` if the JVM must not be used any more.
    fn collect(
        &mut self,
        answers: &mut Answers,
        total: usize,
        done: &mut Vec<Executed>,
    ) -> Option<()> {
        loop {
            let patience = if answers.has_answered {
                self.setup.limit * LONGEST + SLACK
            } else {
                self.setup.limit * LONGEST + STARTING
            };
            let message = answers.messages.recv_timeout(patience);
            answers.has_answered |= message.is_ok();
            match message {
                Ok(Message::Class(number, class)) => {
                    answers.numbers.insert(number, self.learn(class));
                }
                Ok(Message::Declared(method, found)) => {
                    let found = found.and_then(|class| {
                        let number = answers.numbers.get(&class).copied();
                        number.ok_or_else(|| "its class was not told".to_owned())
                    });
                    if let Some(place) = self.declared.get_mut(method as usize) {
                        *place = found;
                    }
                }
                Ok(Message::Ran(id, mut executed, tired)) => {
                    if id as usize != done.len() {
                        return None;
                    }
                    self.alive = true;
                    if executed.ended == Ended::Well {
                        self.longest = self.longest.max(executed.took);
                    }
                    let numbers = &answers.numbers;
                    let of = |class: &mut ClassNumber| {
                        *class = numbers.get(&class.0).copied().unwrap_or(ClassNumber(0));
                    };
                    for outcome in &mut executed.outcomes {
                        if let Outcome::Object(class, ..)
                        | Outcome::Array(class, _)
                        | Outcome::Threw(class, ..) = outcome
                        {
                            of(class);
                        }
                    }
                    executed
                        .states
                        .iter_mut()
                        .for_each(|state| of(&mut state.1));
                    let spoils = self.spoilt < MAX_SPOILT && self.spoils(&executed);
                    self.spoilt += u32::from(spoils);
                    done.push(executed);
                    if tired || spoils {
                        return None;
                    }
                }
                Ok(Message::TimedOut(id, stuck)) => {
                    if id as usize == done.len() && done.len() < total {
                        done.push(Executed {
                            stuck,
                            ..Executed::none(Ended::TimedOut)
                        });
                    }
                    return None;
                }
                Ok(Message::End) => {
                    self.alive = true;
                    return Some(());
                }
                Err(RecvTimeoutError::Timeout) => {
                    if done.len() < total {
                        done.push(Executed::none(Ended::TimedOut));
                    }
                    return None;
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}
