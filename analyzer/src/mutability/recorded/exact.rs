//! Stage X: the formal semantics on a trace (Artzi, dissertation, section 5.2.2).
//!
//! Each value carries the parameters of active calls through which it was obtained. A call adds its
//! own parameters; a read gives what the field was stored with and what the object carries; a write
//! marks as mutable what the object carries; a return takes the call's own parameters away.
//!
//! - `called` handles methods that write unseen.

mod called;

use super::bodies::{Bodies, By, Target};
use super::evidence::Witness;
use super::frames::{Frame, Threads};
use super::sets::{EMPTY, SetId, Sets, call_of, member, param_of};
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::Sym;
use crate::program::names::Map;

/// The object that stands for static fields, which belong to no object.
const STATIC: u64 = u64::MAX;
/// Stands for an unknown object.
const ANY: u64 = u64::MAX - 1;
/// The most values that a variable may have where its value is not certain.
const MAX_VALUES: usize = 4;
/// The most elements of one copy that are followed.
const MAX_COPIED: i32 = 4_096;

type Key = (u64, Sym, i32);

/// What values carry.
pub struct Exact {
    pub(super) sets: Sets,
    /// For each field that was stored with a value that carries something: the value's object,
    /// which may have been overwritten unseen, and the set that it carries.
    heap: Map<Key, (u64, SetId)>,
    /// For each copy, what those of its fields carry that nothing has written since.
    copies: Map<u64, SetId>,
    /// The exceptions in flight, by thread.
    flying: Map<u64, (u64, SetId)>,
    transitive: bool,
    /// Whether the trace records reads.
    pub(super) reads: bool,
    heap_limit: usize,
    set_limit: usize,
}

impl Exact {
    /// Makes the state at the start. With `transitive`, what a call has added to a value stays
    /// after the call has returned.
    pub fn new(transitive: bool, reads: bool) -> Exact {
        Exact {
            sets: Sets::default(),
            heap: Map::default(),
            copies: Map::default(),
            flying: Map::default(),
            transitive,
            reads,
            heap_limit: 1 << 18,
            set_limit: 1 << 20,
        }
    }

    /// The part of a set that belongs to calls that are active on a thread.
    fn living(&mut self, set: SetId, stack: &[Frame]) -> SetId {
        if self.transitive || set == EMPTY {
            return set;
        }
        let runs = |call: u64| {
            stack
                .binary_search_by_key(&call, |frame| frame.serial)
                .is_ok()
        };
        self.sets.living(set, runs)
    }

    /// Whether a set has the same parameter of an outer call of the same method. That call ends
    /// later, and the results are about methods, so the inner call adds nothing: sets stay small
    /// however deep a recursion is.
    fn carries_outer(&self, set: SetId, stack: &[Frame], body: u32, param: u16) -> bool {
        self.sets.members(set).iter().any(|&member| {
            let found = || stack.binary_search_by_key(&call_of(member), |frame| frame.serial);
            param_of(member) == param && found().is_ok_and(|at| stack[at].body == body)
        })
    }

    fn note(&mut self, frame: &mut Frame, object: u64, set: SetId) {
        let known = frame.objects.get(object);
        let both = known.map_or(set, |known| self.sets.intersection(known, set));
        frame.objects.insert(object, both);
    }

    /// Assigns a value to the operations that may have made it.
    fn assign(
        &mut self,
        bodies: &Bodies<'_>,
        frame: &mut Frame,
        ops: &[u32],
        object: u64,
        set: SetId,
    ) {
        let facts = bodies.facts(frame.body);
        for &op in ops {
            let dst = match facts.map(|facts| &facts.ops[op as usize].op) {
                Some(
                    Op::Load { dst, .. }
                    | Op::LoadStatic { dst, .. }
                    | Op::Call { dst, .. }
                    | Op::Catch { dst },
                ) if *dst != NONE => *dst,
                _ => continue,
            };
            let values = frame.values.entry(dst).or_default();
            if ops.len() == 1 {
                values.clear();
            }
            if values.len() >= MAX_VALUES {
                values.clear();
                values.push((object, EMPTY));
            } else if !values.contains(&(object, set)) {
                values.push((object, set));
            }
        }
        self.note(frame, object, set);
    }

