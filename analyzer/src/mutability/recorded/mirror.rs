//! Stage D: which arguments lead to what is written (Artzi, dissertation, section 5.4).
//!
//! It keeps a copy of the heap, as far as the trace shows it, and searches it upwards from what is
//! written. An argument counts if it leads there and no other argument of its call does, nor any
//! static field; otherwise it would not be known through which of them the object was obtained.

use super::bodies::{Bodies, Target};
use super::frames::{Frame, object};
use crate::program::Sym;
use crate::program::names::{Map, Set};
use crate::trace::unseen::{copies, written};
use hindsight_tracelog::trace::Datum;

/// The most references that are kept.
pub const MOST: usize = 8_000_000;
/// The most objects that one search examines.
const MAX_SEARCHED: usize = 2_000;
/// The number of calls for which arguments that were never seen to be changed are examined each
/// time; after that, they are examined ever more rarely.
const EACH_TIME: u32 = 256;
/// The most calls, from the innermost one on, whose arguments are compared with those of a new
/// call.
const MAX_CALLERS: usize = 64;

const STATIC: u64 = u64::MAX;

/// A copy of the heap: for each object, the objects that refer to it.
#[derive(Default)]
pub struct Mirror {
    fields: Map<(u64, Sym, i32), u64>,
    holders: Map<u64, Holders>,
    passed: Set<(u32, u16, u32, u16)>,
    /// The last search: the object, and what leads to it. It is dropped when references change.
    last: Option<(u64, Option<Set<u64>>)>,
    full: bool,
}

impl Mirror {
    /// Whether there were too many references to keep. Any result from then on would be a guess, so
    /// there is none.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn refer(&mut self, key: (u64, Sym, i32), to: Option<u64>) {
        let before = match to {
            Some(to) => self.fields.insert(key, to),
            None => self.fields.remove(&key),
        };
        if before == to {
            return;
        }
        self.last = None;
        if let Some(before) = before
            && let Some(holders) = self.holders.get_mut(&before)
        {
            holders.remove(key.0);
            if holders.is_empty() {
                self.holders.remove(&before);
            }
        }
        if let Some(to) = to {
            self.holders.entry(to).or_default().add(key.0);
        }
        if self.fields.len() > MOST {
            self.full = true;
            self.fields = Map::default();
            self.holders = Map::default();
        }
    }

    /// Begins a call, and records the parameters of active calls whose objects are passed to it.
    pub fn enter(&mut self, bodies: &mut Bodies<'_>, stack: &[Frame], frame: &Frame) {
        for &(param, object) in &frame.args {
            for caller in stack.iter().rev().take(MAX_CALLERS) {
                for &(own, given) in &caller.args {
                    if given == object && self.passed.insert((caller.body, own, frame.body, param))
                    {
                        let (class, name, descriptor) = bodies.name(frame.body);
                        let passed = &mut bodies.found(caller.body, own).passed;
                        passed.insert((class, name, descriptor, param));
                    }
                }
            }
        }
    }

    /// Records a constructor's object.
    pub fn bind(&mut self, bodies: &mut Bodies<'_>, stack: &mut [Frame], this: u64) {
        let early = stack
            .last_mut()
            .map(|frame| std::mem::take(&mut frame.early_values));
        for (field, value) in early.into_iter().flatten() {
            if !self.full {
                self.refer((this, field, 0), value);
            }
        }
        // The constructors of superclasses have the same object.
        if let Some((frame, callers)) = stack.split_last() {
            self.enter_bound(bodies, callers, frame, this);
        }
    }

    fn enter_bound(&mut self, bodies: &mut Bodies<'_>, stack: &[Frame], frame: &Frame, this: u64) {
        let bound = Frame {
            args: vec![(0, this)],
            ..Frame::new(frame.serial, frame.body, frame.method)
        };
        self.enter(bodies, stack, &bound);
    }

    /// Handles a write.
    pub fn write(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &mut [Frame],
        target: &Target,
        value: Option<Option<u64>>,
    ) {
        if self.full {
            return;
        }
        if let (Some(object), false) = (target.object, target.is_static) {
            self.changed(bodies, stack, object, target.field);
        }
        let Some(value) = value else { return };
        match (target.object, target.is_static) {
            (_, true) => self.refer((STATIC, target.field, 0), value),
            (Some(object), _) => self.refer((object, target.field, target.index), value),
            (None, _) => {
                let Some(frame) = stack.last_mut() else {
                    return;
                };
                frame.early_values.push((target.field, value));
                let body = frame.body;
                if bodies.get(body).makes && bodies.found(body, 0).reached.is_none() {
                    let stores = bodies.stores(body, target);
                    let witness = bodies.witness(body, &stores, target.field);
                    let found = bodies.found(body, 0);
                    found.reached = Some(witness.clone());
                    found.aliased.get_or_insert(witness);
                }
            }
        }
    }

    /// Handles a read, which shows that the field refers to the value.
    pub fn read(&mut self, target: &Target, value: u64) {
        if !self.full {
            let holder = target.object.unwrap_or(STATIC);
            self.refer((holder, target.field, target.index), Some(value));
        }
    }

    /// Handles the return of a method that writes unseen.
    pub fn called(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &[Frame],
        callee: u32,
        values: &[Datum],
    ) {
        let Some((class, name, descriptor)) = bodies.callee(callee) else {
            return;
        };
        if self.full || copies(class, name) {
            return;
        }
        if let Some(place) = written(class, name, descriptor)
            && let Some(object) = values.get(place).and_then(|&value| object(value))
        {
            let element = bodies.element();
            self.changed(bodies, stack, object, element);
        }
    }

    /// Finds, for an object that is changed, the arguments of active calls through which that may
    /// have happened.
    fn changed(&mut self, bodies: &mut Bodies<'_>, stack: &[Frame], object: u64, field: Sym) {
        let Some(writer) = stack.last().map(|frame| frame.body) else {
            return;
        };
        let due: Vec<usize> = (0..stack.len())
            .filter(|&at| bodies.get_mut(stack[at].body).is_due(EACH_TIME))
            .collect();
        if due.is_empty() {
            return;
        }
        let above = match self.last.take() {
            Some((last, above)) if last == object => above,
            _ => self.above(object),
        };
        if let Some(above) = &above {
            let is_static = above.contains(&STATIC);
            for at in due {
                let frame = &stack[at];
                let leads = |arg: &&(u16, u64)| above.contains(&arg.1);
                let mut leading = frame.args.iter().filter(leads);
                let (first, more) = (leading.next(), leading.next());
                let alone = more.is_none() && !is_static;
                for &(param, _) in first.into_iter().chain(more).chain(leading) {
                    let found = bodies.found(frame.body, param);
                    if found.aliased.is_some() && (found.reached.is_some() || !alone) {
                        continue;
                    }
                    let stores = bodies.writes_of(writer, field);
                    let witness = bodies.witness(writer, &stores, field);
                    let found = bodies.found(frame.body, param);
                    if alone {
                        found.reached.get_or_insert(witness.clone());
                    }
                    found.aliased.get_or_insert(witness);
                    bodies.get_mut(frame.body).renew();
                }
            }
        }
        self.last = Some((object, above));
    }

    /// An object and everything that leads to it; `None` if that is too much.
    fn above(&self, object: u64) -> Option<Set<u64>> {
        let mut above = Set::default();
        above.insert(object);
        let mut pending = vec![object];
        while let Some(next) = pending.pop() {
            for holder in self.holders.get(&next).into_iter().flat_map(Holders::iter) {
                if !above.insert(holder) {
                    continue;
                }
                if above.len() > MAX_SEARCHED {
                    return None;
                }
                pending.push(holder);
            }
        }
        Some(above)
    }
}

