//! Calls that are running, by thread.

use super::sets::{EMPTY, SetId};
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
    pub objects: Objects,
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
            objects: Objects::default(),
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

/// What all ways to an object have in common, of the objects that a call has seen last: a
/// call may see ever more of them.
#[derive(Default)]
pub struct Objects {
    new: Map<u64, SetId>,
    /// Seen before those, but for what was seen again.
    old: Map<u64, SetId>,
    /// Of objects before this one, which are in neither, nothing is known any more.
    forgotten: u64,
}

/// Objects of each age that a call keeps.
const MAX_OBJECTS: usize = 1 << 15;

impl Objects {
    /// What is known of an object that was seen.
    pub fn get(&self, object: u64) -> Option<SetId> {
        let known = self.new.get(&object).or_else(|| self.old.get(&object));
        let forgotten = || (object < self.forgotten).then_some(EMPTY);
        known.copied().or_else(forgotten)
    }

    /// Sets what is known of an object.
    pub fn insert(&mut self, object: u64, set: SetId) {
        self.new.insert(object, set);
        if self.new.len() >= MAX_OBJECTS {
            let older = std::mem::replace(&mut self.old, std::mem::take(&mut self.new));
            let last = older.into_keys().max();
            self.forgotten = self.forgotten.max(last.map_or(0, |last| last + 1));
        }
    }

    /// All sets.
    pub fn sets(&mut self) -> impl Iterator<Item = &mut SetId> {
        self.new.values_mut().chain(self.old.values_mut())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_keeps_the_objects_that_it_saw_last() {
        let mut objects = Objects::default();
        assert_eq!(objects.get(1), None);
        let many = 4 * MAX_OBJECTS as u64;
        for object in 1..=many {
            objects.insert(object, 7);
            // One that is seen again and again.
            objects.insert(1, 8);
        }
        assert!(objects.sets().count() <= 2 * MAX_OBJECTS);
        assert_eq!((objects.get(1), objects.get(many)), (Some(8), Some(7)));
        // It was seen, so that what it has in common with another way is not all of that.
        assert_eq!(objects.get(2), Some(EMPTY));
        assert_eq!(objects.get(many + 1), None, "never seen");
    }
}