    /// Begins a call.
    pub fn enter(&mut self, bodies: &mut Bodies<'_>, stack: &mut [Frame], frame: &mut Frame) {
        let most = frame.args.iter().map(|arg| arg.0 + 1).max().unwrap_or(0);
        let count = bodies.get(frame.body).params.max(most);
        let mut sets = vec![EMPTY; usize::from(count)];
        if let Some(caller) = stack.last() {
            let calls = bodies.calls(caller.body, frame.body);
            let mut by = Vec::new();
            let callee = bodies.facts(frame.body);
            for &(op, how) in calls.iter() {
                let fits = frame.args.iter().all(|&(param, object)| {
                    // Strings and boxes, which a generic type may hide, are not values here.
                    let followed = callee.and_then(|facts| facts.followed.get(usize::from(param)));
                    if followed == Some(&false) {
                        return true;
                    }
                    match argument(bodies, caller.body, op, how, param) {
                        Given::By(var) => self.may_be(bodies, caller, var, object),
                        Given::Captured(_) | Given::Made => true,
                    }
                });
                if fits {
                    by.push((op, how));
                }
            }
            for (param, set) in sets.iter_mut().enumerate() {
                let object = frame.arg(param as u16);
                let ways: Vec<SetId> = by
                    .iter()
                    .map(|&(op, how)| {
                        match argument(bodies, caller.body, op, how, param as u16) {
                            Given::By(var) => self.carries(bodies, caller, var, object),
                            // The value was read from the lambda.
                            Given::Captured(var) => self.carries(bodies, caller, var, None),
                            Given::Made => EMPTY,
                        }
                    })
                    .collect();
                *set = self.common(ways.into_iter());
                if bodies.facts(caller.body).is_none()
                    && let Some(object) = object
                {
                    *set = self.carries_at_least(caller, object);
                }
            }
            frame.by = by.into_iter().map(|by| by.0).collect();
            let (body, by) = (caller.body, frame.by.clone());
            bodies.saw(body, &by);
        }
        let call = if self.transitive {
            u64::from(frame.body)
        } else {
            frame.serial
        };
        for (param, set) in sets.iter_mut().enumerate() {
            if self.transitive || !self.carries_outer(*set, stack, frame.body, param as u16) {
                *set = self.sets.with(*set, member(call, param as u16));
            }
        }
        frame.params = sets;
        for (param, object) in frame.args.clone() {
            let set = frame.params[usize::from(param)];
            self.note(frame, object, set);
        }
    }

    /// Records a constructor's object.
    pub fn bind(&mut self, frame: &mut Frame, this: u64) {
        for (field, value, set) in std::mem::take(&mut frame.early) {
            self.store((this, field, 0), value, set);
        }
        let set = frame.params.first().copied().unwrap_or(EMPTY);
        self.note(frame, this, set);
    }

    /// Ends a call that returns; it is no longer on the stack.
    pub fn exit(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &mut [Frame],
        frame: &Frame,
        value: Option<u64>,
    ) {
        let Some(value) = value else { return };
        let set = match bodies.facts(frame.body) {
            Some(facts) => self.handed_out(bodies, facts, frame, value, false),
            None => self.carries_at_least(frame, value),
        };
        let set = self.living(set, stack);
        if let Some(caller) = stack.last_mut() {
            self.assign(bodies, caller, &frame.by, value, set);
        }
    }

    fn handed_out(
        &mut self,
        bodies: &Bodies<'_>,
        facts: &Facts,
        frame: &Frame,
        value: u64,
        thrown: bool,
    ) -> SetId {
        let mut sets = Vec::new();
        for &op in bodies.ends(frame.body, thrown).iter() {
            if let Op::Return { value: var } | Op::Throw { value: var } = facts.ops[op as usize].op
                && self.may_be(bodies, frame, var, value)
            {
                sets.push(self.carries(bodies, frame, var, Some(value)));
            }
        }
        self.common(sets.into_iter())
    }

    /// Ends a call by an exception; it is no longer on the stack.
    pub fn unwind(
        &mut self,
        bodies: &mut Bodies<'_>,
        thread: u64,
        frame: &Frame,
        exception: Option<u64>,
    ) {
        let Some(exception) = exception else {
            self.flying.remove(&thread);
            return;
        };
        let set = match (self.flying.get(&thread), bodies.facts(frame.body)) {
            (Some(&(known, set)), _) if known == exception => set,
            (_, Some(facts)) => self.handed_out(bodies, facts, frame, exception, true),
            (_, None) => self.carries_at_least(frame, exception),
        };
        self.flying.insert(thread, (exception, set));
    }

