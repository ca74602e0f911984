//! The active calls, by thread.

use super::sets::{EMPTY, SetId};
use crate::mutability::facts::Var;
use crate::program::Sym;
use crate::program::names::{Map, Set};
use crate::trace::steps::{Step, What};
use hindsight_tracelog::trace::Datum;
use std::collections::HashMap;

/// The number of the object that a value is; `None` for null and values of primitive types.
pub fn object(value: Datum) -> Option<u64> {
    match value {
        Datum::Reference(object) => object.map(|object| object.serial()),
        _ => None,
    }
}

/// An active call.
pub struct Frame {
    /// The number of the call, unique in the run.
    pub serial: u64,
    /// The number of its body.
    pub body: u32,
    /// The number of its method in the trace.
    pub method: u32,
    /// The arguments that are objects, with their parameters. `this` of a constructor is added
    /// late.
    pub args: Vec<(u16, u64)>,
    /// The sets of all parameters, including those that are not objects.
    pub params: Vec<SetId>,
    /// The operations of the caller that may have made the call.
    pub by: Vec<u32>,
    /// The last values of variables: one each, or several where the value is not certain.
    pub values: Map<Var, Vec<(u64, SetId)>>,
    /// For each object, what all ways in which the call obtained it have in common.
    pub objects: Objects,
    /// Whether the object of a constructor is known.
    pub bound: bool,
    /// What a constructor stored before its object was known: the field, the object, and the set
    /// that it carries.
    pub early: Vec<(Sym, Option<u64>, SetId)>,
    /// What a constructor stored before its object was known, for stage D.
    pub early_values: Vec<(Sym, Option<u64>)>,
}

impl Frame {
    /// A call of which nothing is known yet.
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

    /// Records a constructor's object; returns whether it was unknown.
    pub fn bind(&mut self, this: u64) -> bool {
        if self.bound {
            return false;
        }
        self.bound = true;
        self.args.push((0, this));
        true
    }

    /// The object that is a parameter's argument.
    pub fn arg(&self, param: u16) -> Option<u64> {
        self.args.iter().find(|arg| arg.0 == param).map(|arg| arg.1)
    }
}

/// For the objects that a call has seen last, what all ways to them have in common. The number is
/// bounded, because a call may see ever more objects.
#[derive(Default)]
pub struct Objects {
    new: Map<u64, SetId>,
    /// The objects seen before those in `new`, except those seen again.
    old: Map<u64, SetId>,
    /// The number of an object; nothing is known any more of objects with lower numbers that are in
    /// neither map.
    forgotten: u64,
}

/// The most objects of each generation that a call keeps.
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

    /// All sets, for changing them.
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
    /// The number of the next call.
    pub fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// The active calls of a thread, the outermost first.
    pub fn stack(&mut self, thread: u64) -> &mut Vec<Frame> {
        self.stacks.entry(thread).or_default()
    }

    /// Removes and returns the innermost call of a method, together with all deeper calls, which
    /// are dropped.
    pub fn leave(&mut self, thread: u64, method: u32) -> Option<Frame> {
        let stack = self.stack(thread);
        let at = stack.iter().rposition(|frame| frame.method == method)?;
        stack.truncate(at + 1);
        stack.pop()
    }

    /// Removes the calls that an exception has left when it is caught in a method.
    pub fn catch(&mut self, thread: u64, method: u32) {
        let stack = self.stack(thread);
        if let Some(at) = stack.iter().rposition(|frame| frame.method == method) {
            stack.truncate(at + 1);
        }
    }

    /// The numbers of all active calls.
    pub fn all_alive(&self) -> Set<u64> {
        let frames = self.stacks.values().flatten();
        frames.map(|frame| frame.serial).collect()
    }

    /// Calls `see` for each active call.
    pub fn each(&mut self, see: impl FnMut(&mut Frame)) {
        self.stacks.values_mut().flatten().for_each(see);
    }

    /// Forgets the calls of a thread of which calls and returns are missing.
    pub fn forget(&mut self, thread: u64) {
        self.stacks.remove(&thread);
    }

    /// Forgets the calls of all threads, of which calls and returns are missing.
    pub fn forget_all(&mut self) {
        self.stacks.clear();
    }

    /// Removes a thread that has ended.
    pub fn end(&mut self, thread: u64) {
        self.stacks.remove(&thread);
    }
}

/// The outermost calls of all threads, for skipping the rest of those that take too many steps.
#[derive(Default)]
pub struct LongCalls {
    /// For each thread, the steps of its outermost call, and the methods that are active.
    calls: HashMap<u64, (u64, Vec<u32>)>,
}

impl LongCalls {
    /// Whether a step belongs to a call that has already taken more than `most` steps, of which
    /// nothing is known any more; if so, returns how many it has taken.
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
            // An object that is seen again and again.
            objects.insert(1, 8);
        }
        assert!(objects.sets().count() <= 2 * MAX_OBJECTS);
        assert_eq!((objects.get(1), objects.get(many)), (Some(8), Some(7)));
        // The object was seen, so what it has in common with another way is not everything that
        // this one has.
        assert_eq!(objects.get(2), Some(EMPTY));
        assert_eq!(objects.get(many + 1), None, "never seen");
    }
}