/// The objects that refer to one object, each with the number of its references. Most objects have
/// one holder, but a constant may have millions, which are redirected one by one.
enum Holders {
    Few(Vec<u64>),
    /// Many holders, each with the number of its references.
    Many(Map<u64, u32>),
}

/// The most references that a list holds.
const FEW: usize = 16;

impl Default for Holders {
    fn default() -> Holders {
        Holders::Few(Vec::new())
    }
}

impl Holders {
    fn add(&mut self, holder: u64) {
        if let Holders::Few(holders) = self {
            if holders.len() < FEW {
                return holders.push(holder);
            }
            let mut many = Map::default();
            for holder in std::mem::take(holders) {
                *many.entry(holder).or_default() += 1;
            }
            *self = Holders::Many(many);
        }
        if let Holders::Many(holders) = self {
            *holders.entry(holder).or_default() += 1;
        }
    }

    fn remove(&mut self, holder: u64) {
        match self {
            Holders::Few(holders) => {
                if let Some(at) = holders.iter().position(|&known| known == holder) {
                    holders.swap_remove(at);
                }
            }
            Holders::Many(holders) => {
                if let Some(count) = holders.get_mut(&holder) {
                    *count -= 1;
                    if *count == 0 {
                        holders.remove(&holder);
                        // Searching them takes time in proportion to the capacity.
                        if holders.len() < holders.capacity() / 8 {
                            holders.shrink_to(2 * holders.len());
                        }
                    }
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Holders::Few(holders) => holders.is_empty(),
            Holders::Many(holders) => holders.is_empty(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        let (few, many) = match self {
            Holders::Few(holders) => (Some(holders), None),
            Holders::Many(holders) => (None, Some(holders)),
        };
        let many = many.into_iter().flat_map(Map::keys);
        few.into_iter().flatten().chain(many).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::names::Names;
    use std::time::{Duration, Instant};

    #[test]
    fn each_reference_counts_however_many_there_are() {
        let names = Names::default();
        let [one, other] = ["one", "other"].map(|name| names.intern(name.as_bytes()));
        let mut mirror = Mirror::default();
        let constant = 1;
        // Each holder refers twice, so that there are many; then they are redirected one by one.
        for holder in 2..20 {
            for field in [one, other] {
                mirror.refer((holder, field, 0), Some(constant));
            }
        }
        assert_eq!(mirror.above(constant).map(|above| above.len()), Some(19));
        for holder in 2..20 {
            mirror.refer((holder, one, 0), None);
        }
        assert_eq!(mirror.above(constant).map(|above| above.len()), Some(19));
        for holder in 3..20 {
            mirror.refer((holder, other, 0), Some(2));
        }
        assert_eq!(mirror.above(constant).map(|above| above.len()), Some(19));
        mirror.refer((2, other, 0), None);
        assert_eq!(mirror.above(constant).map(|above| above.len()), Some(1));
        assert_eq!(mirror.above(2).map(|above| above.len()), Some(18));
    }

    #[test]
    fn a_constant_of_many_objects_is_exchanged_at_once() {
        let names = Names::default();
        let field = names.intern(b"state");
        let mut mirror = Mirror::default();
        let start = Instant::now();
        for to in [1, 2] {
            for holder in 0..500_000 {
                mirror.refer((10 + holder, field, 0), Some(to));
            }
            assert!(mirror.above(to).is_none(), "too many");
        }
        assert!(mirror.above(1).is_some_and(|above| above.len() == 1));
        // Searching all holders each time would take minutes.
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}