    /// Handles an exception that is caught by the innermost call.
    pub fn caught(
        &mut self,
        bodies: &mut Bodies<'_>,
        thread: u64,
        stack: &mut [Frame],
        exception: Option<u64>,
    ) {
        let flying = self.flying.remove(&thread);
        let Some(exception) = exception else { return };
        let Some(frame) = stack.last() else { return };
        let facts = bodies.facts(frame.body);
        let set = match (flying, facts) {
            (Some((known, set)), _) if known == exception => set,
            (_, Some(facts)) => self.handed_out(bodies, facts, frame, exception, true),
            _ => EMPTY,
        };
        let set = self.living(set, stack);
        let catches = bodies.catches(frame.body);
        if let Some(frame) = stack.last_mut() {
            self.assign(bodies, frame, &catches, exception, set);
        }
    }

    fn store(&mut self, key: Key, value: Option<u64>, set: SetId) {
        match value {
            Some(value) if set != EMPTY || self.copies.contains_key(&key.0) => {
                self.heap.insert(key, (value, set));
            }
            _ => {
                self.heap.remove(&key);
            }
        }
    }

    fn stored(&self, key: &Key, value: u64) -> SetId {
        match self.heap.get(key) {
            Some(&(known, set)) if known == value || known == ANY => set,
            Some(_) => EMPTY,
            None => self.copies.get(&key.0).copied().unwrap_or(EMPTY),
        }
    }

    /// Handles a write. `value` is the new value: `None` if it was not recorded, and `Some(None)`
    /// if it is not an object.
    pub fn write(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &mut [Frame],
        target: &Target,
        value: Option<Option<u64>>,
    ) {
        let Some(frame) = stack.last() else { return };
        let value = value.flatten();
        let facts = bodies.facts(frame.body);
        let mut ops = Vec::new();
        for &op in bodies.stores(frame.body, target).iter() {
            let (base, stored) = match facts.map(|facts| &facts.ops[op as usize].op) {
                Some(Op::Store { base, value, .. }) => (Some(*base), *value),
                Some(Op::StoreStatic { value, .. }) => (None, *value),
                _ => continue,
            };
            let fits = match (base, target.object) {
                (Some(base), Some(object)) => self.may_be(bodies, frame, base, object),
                _ => true,
            };
            let fits_value = stored == NONE
                || value.is_none_or(|value| self.may_be(bodies, frame, stored, value));
            if fits && fits_value {
                ops.push((op, base, stored));
            }
        }
        let places: Vec<u32> = ops.iter().map(|op| op.0).collect();
        let mut of_base = Vec::new();
        let mut of_value = Vec::new();
        for &(_, base, stored) in &ops {
            if let Some(base) = base {
                of_base.push(self.carries(bodies, frame, base, target.object));
            }
            if let (Some(value), true) = (value, stored != NONE) {
                of_value.push(self.carries(bodies, frame, stored, Some(value)));
            }
        }
        let (mut base, mut stored) = (
            self.common(of_base.into_iter()),
            self.common(of_value.into_iter()),
        );
        if facts.is_none() {
            let least = |object: Option<u64>| {
                object.map_or(EMPTY, |object| self.carries_at_least(frame, object))
            };
            (base, stored) = (least(target.object), least(value));
        }
        let body = frame.body;
        bodies.saw(body, &places);
        if !target.is_static {
            self.mark(bodies, stack, base, &places, target.field);
        }
        match (target.object, target.is_static) {
            (_, true) => self.store((STATIC, target.field, 0), value, stored),
            (Some(object), _) => {
                self.store((object, target.field, target.index), value, stored);
            }
            (None, _) => {
                if let Some(frame) = stack.last_mut() {
                    frame.early.push((target.field, value, stored));
                }
            }
        }
    }

    /// Handles a read.
    pub fn read(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &mut [Frame],
        target: &Target,
        value: u64,
    ) {
        let Some(frame) = stack.last() else { return };
        let facts = bodies.facts(frame.body);
        let (mut ops, mut sets) = (Vec::new(), Vec::new());
        for &op in bodies.loads(frame.body, target).iter() {
            match (facts.map(|facts| &facts.ops[op as usize].op), target.object) {
                (Some(Op::Load { base, .. }), Some(object))
                    if self.may_be(bodies, frame, *base, object) =>
                {
                    ops.push(op);
                    sets.push(self.carries(bodies, frame, *base, Some(object)));
                }
                (Some(Op::LoadStatic { .. }), _) => ops.push(op),
                _ => {}
            }
        }
        let mut set = self.common(sets.into_iter());
        if let (None, Some(object)) = (facts, target.object) {
            set = self.carries_at_least(frame, object);
        }
        let holder = target.object.unwrap_or(STATIC);
        let stored = self.stored(&(holder, target.field, target.index), value);
        set = self.sets.union(set, stored);
        set = self.living(set, stack);
        let body = frame.body;
        bodies.saw(body, &ops);
        if let Some(frame) = stack.last_mut() {
            self.assign(bodies, frame, &ops, value, set);
        }
    }

