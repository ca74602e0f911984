//! Calls that are running, by thread.

use super::sets::SetId;
use crate::mutability::facts::Var;
use crate::program::Sym;
use crate::program::names::{Map, Set};
use crate::trace::steps::{Step, What};
use hindsight_tracelog::trace::Datum;
use std::collections::HashMap;

/// The number of an object.
pub fn object(value: Datum) -> Option<u64> {
    match value {
        Datum::Reference(object) => object.map(|object| object.serial()),
        _ => None,
    }
}

/// A call that is running.
pub struct Frame {
    /// Unique in the run.
    pub serial: u64,
    /// Its body's number.
    pub body: u32,
    /// The method's number in the trace.
    pub method: u32,
    /// Arguments that are objects. `this` of a constructor comes late.
    pub args: Vec<(u16, u64)>,
    /// The sets of all parameters, those of no object too.
    pub params: Vec<SetId>,
    /// Operations of the caller that it may have been called by.
    pub by: Vec<u32>,
    /// What values were, the last time: one, or several where that is not sure.
    pub values: Map<Var, Vec<(u64, SetId)>>,
    /// What all ways to an object have in common.
    pub objects: Map<u64, SetId>,
    /// The object of a constructor was told.
    pub bound: bool,
    /// What a constructor stored before: the field, the object, what it carries.
    pub early: Vec<(Sym, Option<u64>, SetId)>,
    /// The same for stage D.
    pub early_values: Vec<(Sym, Option<u64>)>,
}

impl Frame {
    /// Nothing is known yet.
    pub fn new(serial: u64, body: u32, method: u32) -> Frame {
        Frame {
            serial,
            body,
            method,
            args: Vec::new(),
            params: Vec::new(),
            by: Vec::new(),
            values: Map::default(),
            objects: Map::default(),
            bound: false,
            early: Vec::new(),
            early_values: Vec::new(),
        }
    }

    /// Tells a constructor's object; whether it was not known.
    pub fn bind(&mut self, this: u64) -> bool {
        if self.bound {
            return false;
        }
        self.bound = true;
        self.args.push((0, this));
        true
    }

    /// The object that is a parameter.
    pub fn arg(&self, param: u16) -> Option<u64> {
        self.args.iter().find(|arg| arg.0 == param).map(|arg| arg.1)
    }
}

/// The stacks of all threads.
#[derive(Default)]
pub struct Threads {
    stacks: HashMap<u64, Vec<Frame>>,
    serial: u64,
}

impl Threads {
    /// A number for the next call.
    pub fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// The calls that run on a thread, the outermost first.
    pub fn stack(&mut self, thread: u64) -> &mut Vec<Frame> {
        self.stacks.entry(thread).or_default()
    }

    /// Takes the innermost call of a method away, with what was called by it.
    pub fn leave(&mut self, thread: u64, method: u32) -> Option<Frame> {
        let stack = self.stack(thread);
        let at = stack.iter().rposition(|frame| frame.method == method)?;
        stack.truncate(at + 1);
        stack.pop()
    }

    /// What an exception has left is gone.
    pub fn catch(&mut self, thread: u64, method: u32) {
        let stack = self.stack(thread);
        if let Some(at) = stack.iter().rposition(|frame| frame.method == method) {
            stack.truncate(at + 1);
        }
    }

    /// The numbers of all calls that are running.
    pub fn all_alive(&self) -> Set<u64> {
        let frames = self.stacks.values().flatten();
        frames.map(|frame| frame.serial).collect()
    }

    /// Shows all calls that are running.
    pub fn each(&mut self, see: impl FnMut(&mut Frame)) {
        self.stacks.values_mut().flatten().for_each(see);
    }

    /// Calls and returns of a thread are missing.
    pub fn forget(&mut self, thread: u64) {
        self.stacks.remove(&thread);
    }

    /// The same for all threads.
    pub fn forget_all(&mut self) {
        self.stacks.clear();
    }

    /// A thread has ended.
    pub fn end(&mut self, thread: u64) {
        self.stacks.remove(&thread);
    }
}

/// Calls of each thread, to pass over what those still do that are too long.
#[derive(Default)]
pub struct LongCalls {
    /// By thread: the steps of its outermost call, and the methods that run.
    calls: HashMap<u64, (u64, Vec<u32>)>,
}

impl LongCalls {
    /// Whether a step belongs to a call that has taken so many before; of that,
    /// nothing is known any more. Says how many it has taken.
    pub fn has(&mut self, step: &Step, most: u64, threads: &mut Threads) -> Option<u64> {
        let (steps, running) = self.calls.entry(step.thread).or_default();
        let find = |running: &[u32], method: u32| running.iter().rposition(|&one| one == method);
        match step.what {
            What::Enter { method, .. } | What::Going { method } => {
                if running.is_empty() {
                    *steps = 0;
                }
                running.push(method);
            }
            What::Exit { method, .. } | What::Unwind { method, .. } => {
                if let Some(at) = find(running, method) {
                    running.truncate(at);
                }
            }
            What::Caught { method, .. } => {
                if let Some(at) = find(running, method) {
                    running.truncate(at + 1);
                }
            }
            What::End | What::Lost(_) | What::Thread { paused: true, .. } => running.clear(),
            _ => {}
        }
        *steps += 1;
        if *steps == most {
            threads.forget(step.thread);
        }
        (*steps >= most && !running.is_empty()).then_some(*steps)
    }
}