    fn mark(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &[Frame],
        set: SetId,
        places: &[u32],
        field: Sym,
    ) {
        let set = self.living(set, stack);
        let Some(writer) = stack.last().map(|frame| frame.body) else {
            return;
        };
        for &member in self.sets.members(set).iter() {
            let (call, param) = (call_of(member), param_of(member));
            let body = match self.transitive {
                true => Some(call as u32),
                false => stack
                    .binary_search_by_key(&call, |frame| frame.serial)
                    .ok()
                    .map(|at| stack[at].body),
            };
            let Some(body) = body else { continue };
            let found = bodies.found(body, param);
            let known = match self.transitive {
                true => found.later.is_some(),
                false => found.exact.is_some(),
            };
            if !known {
                let witness: Witness = bodies.witness(writer, places, field);
                let found = bodies.found(body, param);
                match self.transitive {
                    true => found.later = Some(witness),
                    false => found.exact = Some(witness),
                }
            }
        }
    }

    /// From time to time, forgets what only calls carry that have returned.
    pub fn tidy(&mut self, threads: &mut Threads) {
        if self.heap.len() + self.copies.len() < self.heap_limit
            && self.sets.count() < self.set_limit
        {
            return;
        }
        let alive = threads.all_alive();
        let transitive = self.transitive;
        let lives = |call: u64| transitive || alive.contains(&call);
        let sets = &mut self.sets;
        self.heap.retain(|_, held| {
            held.1 = sets.living(held.1, lives);
            held.1 != EMPTY
        });
        self.copies.retain(|_, set| {
            *set = sets.living(*set, lives);
            *set != EMPTY
        });
        let mut kept = Sets::default();
        let mut means: Map<SetId, SetId> = Map::default();
        let mut keep = |set: &mut SetId| {
            *set = *means
                .entry(*set)
                .or_insert_with(|| kept.add(&sets.members(*set)));
        };
        self.heap.values_mut().for_each(|held| keep(&mut held.1));
        self.copies.values_mut().for_each(&mut keep);
        self.flying
            .values_mut()
            .for_each(|flying| keep(&mut flying.1));
        threads.each(|frame| {
            frame.params.iter_mut().for_each(&mut keep);
            frame.objects.sets().for_each(&mut keep);
            frame.early.iter_mut().for_each(|early| keep(&mut early.2));
            let values = frame.values.values_mut().flatten();
            values.for_each(|value| keep(&mut value.1));
        });
        self.sets = kept;
        self.heap_limit = (2 * (self.heap.len() + self.copies.len())).max(1 << 18);
        self.set_limit = (2 * self.sets.count()).max(1 << 20);
    }
}

/// Where a callee's parameter comes from.
enum Given {
    /// It is a value of the caller.
    By(Var),
    /// It was captured by the lambda that is this value.
    Captured(Var),
    /// It is the object that the lambda makes.
    Made,
}

fn argument(bodies: &Bodies<'_>, caller: u32, op: u32, by: By, param: u16) -> Given {
    let facts = bodies.facts(caller);
    let args = match facts.map(|facts| &facts.ops[op as usize].op) {
        Some(Op::Call { args, .. }) => args,
        _ => return Given::Made,
    };
    let at = |place: u16| args.get(usize::from(place)).copied().unwrap_or(NONE);
    match by {
        By::Call => Given::By(at(param)),
        By::Lambda(_, true) if param == 0 => Given::Made,
        By::Lambda(captured, makes) => {
            let param = param - u16::from(makes);
            match (param < captured, bodies.definition(caller, at(0))) {
                (false, _) => Given::By(at(1 + param - captured)),
                (true, Some((_, Op::Lambda(lambda)))) => {
                    let own = lambda.captured.get(usize::from(param));
                    Given::By(own.copied().unwrap_or(NONE))
                }
                (true, _) => Given::Captured(at(0)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recursion_adds_nothing_to_what_its_outermost_call_carries() {
        let mut exact = Exact::new(false, true);
        let set = exact.sets.with(EMPTY, member(5, 1));
        let stack = [(5, 7), (6, 8), (9, 7)].map(|(serial, body)| Frame::new(serial, body, 0));
        assert!(exact.carries_outer(set, &stack, 7, 1));
        assert!(!exact.carries_outer(set, &stack, 7, 0), "another parameter");
        assert!(!exact.carries_outer(set, &stack, 8, 1), "another method");
        assert!(
            !exact.carries_outer(set, &stack[1..], 7, 1),
            "it has returned"
        );
        assert!(!exact.carries_outer(EMPTY, &stack, 7, 1));
    }
}
